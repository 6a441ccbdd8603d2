package dispatch_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
)

// What is compared must do the same: both sides give the structured content the
// call asks for, and a text block with the same JSON.
func TestBothSidesGiveTheSameAnswer(t *testing.T) {
	ours, err := dispatch.NewOurs()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"text": "a few words to repeat", "count": 3.0, "tags": []any{"one", "two"}}
	for name, serve := range map[string]func(dispatch.Request) ([]byte, error){"ours": ours.Serve, "sdk": dispatch.NewSDK().Serve} {
		body, err := serve(dispatch.Call)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var reply struct {
			Result struct {
				ResultType        string
				Content           []struct{ Type, Text string }
				StructuredContent map[string]any
			}
		}
		if err := json.Unmarshal(body, &reply); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, body)
		}
		var text map[string]any
		if r := reply.Result; len(r.Content) != 1 || json.Unmarshal([]byte(r.Content[0].Text), &text) != nil ||
			r.ResultType != "complete" || !reflect.DeepEqual(r.StructuredContent, want) || !reflect.DeepEqual(text, want) {
			t.Errorf("%s answers\n%s", name, body)
		}
		body, err = serve(dispatch.List)
		var list struct {
			Result struct {
				Tools []struct{ InputSchema, OutputSchema map[string]any }
			}
		}
		if err != nil || json.Unmarshal(body, &list) != nil || len(list.Result.Tools) != dispatch.Tools || list.Result.Tools[0].OutputSchema == nil {
			t.Errorf("%s lists (%v)\n%s", name, err, body)
		}
	}
}

func BenchmarkOurs(b *testing.B) {
	ours, err := dispatch.NewOurs()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ours.Serve(dispatch.Call); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOursList(b *testing.B) {
	ours, err := dispatch.NewOurs()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ours.Serve(dispatch.List); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSDK(b *testing.B) {
	sdk := dispatch.NewSDK()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sdk.Serve(dispatch.Call); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTheEdgeAnswers(t *testing.T) {
	e, err := dispatch.NewEdge()
	if err != nil {
		t.Fatal(err)
	}
	event, err := e.Event(dispatch.Call)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := e.Invoke(event)
	var response struct {
		StatusCode int
		Body       string
	}
	if err != nil || json.Unmarshal(raw, &response) != nil || response.StatusCode != 200 || !json.Valid([]byte(response.Body)) {
		t.Errorf("%v: %s", err, raw)
	}
	if err := e.Verify(); err != nil {
		t.Error(err)
	}
	floor, err := e.VerifySignature()
	if err != nil || floor() != nil {
		t.Errorf("the signature does not verify: %v", err)
	}
	event, err = dispatch.Preflight(dispatch.Call)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = e.Invoke(event); err != nil || json.Unmarshal(raw, &response) != nil || response.StatusCode != 204 {
		t.Errorf("%v: %s", err, raw)
	}
}

func BenchmarkEdge(b *testing.B) {
	e, err := dispatch.NewEdge()
	if err != nil {
		b.Fatal(err)
	}
	event, err := e.Event(dispatch.Call)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Invoke(event); err != nil {
			b.Fatal(err)
		}
	}
}
