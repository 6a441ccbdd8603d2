package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/robotmoney/mcp/infra/local/client"
)

const (
	// pace is how long a client waits between two things it does: all of them
	// together stay below the 600 requests a minute that a company may make.
	pace = 900 * time.Millisecond
	// again is how long a client waits before it repeats, and patience how many
	// times it repeats: long enough for every fault to have ended.
	again    = 600 * time.Millisecond
	patience = 40
)

// args are a call's arguments.
type args = map[string]any

// payees are trusted vendors of acme.
var payees = []string{"cp_aws", "cp_gcp", "cp_github", "cp_datadog", "cp_hubspot", "cp_zoom"}

// traffic is what clients do during one fault.
type traffic struct {
	stage  *stage
	url    string // of the endpoint
	book   *book
	fault  string
	seed   uint64
	agents [2]string
	tokens map[string]string // by caller
	until  <-chan struct{}   // closed when nobody begins anything more

	mu      sync.Mutex
	count   int
	waiting []string // intents that wait for people, not given to anybody yet
}

// run has every client work until the time is over and each thing it began is
// answered.
func (t *traffic) run(ctx context.Context) {
	var clients sync.WaitGroup
	for i, client := range []func(context.Context, *rand.Rand){
		t.proposer(t.agents[0]), t.proposer(t.agents[0]), t.proposer(t.agents[1]), // two of one agent meet at its cap
		t.decider("mbr_ada"), t.decider("mbr_ben"), t.contributor(t.agents[1]), t.reader,
	} {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(t.seed, uint64(i)))
			for !t.over(ctx, pace*time.Duration(50+r.IntN(100))/100) {
				client(ctx, r)
			}
		})
	}
	clients.Wait()
}

// over waits, and says whether the time to begin something is over.
func (t *traffic) over(ctx context.Context, wait time.Duration) bool {
	select {
	case <-t.until:
		return true
	case <-ctx.Done():
		return true
	case <-time.After(wait):
		return false
	}
}

// name is a new idempotency key.
func (t *traffic) name(kind Kind) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	return fmt.Sprintf("chaos-%s-%s-%03d", t.fault, kind, t.count)
}

// proposer is an agent's program: most of its payments are small enough to need
// nobody until the agent's cap is full, the others need people, and some of those
// it takes back.
func (t *traffic) proposer(agent string) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, r *rand.Rand) {
		amount := cents(1_000_00 + r.IntN(3_900_00))
		if r.IntN(4) == 0 {
			amount = cents(5_100_00 + r.IntN(4_000_00))
		}
		d := Deed{Kind: Propose, Caller: agent, Key: t.name(Propose), Amount: amount}
		d = t.do(ctx, d, "payment_intent.propose", args{
			"action_type": "ach_outbound", "source_account_id": account, "destination_counterparty_id": payees[r.IntN(len(payees))],
			"amount": amount.String(), "currency": "USD", "memo": d.Key, "idempotency_key": d.Key,
		})
		switch {
		case d.Status != "pending_approval":
		case r.IntN(4) == 0:
			t.do(ctx, Deed{Kind: Cancel, Caller: agent, Key: t.name(Cancel), Target: d.ID}, "payment_intent.cancel", args{"intent_id": d.ID})
		default:
			t.mu.Lock()
			t.waiting = append(t.waiting, d.ID)
			t.mu.Unlock()
		}
	}
}

// decider is a member who decides about what waits.
func (t *traffic) decider(member string) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, r *rand.Rand) {
		t.mu.Lock()
		var intent string
		if len(t.waiting) > 0 {
			intent, t.waiting = t.waiting[0], t.waiting[1:]
		}
		t.mu.Unlock()
		if intent == "" {
			return
		}
		d, decision := Deed{Kind: Approve, Caller: member, Key: t.name(Approve), Target: intent}, "approve"
		if r.IntN(5) == 0 {
			d.Kind, decision = Reject, "reject"
		}
		t.do(ctx, d, "proposals.decide", args{"proposal_id": intent, "decision": decision})
	}
}

// contributor is an agent that brings bank files.
func (t *traffic) contributor(agent string) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, r *rand.Rand) {
		d := Deed{Kind: Contribute, Caller: agent, Key: t.name(Contribute), Rows: 1 + r.IntN(4)}
		text := fmt.Sprintf(`{"type":"account","account":"%s","currency":"EUR","name":"Chaos"}`+"\n", "CHAOS-"+t.fault)
		for row := range d.Rows {
			text += fmt.Sprintf(`{"type":"transaction","amount":"-%d.%02d","date":"2025-04-%02d","id":"%s-%d","counterparty":"Chaos GmbH","description":"%s row %d"}`+"\n",
				1+r.IntN(90), r.IntN(100), 1+r.IntN(28), d.Key, row, d.Key, row)
		}
		sum := sha256.Sum256([]byte(text))
		d.SHA256 = hex.EncodeToString(sum[:])
		t.do(ctx, d, "raw.contribute", args{"payload": text, "mime_type": "application/x-ndjson", "source_ref": args{"file": d.Key + ".jsonl"}, "idempotency_key": d.Key})
	}
}

// reader reads as agents of both companies and a member do.
func (t *traffic) reader(ctx context.Context, r *rand.Rand) {
	readers := []struct{ caller, tool string }{
		{"agt_readonly", "ledger.accounts.list"}, {"agt_globex", "ledger.transactions.list"}, {"agt_readonly", "ledger.counterparties.list"},
		{"mbr_ada", "proposals.list"}, {t.agents[0], "payment_intent.list"},
	}
	one := readers[r.IntN(len(readers))]
	t.do(ctx, Deed{Kind: Read, Caller: one.caller, Key: t.name(Read)}, one.tool, args{"limit": 2})
}

// do does a deed and repeats it, as it was, until the answer is one to rely on.
func (t *traffic) do(ctx context.Context, d Deed, tool string, arguments args) Deed {
	d.Fault, d.Tenant = t.fault, "acme"
	if d.Caller == "agt_globex" {
		d.Tenant = "globex"
	}
	c := client.Client{URL: t.url, Token: t.tokens[d.Caller]}
	for range patience {
		reply, answer, err := c.Use(ctx, tool, arguments)
		d.Tries = append(d.Tries, judge(reply, answer, err))
		if d.acknowledged() {
			var said struct {
				ID, Status  string
				RawID       string `json:"raw_id"`
				Replayed    bool
				Deduplicate bool `json:"deduplicated"`
			}
			_ = json.Unmarshal(answer.Structured, &said) // a list has none of it
			d.ID, d.Status, d.Repeated = said.ID+said.RawID, said.Status, said.Replayed || said.Deduplicate
		}
		if o := d.last().Outcome; o == Acknowledged || o == Refused || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
	t.book.add(d)
	return d
}

// judge says what a client knows after a try.
func judge(reply client.Reply, answer client.Tool, err error) Try {
	try := Try{RequestID: reply.Header.Get("X-Request-Id")}
	switch {
	case err != nil || reply.Error == nil && reply.Result == nil:
		// No reply, or one that is not the endpoint's: the gateway's own when a
		// function has crashed.
		try.Outcome = Unknown
	case reply.Error != nil:
		try.Outcome, try.Code = Refused, reply.Error.Data.Code
		if repeatable[try.Code] {
			try.Outcome = Open
		}
	case answer.IsError:
		try.Outcome, try.Code = Refused, ofTheTool
	default:
		try.Outcome = Acknowledged
	}
	return try
}

// ofTheTool stands for the code of a tool's refusal, which the reply does not
// say.
const ofTheTool = "tool"

// repeatable are the refusals after which a client tries again: something could
// not be reached, or there was too much.
var repeatable = map[string]bool{"dependency_unavailable": true, "onchain_unavailable": true, "internal": true, "internal_error": true, "rate_limited": true}
