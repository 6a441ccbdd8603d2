package id

import (
	"fmt"
	"strconv"
	"strings"
)

// Prefix says what an id is of; it stands before the first underscore. Prefixes
// are in stored keys and in what agents have written down: renaming one makes
// every id of its kind unknown.
type Prefix string

// The prefixes there are. New and Check refuse any other.
const (
	Account        Prefix = "acct"
	Agent          Prefix = "agt"
	Authorization  Prefix = "authz"
	Counterparty   Prefix = "cp"
	Event          Prefix = "evt"
	Execution      Prefix = "exec"
	Invoice        Prefix = "inv"
	Member         Prefix = "mbr"
	Obligation     Prefix = "obl"
	PolicyDecision Prefix = "pd"
	PaymentIntent  Prefix = "pi"
	Proposal       Prefix = "prop"
	ParsedEvidence Prefix = "prs"
	RawArtifact    Prefix = "raw"
	Transaction    Prefix = "tx"
	WikiPage       Prefix = "wpg"
)

// names is each prefix in words, for messages. A prefix that is not here is one
// somebody mistyped.
var names = map[Prefix]string{
	Account:        "account",
	Agent:          "agent",
	Authorization:  "authorization",
	Counterparty:   "counterparty",
	Event:          "event",
	Execution:      "execution",
	Invoice:        "invoice",
	Member:         "member",
	Obligation:     "obligation",
	PolicyDecision: "policy decision",
	PaymentIntent:  "payment intent",
	Proposal:       "proposal",
	ParsedEvidence: "parsed evidence",
	RawArtifact:    "raw artifact",
	Transaction:    "transaction",
	WikiPage:       "wiki page",
}

// maxName is how many characters may follow the underscore. Ids made here have
// 26; those that come with imported data are as their source made them.
const maxName = 64

// alphabet is what may follow the underscore: nothing that needs escaping in a
// URI or a key, and no character with a twin that looks the same elsewhere in
// Unicode.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Check says what is wrong with text as an id of this kind, nil if nothing is:
// the prefix, an underscore, then 1 to 64 of A-Z a-z 0-9 _ and -. Case counts.
// The message is for the caller. Whether the id names anything is another
// question.
func Check(prefix Prefix, text string) error {
	kind, err := prefix.kind()
	if err != nil {
		return err
	}
	name, ok := strings.CutPrefix(text, string(prefix)+"_")
	if !ok || name == "" || len(name) > maxName || strings.Trim(name, alphabet) != "" {
		return fmt.Errorf("%s id %s: want %s_ and then 1 to %d of A-Z a-z 0-9 _ -", kind, quote(text), prefix, maxName)
	}
	return nil
}

// kind returns the prefix in words, or an error for one that does not exist.
func (p Prefix) kind() (string, error) {
	kind, ok := names[p]
	if !ok {
		return "", fmt.Errorf("no id has the prefix %s", quote(string(p)))
	}
	return kind, nil
}

// quote makes text fit for a message: escaped, and cut when it is too long to be
// an id.
func quote(text string) string {
	const enough = maxName + 8
	if len(text) > enough {
		return strconv.Quote(text[:enough]) + "…"
	}
	return strconv.Quote(text)
}
