package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

func TestMalformedEvents(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	sound := happened(acme, 1)
	with := func(change func(*audit.Event)) string {
		e := sound
		change(&e)
		return carried(t, e, nil)
	}
	wrapped := func(change func(map[string]any)) string { return carried(t, sound, change) }
	const body, source, detail = "no event of the bus", "none of ours", "no CloudEvents record"
	for name, c := range map[string]struct{ body, says string }{
		"nothing":                 {"", body},
		"text":                    {"hello", body},
		"cut off":                 {wrapped(nil)[:200], body},
		"two":                     {wrapped(nil) + wrapped(nil), body},
		"a list":                  {"[" + wrapped(nil) + "]", body},
		"null":                    {"null", source},
		"no source":               {wrapped(func(e map[string]any) { delete(e, "source") }), source},
		"another's source":        {wrapped(func(e map[string]any) { e["source"] = "aws.s3" }), source},
		"ours is its beginning":   {wrapped(func(e map[string]any) { e["source"] = "robotmoney" }), source},
		"ours is its end":         {wrapped(func(e map[string]any) { e["source"] = "evil.robotmoney.mcp" }), source},
		"ours and a line":         {wrapped(func(e map[string]any) { e["source"] = "robotmoney.mcp\n" }), source},
		"something after ours":    {wrapped(func(e map[string]any) { e["source"] = "robotmoney.mcp.evil" }), source},
		"ours in capitals":        {wrapped(func(e map[string]any) { e["source"] = "robotmoney.MCP" }), source},
		"source is a list":        {wrapped(func(e map[string]any) { e["source"] = []string{audit.Source} }), body},
		"no detail":               {wrapped(func(e map[string]any) { delete(e, "detail") }), detail},
		"detail is text":          {wrapped(func(e map[string]any) { e["detail"] = "{}" }), body},
		"detail without data":     {wrapped(func(e map[string]any) { e["detail"] = map[string]any{"id": sound.ID} }), detail},
		"data is null":            {wrapped(func(e map[string]any) { e["detail"] = map[string]any{"id": sound.ID, "data": nil} }), "no JSON object"},
		"data is text":            {wrapped(func(e map[string]any) { e["detail"] = map[string]any{"id": sound.ID, "data": "x"} }), "no JSON object"},
		"data has a name twice":   {wrapped(func(e map[string]any) { e["detail"] = json.RawMessage(`{"data":{"id":"evt_1","id":"evt_2"}}`) }), "canonical form"},
		"data has a large number": {with(func(e *audit.Event) { e.Inputs = map[string]any{"n": int64(1) << 60} }), "canonical form"},
		"data is too large":       {with(func(e *audit.Event) { e.Inputs = map[string]any{"n": strings.Repeat("x", 400<<10)} }), "larger"},
		"no detail-type":          {wrapped(func(e map[string]any) { delete(e, "detail-type") }), "detail-type"},
		"another detail-type":     {wrapped(func(e map[string]any) { e["detail-type"] = "payment_intent.approved" }), "detail-type"},
		"another id in the record": {wrapped(func(e map[string]any) {
			e["detail"] = json.RawMessage(strings.Replace(string(e["detail"].(json.RawMessage)), sound.ID, "evt_2", 1))
		}), "the record's id"},
		"no id":                   {with(func(e *audit.Event) { e.ID = "" }), "the event's id"},
		"id of something else":    {with(func(e *audit.Event) { e.ID = "pi_1" }), "the event's id"},
		"no tenant":               {with(func(e *audit.Event) { e.TenantID = "" }), "tenant_id"},
		"tenant with a separator": {with(func(e *audit.Event) { e.TenantID = "acme#agent" }), "tenant_id"},
		"tenant in capitals":      {with(func(e *audit.Event) { e.TenantID = "Acme" }), "tenant_id"},
		"no action":               {with(func(e *audit.Event) { e.Action = "" }), "action"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := open(c.body)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error = %v, want one that says %q", err, c.says)
			}
			for _, quoted := range []string{"evil", "acme", "aws.s3", "Acme", "hello", "evt_2"} {
				if strings.Contains(err.Error(), quoted) {
					t.Errorf("the error quotes the message: %v", err)
				}
			}
		})
	}
}

// FuzzOpen: what is opened is ours and speaks of the event inside.
func FuzzOpen(f *testing.F) {
	acme, err := identity.OperatorTenant("acme")
	noError(f, err)
	f.Add(carried(f, happened(acme, 1), nil))
	f.Add(carried(f, happened(acme, 1), func(e map[string]any) { e["replay-name"] = "r" }))
	f.Add(`{"source":"robotmoney.mcp","detail-type":"a","detail":{"id":"evt_1","data":{"id":"evt_1","tenant_id":"a","action":"a"}}}`)
	f.Add(`{"Source":"robotmoney.mcp","DETAIL-TYPE":"a","detail":{"ID":"evt_1","data":{"id":"evt_1","tenant_id":"a","action":"a"}}}`)
	f.Add(`{"source":"robotmoney.mcp","detail":[]}`)
	f.Fuzz(func(t *testing.T, body string) {
		event, _, err := open(body)
		if err != nil {
			return
		}
		var e struct {
			Source     string `json:"source"`
			DetailType string `json:"detail-type"`
			Detail     struct {
				ID string `json:"id"`
			} `json:"detail"`
		}
		noError(t, json.Unmarshal([]byte(body), &e))
		noError(t, id.Check(id.Event, event.ID()))
		if !strings.HasPrefix(e.Source, "robotmoney.") || e.DetailType != event.Action() || e.Detail.ID != event.ID() || event.Tenant().String() == "" {
			t.Fatalf("%q was opened as %s of %s", body, event.ID(), event.Tenant())
		}
	})
}
