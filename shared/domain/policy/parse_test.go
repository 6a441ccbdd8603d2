package policy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// refused is what is wrong with documents, and what is said of it.
var refused = []struct{ name, raw, message string }{
	{"empty", ``, "read JSON: unexpected end of JSON input"},
	{"cut", `{"version":1`, "read JSON: unexpected end of JSON input"},
	{"two values", `{"version":1,"rules":[]} {}`, "read JSON: invalid character '{' after top-level value"},
	{"comma", `{"version":1,"rules":[],}`, "read JSON: invalid character '}' looking for beginning of object key string"},
	{"not UTF-8", "{\"version\":1,\"rules\":[],\"lists\":{\"\xff\":[]}}", "the document is not UTF-8"},
	{"half a pair", `{"version":1,"rules":[{"id":"r","applies_to":["any"],"when":{},"execute":"auto","description":"\ud800"}]}`, "canonical JSON: "},
	{"array", `[]`, "read an array, want an object"},
	{"null", `null`, "read null, want an object"},
	{"deep", `{"version":1,"rules":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "nested deeper than 7 at byte"},
	{"no version", `{"rules":[]}`, "the key version is missing"},
	{"no rules", `{"version":1}`, "the key rules is missing"},
	{"version zero", `{"version":0,"rules":[]}`, "version: read 0, want a whole number from 1 to 2^53"},
	{"version negative", `{"version":-1,"rules":[]}`, "version: read -1, want"},
	{"version fraction", `{"version":1.0,"rules":[]}`, "version: read 1.0, want"},
	{"version exponent", `{"version":1e0,"rules":[]}`, "version: read 1e0, want"},
	{"version text", `{"version":"1","rules":[]}`, `version: read "1", want`},
	{"version null", `{"version":null,"rules":[]}`, `version: read null, want`},
	{"version large", `{"version":9007199254740993,"rules":[]}`, "version: read 9007199254740993, want"},
	{"unknown key", `{"version":1,"rules":[],"comment":""}`, `unknown key "comment", want one of version, lists, rules`},
	{"key in another case", `{"Version":1,"rules":[]}`, `unknown key "Version", want one of version, lists, rules`},
	{"key twice", `{"version":1,"version":2,"rules":[]}`, "the key version stands twice"},
	{"key twice, escaped", `{"version":1,"\u0076ersion":2,"rules":[]}`, "the key version stands twice"},
	{"lists null", `{"version":1,"lists":null,"rules":[]}`, "lists: read null, want an object"},
	{"list twice", `{"version":1,"lists":{"a":[],"a":["cp_x"]},"rules":[]}`, "lists: the key a stands twice"},
	{"list name", `{"version":1,"lists":{"A b":[]},"rules":[]}`, `lists: read "A b", want a list's name of 1 to 64 of a-z 0-9 _ . -`},
	{"list id", `{"version":1,"lists":{"a":["cp_x",7]},"rules":[]}`, "lists.a[1]: read 7, want an id of 1 to 128"},
	{"list id form", `{"version":1,"lists":{"a":["cp x"]},"rules":[]}`, `lists.a[0]: read "cp x", want an id`},
	{"rules object", `{"version":1,"rules":{}}`, "rules: read an object, want an array"},
	{"rule text", `{"version":1,"rules":["x"]}`, `rules[0]: read "x", want an object`},
	{"rule without id", `{"version":1,"rules":[{}]}`, "rules[0]: the key id is missing"},
	{"rule id", `{"version":1,"rules":[{"id":"A"}]}`, `rules[0].id: read "A", want 1 to 64 of a-z 0-9 _ . -`},
	{"rule id line", `{"version":1,"rules":[{"id":"a\n"}]}`, `rules[0].id: read "a\n", want`},
	{"rule id long", `{"version":1,"rules":[{"id":"` + strings.Repeat("a", 65) + `"}]}`, `rules[0].id: read "` + strings.Repeat("a", 40) + `"..., want`},
	{"rule twice", document(rule("r", "auto", ""), rule("r", "reject", "")), "rule r: id: read r a second time, want an id of its own"},
	{"rule key", document(rule("r", "auto", "", `"wen":{}`)), `rule r: unknown key "wen", want one of id, description, applies_to, when, execute, require, required_evidence_kinds`},
	{"rule key twice", document(rule("r", "auto", "", `"when":{}`)), "rule r: the key when stands twice"},
	{"no when", `{"version":1,"rules":[{"id":"r","applies_to":["any"],"execute":"auto"}]}`, "rule r: the key when is missing"},
	{"when null", `{"version":1,"rules":[{"id":"r","applies_to":["any"],"execute":"auto","when":null}]}`, "rule r: when: read null, want an object"},
	{"no class", `{"version":1,"rules":[{"id":"r","applies_to":[],"execute":"auto","when":{}}]}`, "rule r: applies_to: read an empty array, want at least 1 in it"},
	{"class", `{"version":1,"rules":[{"applies_to":["all"],"id":"r","execute":"auto","when":{}}]}`, `rule r: applies_to[0]: read "all", want one of outbound_payment, inbound_payment, onchain_tx, ledger_write, agent_action, any`},
	{"outcome", document(rule("r", "allow", "")), `rule r: execute: read "allow", want one of auto, confirm, reject`},
	{"role", document(rule("r", "confirm", "", `"require":["approver","boss"]`)), `rule r: require[1]: read "boss", want one of approver, admin, signer`},
	{"roles", document(rule("r", "confirm", "", `"require":["admin"`+strings.Repeat(`,"admin"`, 10)+`]`)), `rule r: require: read 11 roles, want at most 10`},
	{"evidence", document(rule("r", "auto", "", `"required_evidence_kinds":["an invoice"]`)), `rule r: required_evidence_kinds[0]: read "an invoice", want 1 to 64 of`},
	{"description", document(rule("r", "auto", "", `"description":7`)), `rule r: description: read 7, want a text of at most 500 characters`},
	{"condition twice", document(rule("r", "auto", `"action.in":["wire"],"action.in":[]`)), "rule r: when: the key action.in stands twice"},
	{"condition null", document(rule("r", "auto", `"amount.lte":null`)), "rule r: when.amount.lte: read null, want an object"},
	{"array null", document(rule("r", "auto", `"agent.id.in":null`)), "rule r: when.agent.id.in: read null, want an array"},
	{"list of condition", document(rule("r", "auto", `"counterparty.in":"trusted"`)), `rule r: when.counterparty.in: read "trusted", want an array`},
	{"status", document(rule("r", "auto", `"counterparty.verified_status.in":["verified"]`)), `rule r: when.counterparty.verified_status.in[0]: read "verified", want one of unverified, self_attested, document_verified, sanctions_cleared`},
	{"risk", document(rule("r", "auto", `"counterparty.risk_level.lte":""`)), `rule r: when.counterparty.risk_level.lte: read "", want one of low, medium, high, sanctioned`},
	{"type", document(rule("r", "auto", `"counterparty.type.in":["friend"]`)), `rule r: when.counterparty.type.in[0]: read "friend", want one of merchant, `},
	{"amount number", document(rule("r", "auto", `"amount.lte":{"amount":100,"currency":"USD"}`)), `rule r: when.amount.lte.amount: read 100, want a decimal in a string, such as "100.00"`},
	{"amount decimals", document(rule("r", "auto", `"amount.lte":{"amount":"1.001","currency":"USD"}`)), `rule r: when.amount.lte.amount: amount "1.001": USD has 2 decimals, 3 came`},
	{"amount minus", document(rule("r", "auto", `"amount.gt":{"currency":"USD","amount":"-1"}`)), `rule r: when.amount.gt.amount: amount "-1": USD must be zero or more here`},
	{"currency", document(rule("r", "auto", `"amount.gt":{"amount":"1","currency":"usd"}`)), `rule r: when.amount.gt.currency: currency "usd": want an ISO 4217 code in capitals`},
	{"no currency", document(rule("r", "auto", `"amount.gt":{"amount":"1"}`)), `rule r: when.amount.gt: the key currency is missing`},
	{"amount key", document(rule("r", "auto", `"amount.gt":{"amount":"1","currency":"USD","Currency":"EUR"}`)), `rule r: when.amount.gt: unknown key "Currency", want one of amount, currency`},
	{"confidence", document(rule("r", "auto", `"agent.confidence.gte":1.01`)), `rule r: when.agent.confidence.gte: read 1.01, want a number from 0 to 1`},
	{"confidence text", document(rule("r", "auto", `"agent.confidence.gte":"1"`)), `rule r: when.agent.confidence.gte: read "1", want a number from 0 to 1`},
	{"behaviour", document(rule("r", "auto", `"agent.behavior_hash.in":["0xAB"]`)), `rule r: when.agent.behavior_hash.in[0]: read "0xAB", want 0x and 64 lower-case hexadecimal digits`},
	{"behaviour short", document(rule("r", "auto", `"agent.behavior_hash.in":["0xab"]`)), `rule r: when.agent.behavior_hash.in[0]: read "0xab", want`},
	{"linked", document(rule("r", "auto", `"obligation.linked":"true"`)), `rule r: when.obligation.linked: read "true", want true or false`},
	{"zone", document(rule("r", "auto", hoursJSON("mon", "09:00", "17:00", "Europe/Atlantis"))), `rule r: when.time_window.zone: read "Europe/Atlantis", want a time zone such as Europe/Berlin, or UTC`},
	{"zone of the machine", document(rule("r", "auto", hoursJSON("mon", "09:00", "17:00", "Local"))), `rule r: when.time_window.zone: read "Local", want`},
	{"zone empty", document(rule("r", "auto", hoursJSON("mon", "09:00", "17:00", ""))), `rule r: when.time_window.zone: read "", want`},
	{"zone path", document(rule("r", "auto", hoursJSON("mon", "09:00", "17:00", "Europe/../UTC"))), `rule r: when.time_window.zone: read "Europe/../UTC", want`},
	{"day", document(rule("r", "auto", hoursJSON("monday", "09:00", "17:00", "UTC"))), `rule r: when.time_window.days[0]: read "monday", want one of sun, mon, tue, wed, thu, fri, sat`},
	{"no day", document(rule("r", "auto", `"time_window":{"days":[],"from":"09:00","to":"17:00","zone":"UTC"}`)), `rule r: when.time_window.days: read an empty array, want at least 1 in it`},
	{"hour", document(rule("r", "auto", hoursJSON("mon", "9:00", "17:00", "UTC"))), `rule r: when.time_window.from: read "9:00", want a time from 00:00 to 23:59`},
	{"from the end", document(rule("r", "auto", hoursJSON("mon", "24:00", "17:00", "UTC"))), `rule r: when.time_window.from: read "24:00", want`},
	{"past the end", document(rule("r", "auto", hoursJSON("mon", "09:00", "24:01", "UTC"))), `rule r: when.time_window.to: read "24:01", want a time from 00:00 to 24:00`},
	{"minute", document(rule("r", "auto", hoursJSON("mon", "09:60", "17:00", "UTC"))), `rule r: when.time_window.from: read "09:60", want`},
	{"window", document(rule("r", "auto", `"count_in_window":{"window":"2h","per":"agent","lte":1}`)), `rule r: when.count_in_window.window: read "2h", want one of 1h, 24h, 7d, 30d`},
	{"per", document(rule("r", "auto", `"count_in_window":{"window":"1h","per":"member","lte":1}`)), `rule r: when.count_in_window.per: read "member", want one of agent, counterparty, tenant`},
	{"both bounds", document(rule("r", "auto", `"count_in_window":{"window":"1h","per":"agent","lte":1,"gt":0}`)), `rule r: when.count_in_window: read both lte and gt, want one of them`},
	{"no bound", document(rule("r", "auto", `"spend_in_window":{"window":"1h","per":"agent"}`)), `rule r: when.spend_in_window: read neither lte nor gt, want one of them`},
	{"both sums", document(rule("r", "auto", `"spend_in_window":{"window":"1h","per":"agent","lte":{"amount":"1","currency":"USD"},"gt":{"amount":"1","currency":"USD"}}`)), `rule r: when.spend_in_window: read both lte and gt, want one of them`},
	{"cap", document(rule("r", "auto", `"spend_in_window":{"window":"1h","per":"agent","lte":{"amount":"1.5","currency":"JPY"}}`)), `rule r: when.spend_in_window.lte.amount: amount "1.5": JPY takes no decimals here`},
	{"count", document(rule("r", "auto", `"count_in_window":{"window":"1h","per":"agent","lte":-1}`)), `rule r: when.count_in_window.lte: read -1, want a whole number from 0 to 2^53`},
	{"count minus zero", document(rule("r", "auto", `"count_in_window":{"window":"1h","per":"agent","gt":-0}`)), `rule r: when.count_in_window.gt: read -0, want a whole number`},
	{"no per", document(rule("r", "auto", `"count_in_window":{"window":"1h","lte":1}`)), `rule r: when.count_in_window: the key per is missing`},
	{"second rule", document(rule("a", "auto", ""), rule("b", "auto", `"x":1`)), `rule b: when: unknown key "x", want one of counterparty.in, `},
}

func hoursJSON(day, from, to, zone string) string {
	return fmt.Sprintf(`"time_window":{"days":[%q],"from":%q,"to":%q,"zone":%q}`, day, from, to, zone)
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			d, err := policy.Parse([]byte(c.raw))
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("error = %v\n want %s", err, c.message)
			}
			if !reflect.DeepEqual(d, policy.Document{}) {
				t.Errorf("a refused document is returned: %+v", d)
			}
		})
	}
}

// TestSizes stands on the last size that is taken, and on the first that is not.
func TestSizes(t *testing.T) {
	many := func(n int, write func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = write(i)
		}
		return strings.Join(all, ",")
	}
	rules := func(n int) string {
		return document(many(n, func(i int) string { return rule(fmt.Sprintf("r%d", i), "auto", "") }))
	}
	lists := func(n int) string {
		return `{"version":1,"rules":[],"lists":{` + many(n, func(i int) string { return fmt.Sprintf(`"l%d":[]`, i) }) + `}}`
	}
	ids := func(n int) string {
		return `{"version":1,"rules":[],"lists":{"a":["cp_x"],"b":[` + many(n-1, func(i int) string { return fmt.Sprintf(`"cp_%d"`, i) }) + `]}}`
	}
	bytes := func(n int) string {
		text := `{"version":1,"rules":[]}`
		return text + strings.Repeat(" ", n-len(text))
	}
	said := func(n int) string {
		return document(rule("r", "auto", "", `"description":"`+strings.Repeat("é", n)+`"`))
	}
	for _, c := range []struct {
		name    string
		most    int
		write   func(int) string
		message string
	}{
		{"rules", policy.MaxRules, rules, "rules: read 1001 rules, want at most 1000"},
		{"lists", policy.MaxLists, lists, "lists: read 201 lists, want at most 200"},
		{"ids", policy.MaxIDs, ids, "lists.b: the lists hold more than 10000 ids in all"},
		{"bytes", policy.MaxBytes, bytes, "read 262145 bytes, want at most 262144"},
		{"description", 500, said, "rule r: description: read "},
	} {
		if _, err := policy.Parse([]byte(c.write(c.most))); err != nil {
			t.Errorf("%s: the most there may be is refused: %v", c.name, err)
		}
		if _, err := policy.Parse([]byte(c.write(c.most + 1))); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: error = %v, want %s", c.name, err, c.message)
		}
	}
}

// TestParse reads a document with everything in it.
func TestParse(t *testing.T) {
	d := parsed(t, string(read(t, "everything.json")))
	equal(t, "version", d.Version, 7)
	same(t, "list", d.Lists["vendors.trusted"], []string{"cp_aws", "cp_gcp"})
	equal(t, "empty list", d.Lists["nobody"] != nil && len(d.Lists["nobody"]) == 0, true)
	r := d.Rules[0]
	v := reflect.ValueOf(r.When)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s was not read", v.Type().Field(i).Name)
		}
	}
	// What was read is written as it stood.
	var written, want any
	noError(t, json.Unmarshal([]byte(text(t, d)), &written))
	noError(t, json.Unmarshal(read(t, "everything.json"), &want))
	if !reflect.DeepEqual(written, want) {
		t.Errorf("read %s", text(t, d))
	}
	equal(t, "lists that are not there", parsed(t, `{"version":1,"rules":[]}`).Lists != nil, true)
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	noError(t, err)
	return raw
}

func TestHash(t *testing.T) {
	hash := func(raw string) string {
		h, err := policy.Hash([]byte(raw))
		noError(t, err)
		return hex.EncodeToString(h[:])
	}
	plain := sha256.Sum256([]byte(`{"rules":[],"version":1}`))
	equal(t, "hash", hash(` {"version": 1, "rules": []}`+"\n"), hex.EncodeToString(plain[:]))
	equal(t, "escapes", hash(`{"version":1,"rules":[],"lists":{"\u0061":[]}}`), hash(`{"lists":{"a":[]},"version":1,"rules":[]}`))
	bound := func(amount string) string {
		return document(rule("r", "auto", `"amount.lte":{"amount":"`+amount+`","currency":"USD"}`))
	}
	if hash(bound("100")) == hash(bound("100.00")) {
		t.Error("two spellings of an amount have one hash: signers sign what is written")
	}
	for _, raw := range []string{``, `{`, `{"a":1,"a":1}`, "\"\xff\"", `{} {}`} {
		if _, err := policy.Hash([]byte(raw)); err == nil {
			t.Errorf("%q has a hash", raw)
		}
	}
}

// FuzzParse: what is taken has a hash, stays what it is in its canonical form,
// can be judged and linted, and matches nothing that was not written.
func FuzzParse(f *testing.F) {
	for _, c := range refused {
		if len(c.raw) < 2000 {
			f.Add([]byte(c.raw))
		}
	}
	for _, b := range behaviours {
		f.Add([]byte(document(rule("r", "auto", `"`+b.name+`":`+b.when))))
	}
	f.Add(read(f, "everything.json"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := policy.Parse(raw)
		if err != nil {
			return
		}
		hash, err := policy.Hash(raw)
		noError(t, err)
		form, err := canonical.Transform(raw)
		noError(t, err)
		again, err := policy.Parse(form)
		noError(t, err)
		if !reflect.DeepEqual(d, again) {
			t.Fatalf("%s is read as two documents", raw)
		}
		formHash, err := policy.Hash(form)
		noError(t, err)
		equal(t, "hash of the canonical form", formHash, hash)
		policy.Lint(d)
		v, other := d.Evaluate(complete(t)), again.Evaluate(complete(t))
		if !bytes.Equal([]byte(text(t, v)), []byte(text(t, other))) {
			t.Fatalf("judged twice: %s and %s", text(t, v), text(t, other))
		}
		wellFormed(t, d, v)
		wellFormed(t, d, d.Evaluate(policy.Facts{}))
	})
}
