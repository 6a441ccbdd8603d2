package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// The categories that give a transfer or an adjustment its sign: a row's
// direction alone does not say whether such money came or went.
const (
	TransferIn    = "transfer_in"
	TransferOut   = "transfer_out"
	AdjustmentIn  = "adjustment_in"
	AdjustmentOut = "adjustment_out"
)

// book is a ledger while it is being written.
type book struct {
	company  company
	accounts map[string]account
	names    map[string]party
	entries  []entry
	taken    map[string]int // how often a name was given, to number the next
	invoices map[int]int    // the last invoice number of each year
	rows     Rows
}

// entry is a booked transaction as the balances need it.
type entry struct {
	account string
	posted  time.Time // zero while it is pending, and for what never moved money
	pending bool
	signed  int64
}

func newBook(c company) *book {
	b := &book{
		company: c, accounts: map[string]account{}, names: map[string]party{}, taken: map[string]int{},
		invoices: map[int]int{2023: 117}, rows: Rows{Tenant: c.tenant},
	}
	for _, a := range c.accounts {
		b.accounts[a.id] = a
	}
	return b
}

// stream is the random numbers for one purpose. Each has its own, so that a new
// line in one table leaves the rows of every other as they were.
func (b *book) stream(purpose ...string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(b.company.tenant + "/" + strings.Join(purpose, "/")))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// posting is a transaction to be booked. The zero values of the optional fields
// are what is usual.
type posting struct {
	account, party, category, text string

	made   time.Time
	amount int64
	income bool
	signed string // transfers and adjustments: one of the categories above
	status string // empty follows from the dates
	id     string // empty is made from what the posting says
	parts  []part
	proven bool // an invoice or obligation explains it
}

// post books a transaction and returns its id.
func (b *book) post(p posting) string {
	a := b.account(p.account)
	made, posted := b.dates(a, p.made)
	x := &ledger.Transaction{
		AccountID: p.account, Amount: amount(p.amount, a.currency), Currency: a.currency,
		TransactionDate: date(made), Category: &p.category, Allocations: split(p.amount, a.currency, p.parts),
		Status: p.status,
	}
	if p.party != "" {
		x.CounterpartyID = &p.party
	}
	way, signed := direction(p)
	x.Direction = way
	if p.signed != "" {
		x.Category = &p.signed
	}
	moved := b.settle(x, posted)
	b.describe(x, a, p)
	x.ReconciliationStatus = reconciliation(x, p.proven)
	if p.id == "" {
		p.id = b.transactionID(made, x)
	}
	x.Meta = meta(p.id, made, "extracted", 0.99)
	if a.kind == "onchain" {
		x.ChainTxHash = ptr("0x" + hash(b.company.tenant, p.id))
	}
	b.entries = append(b.entries, entry{p.account, moved, x.Status == "pending", signed})
	b.rows.Transactions = append(b.rows.Transactions, x)
	return p.id
}

func (b *book) postAll(postings []posting) {
	for _, p := range postings {
		b.post(p)
	}
}

// account finds an account; a table that names another one has a slip.
func (b *book) account(name string) account {
	a, ok := b.accounts[name]
	if !ok {
		panic("demo: no account " + name)
	}
	return a
}

// dates says when a transaction was made and when it is booked. Banks make and
// book on their days; a card is used on any day and booked on a later one; the
// chain knows no weekend.
func (b *book) dates(a account, made time.Time) (time.Time, time.Time) {
	switch {
	case a.allDay():
		return made, made
	case a.kind == "card":
		return made, onOrAfter(made.AddDate(0, 0, 1))
	}
	made = onOrAfter(made)
	return made, made
}

// direction is the row's direction, and the amount with the sign it has for the
// account.
func direction(p posting) (string, int64) {
	switch {
	case p.signed == TransferIn:
		return "transfer", p.amount
	case p.signed == TransferOut:
		return "transfer", -p.amount
	case p.signed == AdjustmentIn:
		return "adjustment", p.amount
	case p.signed == AdjustmentOut:
		return "adjustment", -p.amount
	case p.income:
		return "inflow", p.amount
	}
	return "outflow", -p.amount
}

// settle fills in status and posting date, and returns the day the money moved,
// zero when it did not. What would be booked after the close is still pending;
// what was booked in the last month is posted, and older ones are cleared.
func (b *book) settle(x *ledger.Transaction, posted time.Time) time.Time {
	switch {
	case x.Status != "":
	case posted.After(Close):
		x.Status = "pending"
	case posted.Format(monthForm) == Close.Format(monthForm):
		x.Status = "posted"
	default:
		x.Status = "cleared"
	}
	switch x.Status {
	case "posted", "cleared":
		x.PostedDate = ptr(date(posted))
		return posted
	}
	return time.Time{}
}

// describe writes the text a person reads and the line the bank prints.
func (b *book) describe(x *ledger.Transaction, a account, p posting) {
	name := b.names[p.party].name
	text := p.text
	if text == "" {
		text = name
	}
	line := name
	if aliases := b.names[p.party].aliases; len(aliases) > 0 {
		line = aliases[0]
	}
	if line == "" || strings.HasPrefix(text, line) {
		line = text
	} else if text != name {
		line += " " + text
	}
	x.Description, x.DescriptionRaw = &text, ptr(channel(a, x.Direction)+" "+strings.ToUpper(line))
	line = strings.TrimPrefix(a.id, "acct_") + "-" + strings.ReplaceAll(x.TransactionDate, "-", "")
	b.taken[line]++
	x.ExternalTransactionID = ptr(fmt.Sprintf("%s-%03d", line, b.taken[line]))
}

// channel is how a bank's line begins.
func channel(a account, direction string) string {
	switch {
	case direction == "transfer":
		return "TRANSFER"
	case direction == "adjustment":
		return "ADJUSTMENT"
	case a.kind == "card":
		return "CARD PURCHASE"
	case a.kind == "onchain":
		return "USDC TRANSFER"
	case a.currency == "EUR":
		return "SEPA CREDIT TRANSFER"
	case direction == "inflow":
		return "ACH CREDIT"
	}
	return "ACH DEBIT"
}

// reconciliation is how far the bookkeeper has got: up to July everything is
// done, in August everything is matched, in September what explains itself.
func reconciliation(x *ledger.Transaction, proven bool) string {
	switch {
	case x.PostedDate == nil:
		return "unreconciled"
	case x.TransactionDate < "2025-08-01":
		return "reconciled"
	case x.TransactionDate < "2025-09-01" || proven:
		return "matched"
	}
	return "unreconciled"
}

// transactionID is a ULID of the day, whose random part is a hash over what
// tells the transaction from others: ids stay as they are when rows are added.
func (b *book) transactionID(made time.Time, x *ledger.Transaction) string {
	what := strings.Join([]string{b.company.tenant, x.TransactionDate, x.AccountID, x.Direction, x.Amount, *x.Description}, "|")
	sum := sha256.Sum256([]byte(b.name(what)))
	name, err := id.New(id.Transaction, made, bytes.NewReader(sum[:]))
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err)) // a day of the tables lies before 1970
	}
	return name
}

// name numbers a name that was given before.
func (b *book) name(base string) string {
	b.taken[base]++
	if n := b.taken[base]; n > 1 {
		return base + "-" + strconv.Itoa(n)
	}
	return base
}

// split divides an amount; the last part takes what rounding leaves.
func split(whole int64, currency string, parts []part) []ledger.Allocation {
	allocations := []ledger.Allocation{}
	rest := whole
	for i, p := range parts {
		share := whole * p.share / basis
		if i == len(parts)-1 {
			share = rest
		}
		rest -= share
		allocations = append(allocations, ledger.Allocation{Label: p.label, Amount: amount(share, currency)})
	}
	return allocations
}

// basis is how many basis points are the whole.
const basis = 10_000

// between draws from a range, both ends included; low values are more common,
// as they are in a company's spending.
func between(r *rand.Rand, low, high int64) int64 {
	n := r.Int64N(basis + 1)
	return low + (high-low)*n*n/(basis*basis)
}

// about moves an amount by up to so many basis points either way.
func about(r *rand.Rand, amount, noise int64) int64 {
	if noise == 0 {
		return amount
	}
	return amount + amount*(r.Int64N(2*noise+1)-noise)/basis
}

// amount writes minor units as a decimal. The currencies are those of the
// tables, so an error is a slip in them.
func amount(minor int64, currency string) string {
	a, err := money.FromMinor(strconv.FormatInt(minor, 10), money.MustParse(currency))
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err))
	}
	return a.String()
}

func hash(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "/")))
	return hex.EncodeToString(sum[:])
}

func ptr[T any](v T) *T { return &v }

func monthIn(list []time.Month, m time.Time) bool {
	return len(list) == 0 || slices.Contains(list, m.Month())
}
