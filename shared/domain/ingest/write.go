package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// lanes is how many transactions of the table are made at one time.
const lanes = 4

// flush writes what is held: evidence before what rests on it, counterparties
// before what names them, the first payment of a booking before the others of it.
func (r *run) flush(ctx context.Context) error {
	if err := r.keepPieces(ctx); err != nil {
		return err
	}
	var firsts, others []planned
	for _, p := range r.rows {
		if p.of.first != "" && p.of.first == ledger.ID(p.row) {
			firsts = append(firsts, p)
		} else {
			others = append(others, p)
		}
	}
	if err := r.put(ctx, firsts); err != nil {
		return err
	}
	others, err := r.unbooked(ctx, others)
	if err != nil {
		return err
	}
	if err := r.put(ctx, others); err != nil {
		return err
	}
	r.rows = r.rows[:0]
	return r.progress(ctx)
}

// unbooked leaves out the payments of bookings that the ledger has as their sum.
// By now the first payment of each has its row, unless the sum was there before:
// so of two files that come at one time one finds what the other wrote.
func (r *run) unbooked(ctx context.Context, rows []planned) ([]planned, error) {
	var firsts []ledger.Row
	for _, p := range rows {
		if p.of.first != "" {
			firsts = append(firsts, &ledger.Transaction{Meta: ledger.Meta{ID: p.of.first}})
		}
	}
	if len(firsts) == 0 {
		return rows, nil
	}
	seen, err := r.in.Ledger.Look(ctx, r.tenant, firsts...)
	if err != nil {
		return nil, err
	}
	left := rows[:0]
	for _, p := range rows {
		if p.of.first == "" || !p.of.is(seen.Stored(r.tenant, &ledger.Transaction{Meta: ledger.Meta{ID: p.of.first}})) {
			left = append(left, p)
			continue
		}
		r.count(p.row).Known++
		if r.noted != p.of.first {
			r.noted = p.of.first
			r.file.report.note(statement.Doubt, p.place.Line, "the payments of this booking are in the ledger already, as their sum "+p.of.amount+": they are kept as evidence and not booked beside it")
		}
	}
	return left, nil
}

// is says whether a stored row is the booking as one entry.
func (b booking) is(stored []byte) bool {
	var x ledger.Transaction
	return stored != nil && json.Unmarshal(stored, &x) == nil && x.Amount == b.amount && x.Direction == b.direction
}

// put writes rows. What the ledger has already is not looked at further.
func (r *run) put(ctx context.Context, rows []planned) error {
	if len(rows) == 0 {
		return nil
	}
	seen, err := r.in.Ledger.Look(ctx, r.tenant, r.sought(rows)...)
	if err != nil {
		return err
	}
	var named []planned
	lacking, twice := rows[:0], map[string]bool{}
	for _, p := range rows {
		if name := ledger.ID(p.row); twice[name] {
			r.count(p.row).Known++ // our own lines may say a thing twice
			continue
		} else {
			twice[name] = true
		}
		stored := seen.Stored(r.tenant, p.row)
		lacks, err := seen.Lacks(r.tenant, p.row)
		if err != nil {
			return err
		}
		if lacks = lacks && !p.partly(stored); lacks {
			lacking = append(lacking, p)
		} else {
			r.tell(r.count(p.row), stored)
		}
		// Who an earlier try has entered with a row is counted with it once more.
		if p.party != "" && (lacks || ours(stored, r.artifact.ID)) {
			named = append(named, p)
		}
	}
	if err := r.referAll(ctx, named); err != nil {
		return err
	}
	return r.enterPlanned(ctx, seen, lacking)
}

// partly says whether an entry's id is there with another amount, which is that
// of a booking and of the first of its payments: whoever is believed more, one does
// not take the place of the other. What was pending does give way.
func (p planned) partly(stored []byte) bool {
	x, ok := p.row.(*ledger.Transaction)
	var was ledger.Transaction
	return ok && p.read && stored != nil && json.Unmarshal(stored, &was) == nil && was.Amount != x.Amount &&
		(was.Status != "pending" || x.Status == "pending")
}

// sought are the rows that may be there already. Of an account that this run
// brings nothing is: should another be faster, entering the rows says so, and they
// are looked at then.
func (r *run) sought(planned []planned) []ledger.Row {
	var rows []ledger.Row
	for _, p := range planned {
		if x, ok := p.row.(*ledger.Transaction); !ok || !r.empty[x.AccountID] {
			rows = append(rows, p.row)
		}
	}
	return rows
}

// referAll gives rows that name one their counterparties.
func (r *run) referAll(ctx context.Context, rows []planned) error {
	names, pieces := map[string]string{}, map[string]int{}
	for _, p := range rows {
		folded := ledger.Fold(p.party)
		if _, there := names[folded]; !there {
			names[folded], pieces[folded] = p.party, p.piece
		}
	}
	err := r.parties.resolve(ctx, names, func(folded string) ledger.Meta {
		m := r.meta("")
		m.EvidenceIDs = []string{raw.EvidenceID(r.artifact.ID, strconv.Itoa(pieces[folded]))}
		return m
	})
	if err != nil {
		return err
	}
	for _, p := range rows {
		p.refer(r.parties.known[ledger.Fold(p.party)])
	}
	return nil
}

// enterPlanned enters rows of any kind, those that share rollups beside each
// other: a transaction of the table then holds more of them.
func (r *run) enterPlanned(ctx context.Context, seen ledger.Seen, rows []planned) error {
	kinds := map[*Count][]ledger.Row{}
	var order []*Count
	for _, p := range rows {
		count := r.count(p.row)
		if kinds[count] == nil {
			order = append(order, count)
		}
		kinds[count] = append(kinds[count], p.row)
	}
	for _, count := range order {
		if count == &r.file.report.Counterparties {
			if err := r.parties.introduce(ctx, seen, kinds[count]); err != nil {
				return err
			}
			continue
		}
		slices.SortStableFunc(kinds[count], together)
		if err := r.enter(ctx, seen, kinds[count], count); err != nil {
			return err
		}
	}
	return nil
}

// together orders transactions by what they are summed up by.
func together(a, b ledger.Row) int {
	x, ok := a.(*ledger.Transaction)
	y, also := b.(*ledger.Transaction)
	if !ok || !also {
		return 0
	}
	party := func(x *ledger.Transaction) string {
		if x.CounterpartyID == nil {
			return ""
		}
		return *x.CounterpartyID
	}
	return cmp.Or(cmp.Compare(x.TransactionDate[:len("2006-01")], y.TransactionDate[:len("2006-01")]), cmp.Compare(x.Direction, y.Direction),
		cmp.Compare(x.Currency, y.Currency), cmp.Compare(party(x), party(y)), cmp.Compare(x.TransactionDate, y.TransactionDate))
}

// count is where rows of a kind are counted.
func (r *run) count(row ledger.Row) *Count {
	report := r.file.report
	switch row.(type) {
	case *ledger.Account:
		return &report.Accounts
	case *ledger.Counterparty:
		return &report.Counterparties
	case *ledger.Invoice:
		return &report.Invoices
	case *ledger.Obligation:
		return &report.Obligations
	}
	return &report.Transactions
}

// tell counts a row that is there: as new when it came with this artifact, in an
// earlier try that did not get to its end.
func (r *run) tell(count *Count, stored []byte) {
	if ours(stored, r.artifact.ID) {
		count.New++
	} else {
		count.Known++
	}
}

// enter enters rows and counts them.
func (r *run) enter(ctx context.Context, seen ledger.Seen, rows []ledger.Row, count *Count) error {
	if len(rows) == 0 {
		return nil
	}
	if r.dry {
		for _, row := range rows {
			if seen.Stored(r.tenant, row) == nil {
				count.New++
			} else {
				count.Changed++
			}
		}
		return nil
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lanes)
	for _, lane := range apart(rows) {
		group.Go(func() error {
			written, err := r.in.Ledger.Enter(ctx, r.tenant, actor, r.requestID, seen, lane...)
			mu.Lock()
			defer mu.Unlock()
			count.New += written.New
			count.Changed += written.Changed
			// Somebody was faster: another file with the same entries, or this one in
			// another process.
			count.Known += written.Same
			return err
		})
	}
	return group.Wait()
}

// apart cuts rows, which are in order, where two of them share no rollup: what is
// cut there can be written at one time and never waits for each other.
func apart(rows []ledger.Row) [][]ledger.Row {
	lane := func(row ledger.Row) string {
		x, ok := row.(*ledger.Transaction)
		if !ok {
			return ""
		}
		return x.TransactionDate[:len("2006-01")] + x.Direction + x.Currency
	}
	var cut [][]ledger.Row
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && lane(rows[to]) == lane(rows[from]) {
			to++
		}
		cut, from = append(cut, rows[from:to]), to
	}
	return cut
}

// keepPieces stores the evidence that is held.
func (r *run) keepPieces(ctx context.Context) error {
	named := make([]raw.Piece, len(r.pieces))
	for i := range r.pieces {
		r.written++
		named[i] = raw.Piece{Name: strconv.Itoa(r.written), Content: &r.pieces[i]}
	}
	r.pieces = r.pieces[:0]
	if r.dry {
		return nil
	}
	return r.in.Archive.KeepAll(ctx, r.tenant, r.artifact.ID, named)
}

// progress says how far the file is, for who waits.
func (r *run) progress(ctx context.Context) error {
	p := Progress{Done: r.done, Total: r.file.report.Entries}
	if r.in.OnProgress != nil {
		r.in.OnProgress(p)
	}
	if r.dry {
		return nil
	}
	return r.in.Archive.KeepParsed(ctx, r.tenant, r.artifact.ID, raw.Progress, p)
}
