package main

import (
	"fmt"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/tap"
	"github.com/robotmoney/mcp/infra/local/template"
)

// row is an item of about so many bytes, in so many indexes.
func row(bytes, indexes int) string {
	text := fmt.Sprintf(`"pk":{"S":"%s"}`, strings.Repeat("x", bytes-2))
	for i := range indexes {
		text += fmt.Sprintf(`,"gsi%dpk":{"S":""}`, i+1)
	}
	return "{" + text + "}"
}

// Each call is counted by AWS's rules.
func TestUnits(t *testing.T) {
	layout, err := template.Load("../../template.yaml", template.Options{Resolve: template.Logical, Parameters: map[string]string{
		"AWS::Region": "r", "AWS::StackName": "s", "Issuer": "", "JwksUrl": "", "RpcUrls": "", "ChainId": "1", "RegistryAddress": "", "AnchorAddress": "",
	}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCounter(layout)
	if err != nil || len(c.patterns) != 4 {
		t.Fatalf("%d rules lead into a queue, want 4: %v", len(c.patterns), err)
	}
	event := func(kind, detail string) string {
		return fmt.Sprintf(`{"Source":"robotmoney.mcp","DetailType":"%s","Detail":%q}`, kind, detail)
	}
	for name, call := range map[string]struct {
		operation, asked, answered string
		want                       Units
	}{
		"a row":                      {"GetItem", `{"ConsistentRead":true}`, `{"Item":` + row(4096, 0) + `}`, Units{HalfReads: 2}},
		"a row and a byte":           {"GetItem", `{"ConsistentRead":true}`, `{"Item":` + row(4097, 0) + `}`, Units{HalfReads: 4}},
		"a row read later":           {"GetItem", `{}`, `{"Item":` + row(4096, 0) + `}`, Units{HalfReads: 1}},
		"nothing":                    {"GetItem", `{}`, `{}`, Units{HalfReads: 1}},
		"a query counts as a whole":  {"Query", `{}`, `{"Items":[` + row(2000, 0) + `,` + row(2000, 0) + `,` + row(200, 0) + `]}`, Units{HalfReads: 2}},
		"a batch rounds each":        {"BatchGetItem", `{"RequestItems":{"t":{"ConsistentRead":true,"Keys":[{},{},{}]}}}`, `{"Responses":{"t":[` + row(10, 0) + `,` + row(5000, 0) + `]}}`, Units{HalfReads: 8}},
		"a small write":              {"PutItem", `{"Item":` + row(1024, 0) + `}`, `{}`, Units{Writes: 1}},
		"with indexes":               {"PutItem", `{"Item":` + row(1010, 3) + `}`, `{}`, Units{Writes: 2 * 4}}, // their names make it more than 1 KB
		"a transaction costs double": {"TransactWriteItems", `{"TransactItems":[{"Put":{"Item":` + row(900, 1) + `}},{"Update":{}},{"Delete":{}}]}`, `{}`, Units{Writes: 3 + 2 + 2}},
		"a counter":                  {"UpdateItem", `{}`, `{}`, Units{Writes: 1}},
		"an event of one queue":      {"PutEvents", `{"Entries":[` + event("agent.mcp.request", `{}`) + `]}`, `{}`, Units{Events: 1, Messages: 1}},
		"an event of two":            {"PutEvents", `{"Entries":[` + event("payment_intent.approved", `{}`) + `]}`, `{}`, Units{Events: 1, Messages: 2}},
		"a large event":              {"PutEvents", `{"Entries":[` + event("ledger.changed", `"`+strings.Repeat("x", 70_000)+`"`) + `]}`, `{}`, Units{Events: 2, Messages: 2}},
	} {
		header := http.Header{"X-Amz-Target": {"Service." + call.operation}}
		got, err := c.count(tap.Call{Header: header, Body: []byte(call.asked)}, tap.Answer{Status: 200, Body: []byte(call.answered)})
		if err != nil || got != call.want {
			t.Errorf("%s: %+v, want %+v (%v)", name, got, call.want, err)
		}
		if got, _ := c.count(tap.Call{Header: header, Body: []byte(call.asked)}, tap.Answer{Status: 400}); got != (Units{}) {
			t.Errorf("%s, refused: %+v", name, got)
		}
	}
	if got, _ := c.count(tap.Call{Method: http.MethodPut}, tap.Answer{Status: 200}); got.Stored != 1 {
		t.Errorf("an object: %+v", got)
	}
	if _, err := c.count(tap.Call{Header: http.Header{"X-Amz-Target": {"S.Scan"}}, Body: []byte("{}")}, tap.Answer{Status: 200, Body: []byte("{}")}); err == nil {
		t.Error("what has no price is counted as free")
	}
}

// A million of a kind, by hand: 1 of the gateway, 0.40 of two invocations, 0.0667 of
// 10 ms of 512 MB, 0.25 of two reads, 1.875 of three writes, 1 of an event, 1.20 of a
// message, 0.4657 of a thousand bytes of log, 0.50 of a tenth of a trace.
func TestPerMillion(t *testing.T) {
	u := Use{
		Kind: "x", Weight: 1, Requests: 10, Invocations: map[string]int{"a": 10, "b": 10}, Took: map[string]time.Duration{"a": 100 * time.Millisecond},
		Units: Units{HalfReads: 40, Writes: 30, Events: 10, Messages: 10, LogBytes: 10_000 - 2*10*platformLog - 10*accessLog},
	}
	if got := perMillion(u.lines()).FloatString(4); got != "6.7573" {
		t.Errorf("a million costs %s", got)
	}
	cheap := Use{Weight: 3, Requests: 1, Invocations: map[string]int{}, Took: map[string]time.Duration{}, Units: Units{LogBytes: -accessLog}}
	mean := perMillion(mixed([]Use{u, cheap}))
	want := new(big.Rat).Add(perMillion(u.lines()), new(big.Rat).Mul(perMillion(cheap.lines()), big.NewRat(3, 1)))
	if mean.Cmp(want.Quo(want, big.NewRat(4, 1))) != 0 {
		t.Errorf("the mix costs %s, want %s", mean.FloatString(4), want.FloatString(4))
	}
}

// What is paid by the month is what the template makes.
func TestMonthly(t *testing.T) {
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"AWS::KMS::Key", "AWS::SecretsManager::Secret", "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"} {
		n := len(regexp.MustCompile(`(?m)^    Type: `+kind+`$`).FindAll(text, -1))
		if int64(n) != monthly[i].n {
			t.Errorf("the template has %d of %s, %d are counted", n, kind, monthly[i].n)
		}
	}
}
