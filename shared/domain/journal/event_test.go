package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/journal"
)

func TestParse(t *testing.T) {
	e := event(t, ` {"tenant_id":"acme","action":"payment_intent.proposed","id":"evt_1","what":{"is":"yet to come"}}`)
	equal(t, "id", e.ID(), "evt_1")
	equal(t, "action", e.Action(), "payment_intent.proposed")
	equal(t, "tenant", e.Tenant().String(), "acme")
}

func TestParseRefuses(t *testing.T) {
	const form, object, name, whose, action = "canonical form", "no JSON object", "id is not", "tenant_id", "no action"
	for what, c := range map[string]struct{ raw, says string }{
		"nothing":                {``, form},
		"text":                   {`hello`, form},
		"cut off":                {`{"id":"evt_1","tenant_id":"acme","action":"a"`, form},
		"two events":             {`{"id":"evt_1","tenant_id":"acme","action":"a"}{}`, form},
		"a name twice":           {`{"id":"evt_1","id":"evt_2","tenant_id":"acme","action":"a"}`, form},
		"a number too large":     {`{"id":"evt_1","tenant_id":"acme","action":"a","n":9007199254740993}`, form},
		"half a surrogate":       {`{"id":"evt_1","tenant_id":"acme","action":"a","n":"\ud800"}`, form},
		"no UTF-8":               {"{\"id\":\"evt_1\",\"tenant_id\":\"acme\",\"action\":\"a\xff\"}", form},
		"too deep":               {`{"id":"evt_1","tenant_id":"acme","action":"a","n":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, form},
		"too large":              {`{"id":"evt_1","tenant_id":"acme","action":"a","n":"` + strings.Repeat("x", journal.MaxEvent) + `"}`, "larger"},
		"null":                   {`null`, object},
		"array":                  {`[{"id":"evt_1","tenant_id":"acme","action":"a"}]`, object},
		"string":                 {`"evt_1"`, object},
		"no id":                  {`{"tenant_id":"acme","action":"a"}`, name},
		"id in capitals":         {`{"ID":"evt_1","tenant_id":"acme","action":"a"}`, name},
		"id of something else":   {`{"id":"pi_1","tenant_id":"acme","action":"a"}`, name},
		"id with a separator":    {`{"id":"evt_1#2","tenant_id":"acme","action":"a"}`, name},
		"id is a number":         {`{"id":1,"tenant_id":"acme","action":"a"}`, name},
		"id is null":             {`{"id":null,"tenant_id":"acme","action":"a"}`, name},
		"no tenant":              {`{"id":"evt_1","action":"a"}`, whose},
		"tenant with separators": {`{"id":"evt_1","tenant_id":"acme#journal","action":"a"}`, whose},
		"tenant is an object":    {`{"id":"evt_1","tenant_id":{},"action":"a"}`, whose},
		"no action":              {`{"id":"evt_1","tenant_id":"acme"}`, action},
		"action is a list":       {`{"id":"evt_1","tenant_id":"acme","action":["a"]}`, action},
	} {
		t.Run(what, func(t *testing.T) {
			e, err := journal.Parse([]byte(c.raw))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error = %v, want one that says %q", err, c.says)
			}
			equal(t, "id", e.ID(), "")
			for _, quoted := range []string{"evt_1", "acme", "9007"} {
				if strings.Contains(err.Error(), quoted) {
					t.Errorf("the error quotes the event: %v", err)
				}
			}
		})
	}
}

// One entry pinned to the byte and its hash to what other programs make of it:
// proofs of old entries must verify for ever.
func TestFirstEntry(t *testing.T) {
	const line = `{"event":{"action":"policy.activated","actor":{"id":"mbr_1","type":"member"},"after_state":{"limit":"25000.00","share":0.5},` +
		`"created_at":"2025-09-30T12:00:00.123Z","id":"evt_1","inputs":{"note":"é<&>€"},"tenant_id":"%s"},"hash":"%s","prev_hash":"` +
		`0000000000000000000000000000000000000000000000000000000000000000","seq":0}`
	of := tenant(t)
	appends(t, engine.Table(), of, []journal.Event{event(t, `{"id":"evt_1","created_at":"2025-09-30T12:00:00.123Z","tenant_id":"`+of.String()+`","action":"policy.activated",
		"actor":{"type":"member","id":"mbr_1"},"inputs":{"note":"\u00e9<\u0026>€"},"after_state":{"share":5.0e-1,"limit":"25000.00"}}`)})
	sum := sha256.Sum256([]byte(strings.Replace(fmt.Sprintf(line, of, "-"), `"hash":"-",`, "", 1)))
	want := fmt.Sprintf(line, of, hex.EncodeToString(sum[:]))
	all, err := (&journal.Journal{Store: engine.Table()}).Entries(t.Context(), of, 0, 0)
	noError(t, err)
	equal(t, "line", string(all[0].Line()), want)
	equal(t, "prev_hash", all[0].PrevHash, journal.Origin)
	head, found, err := (&journal.Journal{Store: engine.Table()}).Head(t.Context(), of)
	noError(t, err)
	equal(t, "found", found, true)
	equal(t, "head", head, journal.Head{Seq: 0, Hash: hex.EncodeToString(sum[:])})
}

// FuzzParse: what is taken has a well-formed id and tenant, and reading its
// canonical form again gives the same event.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{
		`{"id":"evt_1","tenant_id":"acme","action":"a"}`, `{"id":"evt_1","tenant_id":"acme","action":"a","n":[1.50,"\u00e9",{"z":null,"a":-0}]}`,
		`{"ID":"evt_1","id":"evt_2","tenant_id":"acme","action":"a"}`, `{"id":"evt_1","tenant_id":"acme\u0023","action":"a"}`, `[]`, `null`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := journal.Parse(raw)
		if err != nil {
			return
		}
		noError(t, id.Check(id.Event, e.ID()))
		form, err := canonical.Transform(raw)
		noError(t, err)
		again := event(t, string(form))
		equal(t, "id", again.ID(), e.ID())
		equal(t, "tenant", again.Tenant(), e.Tenant())
		var members map[string]any
		noError(t, json.Unmarshal(raw, &members))
		if members["id"] != e.ID() || members["tenant_id"] != e.Tenant().String() || members["action"] != e.Action() || bytes.ContainsRune([]byte(e.Tenant().String()), '#') {
			t.Fatalf("%q was read as %s of %s", raw, e.ID(), e.Tenant())
		}
	})
}
