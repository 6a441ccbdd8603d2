// Package traffic is what a crowd's agents ask for all day: the kinds of requests,
// and how often each comes.
package traffic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/crowd"
)

type args = map[string]any

// Kind is one kind of request: how often it comes among a hundred, and what is
// sent. Send says with which code it was refused, nothing for what was answered as
// it should be.
type Kind struct {
	Name   string
	Weight int
	Send   func(ctx context.Context, c Caller) (code string)
}

// Mix is what agents do: they look far more than they propose, and people decide
// about the larger payments.
var Mix = []Kind{
	{"resources/read of an account", 20, read("brain://ledger/accounts/acct_gx01")},
	{"resources/read of a wiki page", 10, read("brain://wiki/pages/counterparties/cp_gx_azure")},
	{"tools/list", 10, func(ctx context.Context, c Caller) string { return c.call(ctx, "tools/list", args{}) }},
	{"ledger.transactions.list", 15, tool("ledger.transactions.list", args{"account_id": "acct_gx01", "limit": 20})},
	{"ledger.counterparties.list by a part of a name", 5, tool("ledger.counterparties.list", args{"q": "azur"})},
	{"ledger.obligations.list", 5, tool("ledger.obligations.list", args{"direction": "payable", "limit": 20})},
	{"wiki.question", 10, question},
	{"payment_intent.list", 5, tool("payment_intent.list", args{"limit": 20})},
	{"payment_intent.propose, paid without a person", 12, func(ctx context.Context, c Caller) string { _, code := c.propose(ctx, "1.00"); return code }},
	{"payment_intent.propose, and a member decides", 4, decided},
	{"raw.contribute of a bank file", 4, contribute},
}

// Caller is an agent of a company, and its member for what people do. Make it with
// CallerOf.
type Caller struct {
	agent, member client.Client
	number        int64 // differs from call to call
}

var calls atomic.Int64

// CallerOf is the caller that an agent of a company is, for one request.
func CallerOf(url string, c crowd.Company, agent int) Caller {
	return Caller{client.Client{URL: url, Token: c.Agents[agent].Token}, client.Client{URL: url, Token: c.Member.Token}, calls.Add(1)}
}

// call makes a request and says with which code it was refused.
func (c Caller) call(ctx context.Context, method string, params any) string {
	reply, err := c.agent.Call(ctx, method, params)
	return Code(reply, client.Tool{}, err)
}

// Code is the code of a refusal, or what there is in its place; empty for none.
func Code(reply client.Reply, out client.Tool, err error) string {
	switch {
	case reply.Error != nil && reply.Error.Data.Code != "":
		return reply.Error.Data.Code
	case reply.Error != nil:
		return fmt.Sprintf("error %d", reply.Error.Code)
	case err != nil:
		return "no reply"
	case reply.Status != http.StatusOK:
		return fmt.Sprintf("status %d", reply.Status)
	case out.IsError:
		return "refused by the tool"
	}
	return ""
}

func read(uri string) func(context.Context, Caller) string {
	return func(ctx context.Context, c Caller) string { return c.call(ctx, "resources/read", args{"uri": uri}) }
}

func tool(name string, arguments args) func(context.Context, Caller) string {
	return func(ctx context.Context, c Caller) string {
		reply, out, err := c.agent.Use(ctx, name, arguments)
		return Code(reply, out, err)
	}
}

// questions are of three families, none of them in the cache for long.
var questions = []string{"What did we spend in September 2025?", "What's our top expense category in Q3 2025?", "Which bills are due within 30 days?"}

func question(ctx context.Context, c Caller) string {
	text := questions[c.number%int64(len(questions))]
	return tool("wiki.question", args{"question": text, "as_of": "2025-09-30T18:00:00Z"})(ctx, c)
}

// propose proposes a payment and returns its id.
func (c Caller) propose(ctx context.Context, amount string) (id, code string) {
	reply, out, err := c.agent.Use(ctx, "payment_intent.propose", args{
		"action_type": "ach_outbound", "source_account_id": "acct_gx01", "destination_counterparty_id": "cp_gx_azure",
		"amount": amount, "currency": "GBP", "idempotency_key": rand.Text(),
	})
	var intent struct{ ID string }
	_ = json.Unmarshal(out.Structured, &intent)
	return intent.ID, Code(reply, out, err)
}

// decided proposes what the policy wants a person for, and has the person reject
// it: the account would be empty before the load is over.
func decided(ctx context.Context, c Caller) string {
	id, code := c.propose(ctx, "300.00")
	if code != "" {
		return code
	}
	reply, out, err := c.member.Use(ctx, "proposals.decide", args{"proposal_id": id, "decision": "reject"})
	return Code(reply, out, err)
}

// contribute brings a file of ten lines that nobody has brought before.
func contribute(ctx context.Context, c Caller) string {
	text := "Date,Amount,Currency,Name,Description,Reference\n"
	for line := range 10 {
		text += fmt.Sprintf("2025-10-%02d,-%d.%02d,GBP,Microsoft Azure,Invoice %d,L%d-%d\n", line+1, 10+line, c.number%100, c.number, c.number, line)
	}
	return tool("raw.contribute", args{"payload": text, "mime_type": "text/csv"})(ctx, c)
}
