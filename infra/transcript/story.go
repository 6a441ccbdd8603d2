package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// args are a call's arguments.
type args map[string]any

// who are the people and agents of the story, by the names of their tokens.
var who = map[string]string{
	"agent": "Finance agent", "agent_payables": "Payables agent", "member_approver": "Ben, approver up to 10,000 USD",
	"member_admin": "Ada, admin up to 1,000,000 USD", "member_cfo": "Dee, admin up to 1,000,000 USD", "member_viewer": "Vic, viewer",
}

// teller calls tools and prints what was asked and answered.
type teller struct {
	stack stackfile.Stack
	out   io.Writer
}

// bill is October's cloud bill, whose obligation is in the books.
func bill(amount string) args {
	return args{"action_type": "ach_outbound", "source_account_id": "acct_8231", "destination_counterparty_id": "cp_aws", "amount": amount, "currency": "USD"}
}

func with(a args, name string, value any) args {
	a[name] = value
	return a
}

// tell plays the story through.
func tell(ctx context.Context, s stackfile.Stack, out io.Writer) error {
	t := &teller{stack: s, out: out}
	t.chapter("An agent proposes to pay the cloud bill. The policy says who must agree.")
	id, err := t.call(ctx, "agent", "payment_intent.propose", with(with(bill("61404.12"), "obligation_id", "obl_5521"), "idempotency_key", "october"))
	if err != nil {
		return err
	}
	t.chapter("The reply is lost and the agent asks again: there is still one payment.")
	if _, err := t.call(ctx, "agent", "payment_intent.propose", with(with(bill("61404.12"), "obligation_id", "obl_5521"), "idempotency_key", "october")); err != nil {
		return err
	}
	t.chapter("It tries to approve its own proposal. No agent can decide, whatever its token says.")
	approve := args{"proposal_id": id, "decision": "approve"}
	for _, member := range []string{"agent", "member_viewer", "member_approver", "member_admin", "member_admin", "member_cfo"} {
		switch member {
		case "member_viewer":
			t.chapter("People look at it. Who may not decide is told why; two admins are needed above 50,000 USD, and one of them twice is one.")
		}
		if _, err := t.call(ctx, member, "proposals.decide", approve); err != nil {
			return err
		}
	}
	t.chapter("Small payments to trusted vendors need nobody, until an agent has promised 25,000 USD in 24 hours.")
	for i := range 6 {
		if _, err := t.call(ctx, "agent_payables", "payment_intent.propose", bill(fmt.Sprintf("48%02d.00", i))); err != nil {
			return err
		}
	}
	t.chapter("Nobody unverified is paid, and the answer says which rule stands against it.")
	if _, err := t.call(ctx, "agent", "payment_intent.propose", with(bill("120.00"), "destination_counterparty_id", "cp_quantum_ledger")); err != nil {
		return err
	}
	t.chapter("What is no payment goes to people too.")
	flagged, err := t.call(ctx, "agent", "agent.action.propose", args{
		"action":     args{"kind": "flag_transaction", "transaction_id": "tx_4127", "narrative": "The cloud bill is far above last year's."},
		"evidence":   []args{{"kind": "transaction", "ref": "tx_4127"}},
		"confidence": 0.8,
	})
	if err != nil {
		return err
	}
	if _, err := t.call(ctx, "member_approver", "proposals.decide", args{"proposal_id": flagged, "decision": "acknowledge", "note": "Known: we moved a region."}); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nEvery call above is in the audit trail, with who asked, what was decided and why.")
	return nil
}

func (t *teller) chapter(text string) { fmt.Fprintf(t.out, "\n## %s\n", text) }

// call calls a tool, prints the exchange and returns the id in the answer.
func (t *teller) call(ctx context.Context, token, tool string, arguments args) (string, error) {
	reply, answer, err := client.Client{URL: t.stack.MCPURL, Token: t.stack.Tokens[token]}.Use(ctx, tool, arguments)
	if err != nil {
		return "", err
	}
	asked, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(t.out, "\n%s: %s %s\n", who[token], tool, asked)
	switch {
	case reply.Error != nil:
		fmt.Fprintf(t.out, "  refused, HTTP %d %s: %s\n", reply.Status, reply.Error.Data.Code, reply.Error.Message)
	case len(answer.Content) > 0:
		mark := "  "
		if answer.IsError {
			mark = "  refused: "
		}
		fmt.Fprintln(t.out, mark+strings.ReplaceAll(answer.Text(), "\n", "\n  "))
	}
	var made struct{ ID string }
	if answer.Structured != nil {
		err = json.Unmarshal(answer.Structured, &made)
	}
	return made.ID, err
}
