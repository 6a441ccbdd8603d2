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
	none       slot = iota
	filler          // grammar and courtesy: says nothing
	topic           // what the question is about
	newest          // last, latest
	top             // largest
	total           // in all
	average         //
	howMany         //
	compare         // held against something
	why             //
	grouping        // by what
	flow            // inflow, outflow, transfer
	state           // of transactions, bills or subscriptions
	kind            // of accounts
	currency        //
	detail          // what one asks of an invoice, a bill or somebody
	dated           // a period, read by spans.go
	number          // a count
	amountSlot      // read by amounts.go
	subject         // a word for a category
	named           // an account, a counterparty, a category, an invoice
	later           // a matter that is understood and not answered
	turn            // turns the meaning around: not, except
)

// Topics are the values of the slot topic.
const (
	aboutCash      = "cash"
	aboutBalance   = "balance"
	aboutHoldings  = "holdings" // cash, or the balance of what is named beside it
	aboutMoves     = "transactions"
	aboutPayments  = "payments"
	aboutOut       = "moves out"
	aboutIn        = "moves in"
	aboutOwn       = "moves own"
	aboutPay       = "pay"     // the verb
	aboutPaidUs    = "paid us" // the verb, the other way
	aboutBills     = "bills"
	aboutDue       = "due"
	aboutOpen      = "open" // not paid, whenever it is due
	aboutOwe       = "owe"
	aboutOwed      = "owed" // to us
	aboutAging     = "aging"
	aboutPriority  = "priority"
	aboutInvoice   = "invoice"
	aboutSpending  = "spending"
	aboutRevenue   = "revenue"
	aboutNet       = "net"
	aboutBurn      = "burn"
	aboutRunway    = "runway"
	aboutSubscribe = "subscriptions"
	aboutParty     = "party"
	aboutBefore    = "before"
	aboutPolicy    = "policy"
	aboutApproval  = "approval"
	aboutWaiting   = "waiting"
	aboutProposals = "proposals"
	aboutReconcile = "reconciliation"
)

// reads is a line of the lexicon: wordings, separated by bars, and what each of
// them says.
type reads struct {
	slot  slot
	value string
	words string
}

// says are wordings that say several things at once.
type says struct {
	words string
	says  []reads
}

// acts are how a sentence begins that asks to move money or to change what is
// owed or decided. Nothing here does that, and the answer names the tool that
// proposes it.
var acts = sync.OnceValue(func() [][]string {
	return wordings(`pay|wire|transfer|remit|settle|approve|authorize|authorise|execute|schedule|cancel|refund|reimburse|buy|move|withdraw|send|process|reject|decline|acknowledge
	|dispute|release|initiate|propose|make a payment|make the payment|make payment|make payments|make a transfer|make the transfer|make a wire|make the|make sure|set up a payment|create a payment|start a payment|put through
	|top up|topup|fund|make sure|ensure|delete|remove|mark|freeze|unfreeze|block|unblock|email|remind|chase|write off|convert|exchange|swap|sell|invest|deposit money|clear the bill|clear the bills|sweep|prepay|stop paying|sign up|subscribe|unsubscribe|renew|hire|fire|onboard|add a|create a|create an|set the|change the|raise the limit|increase the limit|give me access|grant|run payroll|run the payroll|do payroll|do the payroll|kick off|issue a refund|issue a payment|issue payment|issue the payment|start payroll|start the payroll|take care of|clear the invoice`)
})

// before are the words that may stand before such a beginning.
var before = sync.OnceValue(func() [][]string {
	return wordings(`please|pls|kindly|go|just|now|then|and|also|so|ok|okay|hey|hi|hello|go ahead|go ahead and|can you|could you|would you|will you|you should|you must|you can|i want you to|i want to
	|i need you to|i need to|i would like you to|i would like to|id like to|id like you to|i like you to|we want to|we need you to|want you to|lets|let|let us|make sure to|make sure you|do|immediately|at once|finally|next|first|instead|urgently|quickly|today`)
})

// shows are what begins like an act and asks to see something.
var shows = sync.OnceValue(func() [][]string {
	return wordings(`send me|send us|remind me|pay attention|transfer activity|transfer history|transfers`)
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
	for _, table := range [][]reads{grammar, subjects, qualifiers} {
		for _, line := range table {
			for _, words := range wordings(line.words) {
				add(words, reads{slot: line.slot, value: line.value})
			}
		}
	}
	for words, category := range categoryWords() {
		add(strings.Fields(words), reads{slot: subject, value: category})
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

// currencyWords are the single words for currencies.
var currencyWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for _, line := range qualifiers {
		if line.slot == currency {
			for _, w := range wordings(line.words) {
				if len(w) == 1 {
					words[w[0]] = line.value
				}
			}
		}
	}
	return words
})

// categoryWords are the words for categories beside their own names, in words.
var categoryWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for category, synonyms := range synonymsOfCategories {
		for _, w := range wordings(synonyms) {
			words[strings.Join(w, " ")] = category
		}
	}
	return words
})
