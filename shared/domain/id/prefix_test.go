package id_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/id"
)

// prefixes is every prefix as it is written in ids, apart from the constants.
var prefixes = map[id.Prefix]string{
	id.Account: "acct", id.Agent: "agt", id.Authorization: "authz", id.Counterparty: "cp",
	id.Event: "evt", id.Execution: "exec", id.Invoice: "inv", id.Member: "mbr",
	id.Obligation: "obl", id.PolicyDecision: "pd", id.PaymentIntent: "pi", id.Proposal: "prop",
	id.ParsedEvidence: "prs", id.RawArtifact: "raw", id.Transaction: "tx", id.WikiPage: "wpg",
}

func TestPrefixes(t *testing.T) {
	equal(t, "prefixes", len(prefixes), 16)
	for prefix, text := range prefixes {
		equal(t, "prefix", string(prefix), text)
		noError(t, id.Check(prefix, text+"_1"))
		for other := range prefixes {
			if other != prefix && id.Check(other, text+"_1") == nil {
				t.Errorf("%s_1 is also of the kind %s", text, other)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"made here":         {"tx_01JDZ0Q6Y4R8M2N5T7V9WXA3BC", true},
		"short":             {"tx_4127", true},
		"one character":     {"tx_a", true},
		"64 characters":     {"tx_" + strings.Repeat("a", 64), true},
		"whole alphabet":    {"tx_azAZ09_-", true},
		"more underscores":  {"tx____", true},
		"empty":             {"", false},
		"prefix alone":      {"tx", false},
		"no name":           {"tx_", false},
		"65 characters":     {"tx_" + strings.Repeat("a", 65), false},
		"no underscore":     {"tx4127", false},
		"hyphen":            {"tx-4127", false},
		"another prefix":    {"obl_4127", false},
		"longer prefix":     {"txx_4127", false},
		"capital prefix":    {"TX_4127", false},
		"leading blank":     {" tx_4127", false},
		"trailing blank":    {"tx_4127 ", false},
		"line break":        {"tx_4127\n", false},
		"inner blank":       {"tx_41 27", false},
		"zero byte":         {"tx_4127\x00", false},
		"slash":             {"tx_../4127", false},
		"hash":              {"tx_a#b", false},
		"colon":             {"tx_a:b", false},
		"percent":           {"tx_%34", false},
		"quote":             {`tx_"`, false},
		"accent":            {"tx_é", false},
		"full-width digit":  {"tx_４", false},
		"invalid UTF-8":     {"tx_\xff", false},
		"Cyrillic in front": {"tх_4127", false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := id.Check(id.Transaction, c.text); (err == nil) != c.good {
				t.Errorf("Check(tx, %q) = %v", c.text, err)
			}
		})
	}
}

func TestCheckMessages(t *testing.T) {
	says(t, id.Check(id.PaymentIntent, "pi-1"), `payment intent id "pi-1": want pi_ and then 1 to 64 of A-Z a-z 0-9 _ -`)
	long := strings.Repeat("x", 5000)
	says(t, id.Check(id.Account, long), `account id "`+long[:72]+`"…: want acct_ and then 1 to 64 of A-Z a-z 0-9 _ -`)
	says(t, id.Check("acc", "acc_1"), `no id has the prefix "acc"`)
	says(t, id.Check("", "_1"), `no id has the prefix ""`)
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{"tx_4127", "tx_", "tx", "_", "cp_aws", "tx_" + strings.Repeat("-", 64), "tx_a\n", "tx_\xff"} {
		f.Add("tx", text)
	}
	f.Add("", "_a")
	f.Add("acc", "acc_1")
	name := regexp.MustCompile(`\A[A-Za-z0-9_-]{1,64}\z`)
	f.Fuzz(func(t *testing.T, prefix, text string) {
		_, exists := prefixes[id.Prefix(prefix)]
		rest, has := strings.CutPrefix(text, prefix+"_")
		good := exists && has && name.MatchString(rest)
		if err := id.Check(id.Prefix(prefix), text); (err == nil) != good {
			t.Errorf("Check(%q, %q) = %v", prefix, text, err)
		}
	})
}
