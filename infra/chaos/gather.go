package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/verify/verify"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/rollups"
)

// account is the one all payments leave.
const account = "acct_8231"

// gather reads the books of a company. agents are those that the traffic hired.
func (s *stage) gather(ctx context.Context, name string, agents []string) (Books, error) {
	b := Books{Tenant: name, Promised: map[string]Promised{}, Proofs: map[string]string{}}
	t, err := identity.OperatorTenant(name)
	if err != nil {
		return b, err
	}
	for _, part := range []struct {
		what string
		read func(context.Context, identity.Tenant, *Books) error
	}{
		{"intents", s.intents}, {"executions", s.executions}, {"ledger", s.rows}, {"artifacts", s.artifacts}, {"journal", s.journal},
		{"accounts", s.money}, {"proofs", s.proofs}, {"outbox", s.outbox}, {"files", s.files},
		{"promises", func(ctx context.Context, t identity.Tenant, b *Books) error { return s.promises(ctx, t, b, agents) }},
	} {
		if err := part.read(ctx, t, &b); err != nil {
			return b, fmt.Errorf("%s of %s: %w", part.what, name, err)
		}
	}
	return b, nil
}

// each visits every item of a partition.
func (s *stage) each(ctx context.Context, q record.Query, visit func(record.Item) error) error {
	for {
		page, err := s.store.Query(ctx, q)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := visit(item); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// listed visits every row of a kind.
func (s *stage) listed(ctx context.Context, t identity.Tenant, kind id.Prefix, visit func(record.Item) error) error {
	return s.each(ctx, record.Query{Index: 1, PK: key.LedgerList(t, kind, "", "").PK}, visit)
}

// ours begins what the traffic names.
const ours = "chaos-"

func (s *stage) intents(ctx context.Context, t identity.Tenant, b *Books) error {
	return s.listed(ctx, t, id.PaymentIntent, func(item record.Item) error {
		c, err := proposals.Decode(item)
		if err != nil || c.Memo == nil || !strings.HasPrefix(*c.Memo, ours) {
			return err
		}
		i := Intent{ID: c.ID, Agent: c.AgentID, Memo: *c.Memo, Status: string(c.Status), RefusedBy: c.Standing.Refused}
		if i.Amount, err = parseCents(c.Amount); err != nil {
			return err
		}
		if len(c.Standing.Ruling.Matched) > 0 {
			i.Rule = c.Standing.Ruling.Matched[0]
		}
		for _, a := range c.Approvals {
			i.Approvals = append(i.Approvals, a.MemberID)
		}
		b.Intents = append(b.Intents, i)
		return nil
	})
}

func (s *stage) executions(ctx context.Context, t identity.Tenant, b *Books) error {
	for _, i := range b.Intents {
		item, found, err := s.store.Get(ctx, key.Execution(t, execution.NameOf(i.ID)))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		var r execution.Record
		if err := json.Unmarshal(item.Body, &r); err != nil {
			return err
		}
		b.Executions = append(b.Executions, Execution{r.ID, r.IntentID, string(r.State)})
	}
	return nil
}

// Which intent a row of the ledger pays, and which contribution it is of, stands
// in its description.
var (
	payment     = regexp.MustCompile(`^ach_outbound of (pi_\w+),`)
	contributed = regexp.MustCompile(`(` + ours + `[a-z]+(?:-[a-z]+)*-contribute-\d+) row \d+`)
)

func (s *stage) rows(ctx context.Context, t identity.Tenant, b *Books) error {
	return s.listed(ctx, t, id.Transaction, func(item record.Item) error {
		var x ledger.Transaction
		if err := json.Unmarshal(item.Body, &x); err != nil {
			return err
		}
		text := ""
		for _, part := range []*string{x.Description, x.DescriptionRaw} {
			if part != nil && text == "" {
				text = *part
			}
		}
		if m := contributed.FindStringSubmatch(text); m != nil {
			b.Rows = append(b.Rows, Row{x.ID, m[1]})
		}
		if m := payment.FindStringSubmatch(text); m != nil && strings.Contains(text, ours) {
			amount, err := parseCents(x.Amount)
			if err != nil {
				return err
			}
			b.Payments = append(b.Payments, Payment{x.ID, m[1], amount})
		}
		return nil
	})
}

func (s *stage) artifacts(ctx context.Context, t identity.Tenant, b *Books) error {
	return s.listed(ctx, t, id.RawArtifact, func(item record.Item) error {
		var a raw.Artifact
		if err := json.Unmarshal(item.Body, &a); err != nil {
			return err
		}
		b.Artifacts = append(b.Artifacts, Artifact{a.ID, a.SHA256, string(a.State)})
		return nil
	})
}

// shown is the part of an event that the reckoning looks at.
type shown struct {
	ID        string `json:"id"`
	Tenant    string `json:"tenant_id"`
	Action    string `json:"action"`
	RequestID string `json:"request_id"`
	Actor     struct {
		ID string `json:"id"`
	} `json:"actor"`
	Inputs struct {
		ID       any `json:"id"`
		Decision any `json:"decision"`
	} `json:"inputs"`
	Outputs struct {
		Code any `json:"code"`
	} `json:"outputs"`
	After struct {
		ID any `json:"id"`
	} `json:"after_state"`
}

func (e shown) event() Event {
	text := func(v any) string { s, _ := v.(string); return s }
	return Event{e.ID, e.Action, e.Actor.ID, e.RequestID, text(e.Outputs.Code), or(text(e.After.ID), text(e.Inputs.ID)), text(e.Inputs.Decision)}
}

func (s *stage) journal(ctx context.Context, t identity.Tenant, b *Books) error {
	var err error
	if b.Journal, err = checker.Store(ctx, s.store, t); err != nil {
		return err
	}
	const page = 100
	j := &journal.Journal{Store: s.store}
	for from := int64(0); from < b.Journal.Entries; from += page {
		entries, err := j.Entries(ctx, t, from, min(b.Journal.Entries, from+page)-1)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			var e shown
			if err := json.Unmarshal(entry.Event, &e); err != nil {
				return err
			}
			b.Events = append(b.Events, e.event())
		}
	}
	return nil
}

// balance is what an account holds.
func (s *stage) balance(ctx context.Context, t identity.Tenant) (cents, error) {
	_, balance, err := (&ledger.Reader{Store: s.store, Now: time.Now}).AccountAndBalance(ctx, t, account)
	if err != nil || balance == nil {
		return 0, err
	}
	return parseCents(balance.Current)
}

func (s *stage) money(ctx context.Context, t identity.Tenant, b *Books) error {
	var err error
	if b.Rollups, err = (&rollups.Book{Store: s.store}).Check(ctx, t); err != nil || b.Tenant != "acme" {
		return err
	}
	if b.After, err = s.balance(ctx, t); err != nil {
		return err
	}
	item, _, err := s.store.Get(ctx, key.Reserved(t, account))
	if n := item.Numbers["held.USD"]; err == nil && n != nil {
		b.Held = cents(n.Int64())
	}
	return err
}

func (s *stage) proofs(ctx context.Context, t identity.Tenant, b *Books) error {
	reader := &proof.Reader{Store: s.store}
	for _, i := range b.Intents {
		if i.Status != string(proposals.Executed) {
			continue
		}
		body, err := reader.Proof(ctx, t, i.ID)
		if err != nil {
			b.Proofs[i.ID] = err.Error()
			continue
		}
		b.Proofs[i.ID] = s.verified(ctx, body)
	}
	return nil
}

// verified says what is wrong with a proof of an executed payment, empty for one
// that holds. The local node now and then refuses a block it has just made: what
// fails is looked at again, and what is wrong stays so.
func (s *stage) verified(ctx context.Context, body []byte) (wrong string) {
	file := s.File()
	for range 3 {
		report := verify.Proof(ctx, body, verify.Options{RPC: file.RPCURL, Contract: file.Anchor})
		failed := report.Failed()
		switch {
		case len(failed) > 0:
			wrong = failed[0].Name + ": " + failed[0].Detail
		case report.Outcome != "executed":
			return "it says " + report.Outcome
		default:
			return ""
		}
		sleep(ctx, time.Second)
	}
	return wrong
}

// promises reads the counts of an agent's caps.
func (s *stage) promises(ctx context.Context, t identity.Tenant, b *Books, agents []string) error {
	for _, agent := range agents {
		item, _, err := s.store.Get(ctx, key.Promises(t, "agent", agent))
		if err != nil {
			return err
		}
		day := new(big.Int)
		for name, n := range item.Numbers {
			if strings.HasPrefix(name, "d") && strings.HasSuffix(name, ".out.USD") {
				day.Add(day, n)
			}
		}
		p := Promised{Day: cents(day.Int64())}
		if n := item.Numbers["open"]; n != nil {
			p.Open = n.Int64()
		}
		b.Promised[agent] = p
	}
	return nil
}

func (s *stage) outbox(ctx context.Context, t identity.Tenant, b *Books) error {
	for shard := range key.OutboxShards {
		err := s.each(ctx, record.Query{PK: key.OutboxPartition(shard)}, func(item record.Item) error {
			if strings.Contains(string(item.Body), `"tenant_id":"`+t.String()+`"`) {
				b.Outbox = append(b.Outbox, item.Key.SK)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// files reads what the bus accepted, and what it gave up.
func (s *stage) files(_ context.Context, t identity.Tenant, b *Books) error {
	err := lines(filepath.Join(s.folder, stackfile.Events), func(line []byte) error {
		var e struct {
			Source string
			Detail struct{ Data shown }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if strings.HasPrefix(e.Source, "robotmoney.") && e.Detail.Data.Tenant == t.String() {
			b.Published = append(b.Published, e.Detail.Data.event())
		}
		return nil
	})
	if err != nil || t.String() != "acme" { // letters are told once: they are of no company
		return err
	}
	letters, err := filepath.Glob(filepath.Join(s.folder, stackfile.Root, "log", "dlq-*.jsonl"))
	for _, path := range letters {
		if err != nil {
			return err
		}
		queue := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "dlq-"), ".jsonl")
		err = lines(path, func(line []byte) error {
			var l struct {
				From, Reason string
				Body         json.RawMessage
			}
			if err := json.Unmarshal(line, &l); err != nil {
				return err
			}
			b.Letters = append(b.Letters, Letter{queue, l.From, l.Reason, string(l.Body)})
			return nil
		})
	}
	return err
}

// lines visits the lines of a file; one that is not there has none.
func lines(path string, visit func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		if err := visit(scanner.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return scanner.Err()
}
