package question

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// slot is what a wording says something about.
type slot int

const (
	none     slot = iota
	filler        // grammar and courtesy: says nothing
	topic         // what the question is about
	newest        // last, latest
	top           // largest
	total         // in all
	grouping      // by what
	flow          // inflow, outflow, transfer
	state         // of transactions or bills
	kind          // of accounts
	currency      //
	detail        // what one asks of an invoice
	period        // read by periods.go
	number        // a count
	named         // an account, a counterparty, an invoice
	later         // a matter that is understood and not answered yet
)

// Topics are the values of the slot topic.
const (
	aboutCash     = "cash"
	aboutBalance  = "balance"
	aboutHoldings = "holdings" // cash, or the balance of what is named beside it
	aboutMoves    = "transactions"
	aboutBills    = "bills"
	aboutDue      = "due"
	aboutOpen     = "open" // not paid, whenever it is due
	aboutInvoice  = "invoice"
	aboutSpending = "spending"
)

// reads is a line of the lexicon: wordings, separated by bars, and what each of
// them says.
type reads struct {
	slot  slot
	value string
	words string
}

// lexicon is how people word what is understood. It grows by wordings: the code
// that looks at slots stays as it is. The longest wording that fits wins. A
// word that is in no line and names nothing makes the whole question unread, so
// words that change a meaning (not, except, without, only) stay out of filler.
var lexicon = []reads{
	{filler, "", `what|whats|which|who|whom|is|are|was|were|be|been|am|the|a|an|our|ours|my|mine|we|us|i|me|you|your|do|does|did|done|have|has|had|having
		|of|in|on|at|for|to|from|by|with|and|across|during|within|as|where|there|it|its|that|this|these|those|them|so|far
		|show|list|give|tell|get|got|see|view|display|find|fetch|pull|print|report|send me|let me know|know|find out|look|look up|check|doing|can|could|would|will|please|kindly|just
		|how much|how|currently|right now|now|at the moment|at present|current|hi|hello|hey|ok|okay|thanks|thank you|need|want|like|looking
		|company|business|robotmoney|account|accounts|any|anything|some|going|stand|standing|made|make|makes|sit|sitting|held|hold|holding|about|coming|come|quick|summary|overview|details|detail|info|information|ones|one`},

	{topic, aboutCash, `cash|cash position|cash positions|cash balance|cash balances|cash on hand|cash at bank|cash in bank|cash in the bank|available cash|liquid cash|liquidity|liquidity position
		|liquid funds|funds|available funds|funds available|money in the bank|money in bank|money at the bank|money available|available money|bank balance|bank balances|in the bank|spendable cash|cash available|cash available to spend|cash reserves|bank account|bank accounts|bank account balance|bank account balances`},
	{topic, aboutBalance, `balance|balances|account balance|account balances|current balance|available balance|current balances`},
	{topic, aboutHoldings, `money|money do we have|how much do we have|how much do i have|how much have we got|how much is there|how much is available`},
	{filler, "", `available|left|remaining`},
	{grouping, ByAccount, `by account|per account|each account|every account|across accounts|across all accounts|for each account|in each account|on each account|in every account|all accounts|all our accounts|broken down by account|split by account`},
	{grouping, "currency", `by currency|per currency|each currency|in each currency|for each currency`},

	{topic, aboutMoves, `transaction|transactions|txn|txns|tx|txs|activity|account activity|entry|entries|movement|movements|booking|bookings`},
	{topic, "payments", `payment|payments`},
	{topic, "moves out", `charge|charges|purchase|purchases|debit|debits|outgoing payment|outgoing payments|payments made|withdrawal|withdrawals`},
	{topic, "moves in", `deposit|deposits|incoming payment|incoming payments|payment received|payments received|received payments|payments we received|payments we got|payment we received|receipt|receipts|incoming transaction|incoming transactions`},
	{topic, "moves own", `transfer|transfers|internal transfers|transfers between accounts|transfers between own accounts|transfers between our accounts`},
	{newest, "", `last|latest|most recent|the most recent|newest|recent|recently|most recently|the last|past`},
	{flow, "inflow", `inflow|inflows|incoming|money in|inbound`},
	{flow, "outflow", `outflow|outflows|outgoing|money out|outbound`},
	{state, "pending", `pending`}, {state, "posted", `posted`}, {state, "cleared", `cleared`},
	{state, "failed", `failed`}, {state, "reversed", `reversed`}, {state, "disputed", `disputed`},

	{topic, aboutBills, `bill|bills|payable|payables|accounts payable|obligation|obligations|vendor bills|supplier bills`},
	{topic, aboutDue, `due|bills to pay|payments due|payment due|upcoming payments|upcoming payment|coming due|coming up|falling due|fall due|falls due|come due|comes due|need to pay|have to pay|has to be paid|have to be paid|how much do we have to pay|how much do we need to pay|how much must we pay|need to be paid|needs to be paid|must pay|must be paid|to be paid|to pay|payable by us|upcoming`},
	{topic, aboutOpen, `open|outstanding|unpaid`},
	{state, "overdue", `overdue|past due|late|past their due date|past the due date|past its due date|behind on|in arrears`},
	{total, "", `total|totals|all|all of|in total|in all|altogether|overall|add up to|sum up to|the total of|total of`},

	{topic, aboutInvoice, `invoice|invoices|inv|invoice number|invoice no|status of invoice|invoice status`},
	{detail, "", `status|state|pay|paid|paid in full|paid yet|settled|settle|when|yet|still|already|received|amount|outstanding amount|fully|partially|partly|history|issued`},

	{topic, aboutSpending, `expense|expenses|spend|spent|spending|spends|expenditure|expenditures|cost|costs|outlay|outlays`},
	{top, "", `top|biggest|largest|highest|most|the most|greatest|main|major|number one|no 1|most expensive|costliest`},
	{grouping, ByCategory, `category|categories|by category|per category|area|areas`},
	{grouping, ByParty, `counterparty|counterparties|vendor|vendors|supplier|suppliers|merchant|merchants|payee|payees|by vendor|by supplier|by counterparty|per vendor|by merchant`},
	{kind, "card", `card|cards|credit card|credit cards|company cards|corporate card|corporate cards`},
	{kind, "bank_checking", `checking|checking account|checking accounts`},
	{kind, "bank_savings", `savings|savings account|savings accounts|saving account`},
	{kind, "loan", `loan|loans|loan account|loan accounts`},
	{kind, "line_of_credit", `line of credit|credit line|credit lines`},
	{kind, "onchain", `wallet|wallets|onchain|on chain|crypto|crypto wallet|on chain account|on chain wallet`},
	{kind, "payment_processor", `payment processor|payment processors|processor account`},
	{currency, "USD", `usd|dollar|dollars|us dollar|us dollars`}, {currency, "EUR", `eur|euro|euros`},
	{currency, "JPY", `jpy|yen`}, {currency, "GBP", `gbp|pound|pounds|pounds sterling|sterling`}, {currency, "USDC", `usdc`},
	{currency, "CHF", `chf|swiss francs`}, {currency, "CAD", `cad|canadian dollars`},

	{later, "", `revenue|revenues|income|sales|earn|earned|earnings|profit|profits|margin|burn|burn rate|runway|average|averages|mean|median|net|cash flow|cashflow
		|forecast|project|projected|compare|compared|comparison|versus|vs|than|change|changed|changes|why|trend|growth|increase|decrease|more|less
		|subscription|subscriptions|payroll|salary|salaries|wages|tax|taxes|vat|receivable|receivables|accounts receivable|owe|owes|owed|owing|customer|customers|client|clients|aging
		|how many|count|sum|reconcile|reconciled|unreconciled|reconciliation|policy|policies|approval|approvals|approve|approver|agents|proposal|proposals|proposed
		|to us|due to us|due from|payments due from|risk|risky|verified|unverified|budget|invest|interest|single|afford|should`},
}

// combined are wordings that say two things at once.
var combined = []struct {
	words string
	says  []reads
}{
	{`spend the most on|spent the most on|spend most on|spent most on|spending the most on|spending most on|most of our money go|most of our money going|most of our money goes|most of the money go|most of the money going|most of our cash go|most of our cash going|spend the most money on|spent the most money on`,
		[]reads{{slot: topic, value: aboutSpending}, {slot: top}, {slot: grouping, value: ByCategory}}},
	{`pay the most|paid the most|paying the most|pay most|paid most|pay the most to|paid the most to|paid the most money|spend the most with|spent the most with|spend the most at|spent the most at|spend most with|spent most with|spent most at`,
		[]reads{{slot: topic, value: aboutSpending}, {slot: top}, {slot: grouping, value: ByParty}}},
	{`expense category|expense categories|spending category|spending categories|cost category|cost categories|spend category|spend categories|category of expense|category of spending|category of spend|type of expense|types of expense|kind of expense|expense type|expense types`,
		[]reads{{slot: topic, value: aboutSpending}, {slot: grouping, value: ByCategory}}},
	{`last pay|last paid|last payed`, []reads{{slot: topic, value: "payments"}, {slot: newest}}},
	{`most on|the most on`, []reads{{slot: top}}},
}

// acts are how a sentence begins that asks to move money or to change what is
// owed. Nothing here does that, and the answer names the tool that proposes it.
var acts = sync.OnceValue(func() [][]string {
	return wordings(`pay|wire|transfer|remit|settle|approve|authorize|authorise|execute|schedule|cancel|refund|reimburse|buy|move|withdraw|send
	|dispute|release|initiate|propose|make a payment|make the payment|make payment|make a transfer|make the transfer|make a wire|set up a payment|create a payment|start a payment|put through`)
})

// before are the words that may stand before such a beginning.
var before = sync.OnceValue(func() [][]string {
	return wordings(`please|pls|kindly|just|now|then|and|also|so|ok|okay|hey|hi|go ahead|can you|could you|would you|will you|you should|you must|you can|i want you to|i want to
	|i need you to|i need to|i would like you to|i would like to|id like to|id like you to|i like you to|we want to|we need you to|want you to|lets|let|let us|make sure to|make sure you|do|immediately|at once|finally|next|first|instead`)
})

// shows are what begins like an act and asks to see something.
var shows = sync.OnceValue(func() [][]string {
	return wordings(`send me|send us|pay attention`)
})

// numbers are the counts people write out.
var numbers = map[string]int{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}

// phrase is a wording in words, with what it says.
type phrase struct {
	words []string
	says  []reads
}

func wordings(text string) [][]string {
	var list [][]string
	for wording := range strings.SplitSeq(text, "|") {
		if words := strings.Fields(wording); len(words) > 0 {
			list = append(list, words)
		}
	}
	return list
}

// phrases is the lexicon by first word, the longest wordings first.
var phrases = sync.OnceValue(compile)

func compile() map[string][]phrase {
	by := map[string][]phrase{}
	add := func(words []string, says ...reads) {
		by[words[0]] = append(by[words[0]], phrase{words, says})
	}
	for _, line := range lexicon {
		for _, words := range wordings(line.words) {
			add(words, reads{slot: line.slot, value: line.value})
		}
	}
	for _, line := range combined {
		for _, words := range wordings(line.words) {
			add(words, line.says...)
		}
	}
	for first := range by {
		slices.SortStableFunc(by[first], func(a, b phrase) int { return cmp.Compare(len(b.words), len(a.words)) })
	}
	return by
}
