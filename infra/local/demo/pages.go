package demo

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/wiki"
)

// enough is how many rows a list on a page shows.
const enough = 10

// Pages are the wiki pages made from the rows: one for each month, account and
// counterparty that has transactions. The same rows make the same bytes.
func Pages(r Rows) []wiki.Page {
	if len(r.Accounts) == 0 {
		return nil
	}
	l := newLibrary(r)
	var pages []wiki.Page
	for month := range months() {
		pages = append(pages, l.month(month))
	}
	for _, a := range r.Accounts {
		pages = append(pages, l.account(a))
	}
	for _, c := range r.Counterparties {
		if len(l.byParty[c.ID]) > 0 {
			pages = append(pages, l.counterparty(c))
		}
	}
	return pages
}

// library is the rows in the ways pages look at them; newest transactions first.
type library struct {
	rows                        Rows
	names                       map[string]string
	byMonth, byAccount, byParty map[string][]*ledger.Transaction
}

func newLibrary(r Rows) library {
	l := library{
		rows: r, names: map[string]string{},
		byMonth: map[string][]*ledger.Transaction{}, byAccount: map[string][]*ledger.Transaction{}, byParty: map[string][]*ledger.Transaction{},
	}
	for _, c := range r.Counterparties {
		l.names[c.ID] = c.Name
	}
	for _, x := range slices.Backward(r.Transactions) {
		month := x.TransactionDate[:len(monthForm)]
		l.byMonth[month] = append(l.byMonth[month], x)
		l.byAccount[x.AccountID] = append(l.byAccount[x.AccountID], x)
		if x.CounterpartyID != nil {
			l.byParty[*x.CounterpartyID] = append(l.byParty[*x.CounterpartyID], x)
		}
	}
	return l
}

func (l library) month(month time.Time) wiki.Page {
	rows := l.byMonth[month.Format(monthForm)]
	p := page{tenant: l.rows.Tenant, slug: "/monthly-summaries/" + month.Format(monthForm), title: month.Format("January 2006")}
	var truth []string
	for _, direction := range []string{"inflow", "outflow"} {
		for _, sum := range totals(rows, direction, nobody) {
			truth = append(truth, fmt.Sprintf("- %s: %s %s in %d transactions", strings.ToUpper(direction[:1])+direction[1:], sum.amount, sum.amount.Currency(), sum.count))
		}
	}
	for _, sum := range totals(rows, "outflow", category) {
		truth = append(truth, fmt.Sprintf("- Spent on %s: %s %s", sum.name, sum.amount, sum.amount.Currency()))
	}
	p.section("Current Truth", truth)
	var parties []string
	for _, sum := range first(totals(rows, "outflow", counterparty)) {
		if name := l.names[sum.name]; name != "" {
			parties = append(parties, fmt.Sprintf("- [%s](/counterparties/%s): %s %s", fence(name), sum.name, sum.amount, sum.amount.Currency()))
		}
	}
	p.section("Key Linked Entities", parties)
	top := largest(rows)
	p.section("Recent Activity", l.lines(top))
	p.section("Open Questions", open(rows))
	p.section("Evidence Links", links(top))
	return p.render(rows)
}

func (l library) account(a *ledger.Account) wiki.Page {
	p := page{tenant: l.rows.Tenant, slug: "/accounts/" + a.ID, title: a.Name}
	rows := l.byAccount[a.ID]
	p.section("Current Truth", []string{
		fmt.Sprintf("- %s at %s, %s, %s", a.AccountType, fence(*a.Institution), a.Currency, a.Status),
		fmt.Sprintf("- Current balance: %s %s as of %s", *a.CurrentBalance, a.Currency, *a.BalanceAsOf),
		fmt.Sprintf("- Available balance: %s %s", *a.AvailableBalance, a.Currency),
	})
	var parties []string
	for _, sum := range first(totals(rows, "outflow", counterparty)) {
		if name := l.names[sum.name]; name != "" {
			parties = append(parties, fmt.Sprintf("- [%s](/counterparties/%s): %s %s paid", fence(name), sum.name, sum.amount, sum.amount.Currency()))
		}
	}
	p.section("Key Linked Entities", parties)
	p.section("Recent Activity", l.lines(first(rows)))
	p.section("Open Questions", open(rows))
	evidence := []string{"- brain://ledger/accounts/" + a.ID}
	p.section("Evidence Links", append(evidence, links(first(rows))...))
	return p.render(a, rows)
}

func (l library) counterparty(c *ledger.Counterparty) wiki.Page {
	p := page{tenant: l.rows.Tenant, slug: "/counterparties/" + c.ID, title: fence(c.Name)}
	rows := l.byParty[c.ID]
	truth := []string{fmt.Sprintf("- %s, risk %s, %s", c.Type, c.RiskLevel, c.VerifiedStatus)}
	if len(c.Aliases) > 0 {
		truth = append(truth, "- Also known as "+fence(strings.Join(c.Aliases, ", ")))
	}
	for _, direction := range []string{"outflow", "inflow"} {
		for _, sum := range totals(rows, direction, nobody) {
			truth = append(truth, fmt.Sprintf("- In all %s %s of %s in %d transactions", sum.amount, sum.amount.Currency(), direction, sum.count))
		}
	}
	p.section("Current Truth", truth)
	owed, questions := l.owed(c.ID)
	p.section("Key Linked Entities", owed)
	p.section("Recent Activity", l.lines(first(rows)))
	p.section("Open Questions", questions)
	if c.RiskLevel != "low" {
		p.section("Risk Notes", []string{"- Risk is " + c.RiskLevel})
	}
	p.section("Evidence Links", append(links(first(rows)), obligationLinks(owed)...))
	return p.render(c, rows, owed)
}

// owed lists what is open with a counterparty, and what of it is disputed.
func (l library) owed(party string) (open, disputed []string) {
	for _, o := range l.rows.Obligations {
		line := fmt.Sprintf("- %s: %s %s %s, due %s", o.ID, o.Direction, o.AmountDue, o.Currency, o.DueDate)
		switch {
		case o.CounterpartyID != party:
		case o.Status == "disputed":
			disputed = append(disputed, line+", disputed")
		case o.Status == "upcoming":
			open = append(open, line)
		}
	}
	return open, disputed
}

func obligationLinks(lines []string) []string {
	var links []string
	for _, line := range lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), ":")
		links = append(links, "- brain://ledger/obligations/"+name)
	}
	return links
}

func (l library) lines(rows []*ledger.Transaction) []string {
	var lines []string
	for _, x := range rows {
		lines = append(lines, fmt.Sprintf("- %s %s %s %s, %s, %s (%s)", x.TransactionDate, x.Direction, x.Amount, x.Currency, fence(*x.Description), x.Status, x.ID))
	}
	return lines
}

func links(rows []*ledger.Transaction) []string {
	var lines []string
	for _, x := range rows {
		lines = append(lines, "- brain://ledger/transactions/"+x.ID)
	}
	return lines
}

// open says what nobody has explained yet.
func open(rows []*ledger.Transaction) []string {
	loose := 0
	var lines []string
	for _, x := range rows {
		switch {
		case x.Status == "disputed":
			lines = append(lines, fmt.Sprintf("- %s %s %s is disputed (%s)", x.TransactionDate, x.Amount, x.Currency, x.ID))
		case moved(x) && x.ReconciliationStatus == "unreconciled":
			loose++
		}
	}
	if loose > 0 {
		lines = append(lines, fmt.Sprintf("- %d transactions are not reconciled", loose))
	}
	return lines
}

func moved(x *ledger.Transaction) bool { return x.Status == "posted" || x.Status == "cleared" }

// sum is what a slice of transactions comes to in one currency.
type sum struct {
	name   string
	amount money.Amount
	count  int
}

// by names the slice a transaction belongs to.
type by func(*ledger.Transaction) string

func nobody(*ledger.Transaction) string         { return "" }
func category(x *ledger.Transaction) string     { return *x.Category }
func counterparty(x *ledger.Transaction) string { return or(deref(x.CounterpartyID), "-") }

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// totals adds up what moved money, by slice and currency: currencies by their
// codes, in each the largest first.
func totals(rows []*ledger.Transaction, direction string, of by) []sum {
	type cell struct{ currency, name string }
	cells := map[cell]*sum{}
	for _, x := range rows {
		if x.Direction != direction || !moved(x) {
			continue
		}
		c := money.MustParse(x.Currency)
		at := cell{x.Currency, of(x)}
		if cells[at] == nil {
			cells[at] = &sum{name: at.name, amount: money.Zero(c)}
		}
		cells[at].count++
		cells[at].amount = plus(cells[at].amount, parse(x))
	}
	sums := make([]sum, 0, len(cells))
	for _, s := range cells {
		sums = append(sums, *s)
	}
	slices.SortFunc(sums, func(a, b sum) int {
		return cmp.Or(cmp.Compare(a.amount.Currency().String(), b.amount.Currency().String()), compare(b.amount, a.amount), cmp.Compare(a.name, b.name))
	})
	return sums
}

func parse(x *ledger.Transaction) money.Amount {
	return must(money.ParseAmount(x.Amount, money.MustParse(x.Currency)))
}

func plus(a, b money.Amount) money.Amount { return must(a.Add(b)) }

// compare orders amounts of one currency; between two there is no order.
func compare(a, b money.Amount) int {
	if a.Currency() != b.Currency() {
		return 0
	}
	return must(a.Cmp(b))
}

// must is for what only a slip in the tables can make fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err))
	}
	return v
}

// largest are the ten largest transactions of each currency that moved money.
func largest(rows []*ledger.Transaction) []*ledger.Transaction {
	sorted := slices.Clone(rows)
	sorted = slices.DeleteFunc(sorted, func(x *ledger.Transaction) bool { return !moved(x) })
	slices.SortFunc(sorted, func(x, y *ledger.Transaction) int {
		return cmp.Or(cmp.Compare(x.Currency, y.Currency), compare(parse(y), parse(x)), cmp.Compare(x.ID, y.ID))
	})
	seen := map[string]int{}
	return slices.DeleteFunc(sorted, func(x *ledger.Transaction) bool {
		seen[x.Currency]++
		return seen[x.Currency] > enough
	})
}

func first[T any](rows []T) []T { return rows[:min(len(rows), enough)] }

// fence marks text that came from outside as such: a name is data, whatever it
// says. What could end the fence or hide is left out.
func fence(text string) string {
	return "`" + strings.Map(func(r rune) rune {
		if r == '`' || r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, text) + "`"
}

// page collects sections.
type page struct {
	tenant, slug, title string
	body                bytes.Buffer
}

// section adds a section; an empty one is left out.
func (p *page) section(heading string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(&p.body, "\n## %s\n\n%s\n", heading, strings.Join(lines, "\n"))
	}
}

// render makes the page. Its id follows from its revision, the hash over the
// rows it was made from, so other rows are another page.
func (p *page) render(from ...any) wiki.Page {
	sum := sha256.Sum256(must(json.Marshal(from)))
	mark := sha256.Sum256(append([]byte(p.tenant+p.slug), sum[:]...))
	return wiki.Page{
		ID: must(id.New(id.WikiPage, writtenAt, bytes.NewReader(mark[:]))), TenantID: p.tenant, Slug: p.slug, Title: strings.Trim(p.title, "`"),
		Body: "# " + p.title + "\n" + p.body.String(), SourceRevision: hex.EncodeToString(sum[:]), RenderedAt: writtenAt.Format(audit.TimeForm),
	}
}
