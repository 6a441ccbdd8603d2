package ingest

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// searches is how many names are looked for at one time.
const searches = 8

// parties finds the counterparties of names, each once for a file.
type parties struct {
	run   *run
	known map[string]string // folded name to id
}

// resolve finds or enters the counterparties of some names, by the folded name.
// meta is of the evidence that a new one comes from. One that this function made
// has an id that its name gives, and keeps it whatever people call it since; else
// it is one whose name or alias is the same; else it is new, and unverified.
func (p *parties) resolve(ctx context.Context, names map[string]string, meta func(folded string) ledger.Meta) error {
	var rows []ledger.Row
	for _, folded := range slices.Sorted(maps.Keys(names)) {
		if _, known := p.known[folded]; known {
			continue
		}
		row := counterpartyRow(names[folded], meta(folded))
		row.ID = counterpartyID(p.run.tenant, names[folded])
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	seen, err := p.run.in.Ledger.Look(ctx, p.run.tenant, rows...)
	if err != nil {
		return err
	}
	count := &p.run.file.report.Counterparties
	var unknown []ledger.Row
	for _, row := range rows {
		c := row.(*ledger.Counterparty)
		stored := seen.Stored(p.run.tenant, row)
		if stored == nil {
			unknown = append(unknown, row)
			continue
		}
		p.known[ledger.Fold(c.Name)] = c.ID
		p.run.tell(count, stored)
	}
	made, err := p.search(ctx, unknown)
	if err != nil {
		return err
	}
	return p.run.enter(ctx, seen, made, count)
}

// search looks for names among those there are and returns the rows of the others.
func (p *parties) search(ctx context.Context, rows []ledger.Row) ([]ledger.Row, error) {
	found := make([]string, len(rows))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(searches)
	for i, row := range rows {
		group.Go(func() (err error) {
			found[i], err = p.run.in.reader().Named(ctx, p.run.tenant, row.(*ledger.Counterparty).Name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var left []ledger.Row
	for i, row := range rows {
		c := row.(*ledger.Counterparty)
		if found[i] == "" {
			p.known[ledger.Fold(c.Name)] = c.ID
			left = append(left, row)
			continue
		}
		p.known[ledger.Fold(c.Name)] = found[i]
		p.run.file.report.Counterparties.Known++
	}
	return left, nil
}

// introduce enters counterparties that the file says something about. One of the
// same name that is there already stays as it is.
func (p *parties) introduce(ctx context.Context, seen ledger.Seen, rows []ledger.Row) error {
	made, err := p.search(ctx, rows)
	if err != nil {
		return err
	}
	return p.run.enter(ctx, seen, made, &p.run.file.report.Counterparties)
}
