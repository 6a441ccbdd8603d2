package anchor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// window is how many tenants are looked at in one read: their journals' heads
// and how far those are cut.
const window = 50

// cut makes a period of every tenant's new entries. A tenant with a period that
// is not published yet waits for that: while the chain is away, what comes is
// one period in the end and not one for each run.
func (r *run) cut(ctx context.Context) error {
	waiting := map[string]bool{}
	for _, p := range r.in(planned) {
		waiting[p.Tenant] = true
	}
	for q := (record.Query{PK: key.JournalsPartition, Limit: window}); ; {
		page, err := r.Store.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("list the tenants: %w", err)
		}
		var tenants []identity.Tenant
		for _, item := range page.Items {
			t, err := identity.OperatorTenant(item.Key.SK)
			if err != nil {
				return err
			}
			if !waiting[t.String()] {
				tenants = append(tenants, t)
			}
		}
		if err := r.look(ctx, tenants); err != nil {
			return err
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// look cuts the journals of some tenants that have grown.
func (r *run) look(ctx context.Context, tenants []identity.Tenant) error {
	var keys []key.Key
	for _, t := range tenants {
		keys = append(keys, key.JournalHead(t), key.AnchorHead(t))
	}
	items, err := r.Store.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("read how far the journals are: %w", err)
	}
	for _, t := range tenants {
		var end journal.Head
		item, found := items[key.JournalHead(t)]
		if !found {
			continue
		}
		if err := json.Unmarshal(item.Body, &end); err != nil {
			return fmt.Errorf("read the head of the journal of %s: %w", t, err)
		}
		if err := r.periods(ctx, t, items[key.AnchorHead(t)], end.Seq); err != nil {
			return err
		}
	}
	return nil
}

// periods cuts a journal up to an entry. One that is broken is left as it is:
// its tenant has no more anchors until somebody has looked, and the others go on.
func (r *run) periods(ctx context.Context, t identity.Tenant, item record.Item, end int64) error {
	at := head{Seq: -1, Hash: journal.Origin}
	if item.Version > 0 {
		if err := json.Unmarshal(item.Body, &at); err != nil {
			return fmt.Errorf("read how far the journal of %s is cut: %w", t, err)
		}
	}
	most := int64(MaxPeriod)
	if r.Period > 0 {
		most = int64(r.Period)
	}
	for version := item.Version; at.Seq < end; version++ {
		s := &stretch{tenant: t, first: at.Seq + 1, prev: at.Hash}
		if err := s.read(ctx, r.Journal, min(end, at.Seq+most)); err != nil {
			if s.broken == nil {
				return err
			}
			r.Log.ErrorContext(ctx, "a journal cannot be anchored", "tenant", t.String(), "reason", s.broken.Error())
			r.report.Broken++
			return nil
		}
		p := s.period(r.Now())
		at = head{p.Last, s.prev}
		change := record.Change{Puts: []record.Put{p.put(), {Item: record.Item{Key: key.AnchorHead(t), Body: body(at)}, Was: version}}}
		if err := r.commit(ctx, change); err != nil {
			return err
		}
		p.version++
		r.open = append(r.open, p)
		r.report.Planned++
	}
	return nil
}

// stretch is a part of a journal as it is read.
type stretch struct {
	tenant     identity.Tenant
	first      int64
	prev       string // the hash of what was last
	leaves     []merkle.Hash
	start, end time.Time // of the events that say when they were
	broken     error     // what is wrong with the journal itself
	see        func(journal.Entry)
}

// page is how many entries are read at a time: what one batch takes.
const page = 100

// read reads up to an entry, and checks that each is what its hash was made of
// and follows the one before.
func (s *stretch) read(ctx context.Context, j *journal.Journal, to int64) error {
	for from := s.first; from <= to; from += page {
		entries, err := j.Entries(ctx, s.tenant, from, min(to, from+page-1))
		if err != nil {
			return err
		}
		for i, entry := range entries {
			sum := sha256.Sum256(entry.Preimage())
			if entry.Hash != hex.EncodeToString(sum[:]) || entry.PrevHash != s.prev || entry.Seq != from+int64(i) {
				s.broken = fmt.Errorf("entry %d is not what follows the one before", from+int64(i))
				return s.broken
			}
			s.add(entry, sum)
		}
	}
	return nil
}

func (s *stretch) add(entry journal.Entry, sum merkle.Hash) {
	s.prev = entry.Hash
	s.leaves = append(s.leaves, sum)
	if s.see != nil {
		s.see(entry)
	}
	var said struct {
		At time.Time `json:"created_at"`
	}
	if json.Unmarshal(entry.Event, &said) != nil || said.At.Unix() < 0 {
		return // an event need not say when it was
	}
	if s.start.IsZero() || said.At.Before(s.start) {
		s.start = said.At
	}
	if said.At.After(s.end) {
		s.end = said.At
	}
}

// period is the stretch as a period; one without a time is of now.
func (s *stretch) period(now time.Time) *period {
	if s.start.IsZero() {
		s.start, s.end = now, now
	}
	return &period{
		Tenant: s.tenant.String(), Root: identity.Hash(merkle.Root(s.leaves)), First: s.first, Last: s.first + int64(len(s.leaves)) - 1,
		Start: s.start.Unix(), End: s.end.Unix(), State: planned, tenant: s.tenant,
	}
}
