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
		"a row":                     {"GetItem", `{"ConsistentRead":true}`, `{"Item":` + row(4096, 0) + `}`, Units{HalfReads: 2}},
		"a row and a byte":          {"GetItem", `{"ConsistentRead":true}`, `{"Item":` + row(4097, 0) + `}`, Units{HalfReads: 4}},
		"a row read later":          {"GetItem", `{}`, `{"Item":` + row(4096, 0) + `}`, Units{HalfReads: 1}},
		"nothing":                   {"GetItem", `{}`, `{}`, Units{HalfReads: 1}},
		"a query counts as a whole": {"Query", `{}`, `{"Items":[` + row(2000, 0) + `,` + row(2000, 0) + `,` + row(200, 0) + `]}`, Units{HalfReads: 2}},
		"a batch rounds each":       {"BatchGetItem", `{"RequestItems":{"t":{"ConsistentRead":true,"Keys":[{},{},{}]}}}`, `{"Responses":{"t":[` + row(10, 0) + `,` + row(5000, 0) + `]}}`, Units{HalfReads: 8}},
		"an event of one queue":     {"PutEvents", `{"Entries":[` + event("agent.mcp.request", `{}`) + `]}`, `{}`, Units{Events: 1, Messages: 1}},
		"an event of two":           {"PutEvents", `{"Entries":[` + event("payment_intent.approved", `{}`) + `]}`, `{}`, Units{Events: 1, Messages: 2}},
		"a large event":             {"PutEvents", `{"Entries":[` + event("ledger.changed", `"`+strings.Repeat("x", 70_000)+`"`) + `]}`, `{}`, Units{Events: 2, Messages: 2}},
	} {
		header := http.Header{"X-Amz-Target": {"Service." + call.operation}}
		got, err := c.count(tap.Call{Header: header, Body: []byte(call.asked)}, tap.Answer{Status: 200, Body: []byte(call.answered)}, nil)
		if err != nil || got != call.want {
			t.Errorf("%s: %+v, want %+v (%v)", name, got, call.want, err)
		}
		if got, _ := c.count(tap.Call{Header: header, Body: []byte(call.asked)}, tap.Answer{Status: 400}, nil); got != (Units{}) {
			t.Errorf("%s, refused: %+v", name, got)
		}
	}
	if got, _ := c.count(tap.Call{Method: http.MethodPut}, tap.Answer{Status: 200}, nil); got.Stored != 1 {
		t.Errorf("an object: %+v", got)
	}
	if _, err := c.count(tap.Call{Header: http.Header{"X-Amz-Target": {"S.Scan"}}, Body: []byte("{}")}, tap.Answer{Status: 200, Body: []byte("{}")}, nil); err == nil {
		t.Error("what has no price is counted as free")
	}
}

// A write is counted by what it made of the row, in the table and in each index.
func TestWrites(t *testing.T) {
	at := func(bytes int, places ...string) item {
		i := item{"pk": {"S": strings.Repeat("x", bytes-2)}}
		for n, place := range places {
			if place != "" {
				i[fmt.Sprintf("gsi%dpk", n+1)] = map[string]any{"S": place}
			}
		}
		return i
	}
	for name, call := range map[string]struct {
		change
		want int
	}{
		"new":                       {change{nil, at(1024), 1}, 1},
		"a byte more":               {change{nil, at(1025), 1}, 2},
		"in a transaction":          {change{nil, at(1025), 2}, 4},
		"it shrinks":                {change{at(3000), at(10), 1}, 3},
		"deleted":                   {change{at(3000), nil, 1}, 3},
		"enters two indexes":        {change{nil, at(100, "a", "b"), 2}, 2 + 2},
		"leaves one with all of it": {change{at(3000, "a"), at(100), 1}, 3 + 3},
		"stays, and changed":        {change{at(100, "a"), at(200, "a"), 1}, 1 + 1},
		"moves":                     {change{at(2000, "a"), at(3000, "b"), 1}, 3 + 2 + 3},
		"nothing changed":           {change{at(100, "a"), at(100, "a"), 2}, 2},
	} {
		if got := call.units(); got != call.want {
			t.Errorf("%s: %d, want %d", name, got, call.want)
		}
	}
	rows, times, err := targets(tap.Call{Header: http.Header{"X-Amz-Target": {"S.TransactWriteItems"}}, Body: []byte(
		`{"TransactItems":[{"Put":{"TableName":"t","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"body":{"S":"c"}}}},{"Update":{"TableName":"t","Key":{"pk":{"S":"d"},"sk":{"S":"e"}}}}]}`)})
	if err != nil || times != 2 || len(rows) != 2 || len(rows[0].key()) != 2 || rows[1].key()["sk"]["S"] != "e" {
		t.Errorf("a transaction writes %v, %d times: %v", rows, times, err)
	}
	for answer, want := range map[string]int{"ConditionalCheckFailedException": 1, `TransactionCanceledException [None, ConditionalCheckFailed]`: 1, "ValidationException": 0} {
		u, err := (&counter{}).count(tap.Call{}, tap.Answer{Status: 400, Body: []byte(answer)}, []change{{at(100, "a"), at(100, "a"), 1}})
		if err != nil || u.Writes != want {
			t.Errorf("%s: %d write units, want %d (%v)", answer, u.Writes, want, err)
		}
	}
}

// A million of a kind, by hand: 1 of the gateway, 0.40 of two invocations, 0.0667 of
// 10 ms of 512 MB, 0.25 of two reads, 1.875 of three writes, 1 of an event, 1.20 of a
// message, 0.4657 of a thousand bytes of log, 0.50 of a tenth of a trace.
func TestPerMillion(t *testing.T) {
	u := Use{
		Kind: "x", Weight: 1, Sent: 10, Requests: 10, Invocations: map[string]int{"a": 10, "b": 10}, Took: map[string]time.Duration{"a": 100 * time.Millisecond},
		Units: Units{HalfReads: 40, Writes: 30, Events: 10, Messages: 10, LogBytes: 10_000 - 2*10*platformLog - 10*accessLog},
	}
	if got := perMillion(u.lines()).FloatString(4); got != "6.7573" {
		t.Errorf("a million costs %s", got)
	}
	cheap := Use{Weight: 3, Sent: 1, Requests: 2, Invocations: map[string]int{}, Took: map[string]time.Duration{}, Units: Units{LogBytes: -2 * accessLog}}
	mean := perMillion(mixed([]Use{u, cheap}))
	want := new(big.Rat).Add(perMillion(u.lines()), new(big.Rat).Mul(perMillion(cheap.lines()), big.NewRat(6, 1)))
	if mean.Cmp(want.Quo(want, big.NewRat(7, 1))) != 0 {
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
