package demo

import "time"

// company is the plan of a tenant's books: tables of what it does. Amounts are
// in the smallest unit of the account's currency everywhere in this package.
type company struct {
	tenant    string
	series    string // how invoice numbers begin
	accounts  []account
	parties   []party
	staff     []employee
	standing  []standing
	habits    []habit
	customers []customer
	moves     []move
	singular  []posting
	owed      []owed
}

// account is an account with what it held before the books opened.
type account struct {
	id, kind, institution, external, name, currency string

	opening  int64
	limit    int64     // a card's credit limit
	issuer   string    // a card: the counterparty that sends its statement
	paidFrom string    // a card: the account that pays the statement
	closed   time.Time // zero while it is open
}

// allDay says whether the account books on every day of the week.
func (a account) allDay() bool { return a.kind == "onchain" }

// party is a counterparty. What is left out is as its kind usually has it.
type party struct {
	id, name, kind string

	aliases        []string
	risk, verified string
	member, agent  string
	address        string // on the chain
	changed        string // when its details last changed
	since          time.Time
	provenance     string
}

// standing is what is paid, or comes in, at the same time of each month.
type standing struct {
	party, account, category, text string

	income bool
	amount int64
	growth int64        // a month, in basis points
	step   int64        // each January, in basis points
	noise  int64        // either way, in basis points
	day    int          // of the month, moved to the next day banks book
	due    int          // of the month; 0 is the day of payment
	months []time.Month // empty is all
	span   span
	owed   string // the type of the obligation behind it; empty is none
	rule   string // the RRULE of the one obligation it all belongs to; empty makes one for each payment
	parts  []part
	pins   map[string]pin // by month
}

// part is a share of an amount, in basis points. The last part takes the rest.
type part struct {
	label string
	share int64
}

// pin is what documents name: a payment, or in the month after the close the
// obligation to make it.
type pin struct {
	id     string
	amount int64
}

// employee is paid twice a month.
type employee struct {
	party  string
	amount int64 // of one pay, net, as of the first month of the books
	span   span
}

// habit is spending that comes and goes: some times a month, at one of several
// parties, for an amount between two bounds.
type habit struct {
	parties           []string
	account, category string

	least, most int
	from, to    int64
	net         int // days a bill may wait; 0 is paid at once
	span        span
}

// fate is what becomes of an invoice that is not simply paid.
type fate int

const (
	unpaid    fate = iota + 1 // sent and left
	partial                   // two fifths paid, the rest left
	halves                    // paid in two parts
	disputed                  // the customer refuses
	cancelled                 // taken back by us
	draft                     // not sent yet
)

// customer gets one invoice a month.
type customer struct {
	party, account string

	amount, growth int64
	terms          int    // days until an invoice is due
	lag            [2]int // how many days after that the money comes, at best and at worst
	span           span
	fates          map[string]fate // by month
}

// move is money between own accounts: what leaves one and what reaches the
// other, which differ where the currencies do.
type move struct {
	from, to string
	text     string

	sent, received int64
	day            int
	months         []time.Month
	span           span
	on             time.Time // the one day, for a move that is made once
}

// owed is an obligation that follows from nothing else in the plan.
type owed struct {
	id, kind, party, currency, due string

	amount     int64
	receivable bool
	status     string // empty is open
	provenance string
}
