package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
	"github.com/robotmoney/mcp/shared/surface/tool"
)

// echo is a tool that answers with its argument.
func echo(kind tool.Kind) tool.Spec {
	return tool.Spec{
		Name: "test.echo", Title: "Echo", Description: "Answers with what it is given.", Scopes: []identity.Scope{identity.LedgerRead}, Kind: kind,
		In:  []schema.Field{{Name: "text", Type: schema.String, Required: true, Description: "What to say."}},
		Out: []schema.Field{{Name: "said", Type: schema.String, Required: true}},
		Run: func(_ context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			switch text := args.Text("text"); text {
			case "refuse":
				return tool.Answer{}, fault.New(fault.Conflict, "No.")
			case "break":
				return tool.Answer{Structured: func() {}}, nil
			default:
				return tool.Answer{Text: "It said so.", Structured: map[string]string{"said": text}}, nil
			}
		},
	}
}

func call(t *testing.T, spec tool.Spec, arguments string) (catalog.Output, error) {
	t.Helper()
	return spec.Tool().Call(t.Context(), catalog.Call{}, json.RawMessage(arguments))
}

func TestDeclaration(t *testing.T) {
	got := echo(tool.Reads).Tool()
	equal(t, "name", got.Name, "test.echo")
	equal(t, "title", got.Title, "Echo")
	equal(t, "description", got.Description, "Answers with what it is given.")
	equal(t, "scopes", len(got.Scopes), 1)
	in, out := got.Schemas()
	equal(t, "input", string(in), `{"type":"object","properties":{"text":{"type":"string","description":"What to say."}},"required":["text"]}`)
	equal(t, "output", string(out), `{"type":"object","properties":{"said":{"type":"string"}},"required":["said"]}`)
}

func TestAnnotations(t *testing.T) {
	for want, kind := range map[string]tool.Kind{
		`{"title":"Echo","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`:  tool.Reads,
		`{"title":"Echo","readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`: tool.Adds,
		`{"title":"Echo","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}`: tool.Decide,
	} {
		equal(t, "annotations", string(echo(kind).Tool().Annotations), want)
	}
}

// The structured content is in the text too while it is small.
func TestAnswer(t *testing.T) {
	const frame = len(`{"said":""}`)
	for name, c := range map[string]struct{ length, blocks int }{
		"small": {1, 2}, "at the bound": {4000 - frame, 2}, "over it": {4001 - frame, 1},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat("x", c.length)
			out, err := call(t, echo(tool.Reads), `{"text":"`+text+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "error", out.IsError, false)
			structured, _ := out.Structured.(json.RawMessage)
			equal(t, "structured", string(structured), `{"said":"`+text+`"}`)
			if len(out.Content) != c.blocks {
				t.Fatalf("%d blocks, want %d", len(out.Content), c.blocks)
			}
			equal(t, "summary", out.Content[0]["text"], any("It said so."))
			if c.blocks == 2 {
				equal(t, "as text", out.Content[1]["text"], any(string(structured)))
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		kind      tool.Kind
		arguments string
		want      fault.Code // empty: it is accepted
	}{
		"missing argument":             {tool.Reads, `{}`, fault.InvalidArgument},
		"wrong type":                   {tool.Reads, `{"text":1}`, fault.InvalidArgument},
		"no object":                    {tool.Reads, `[]`, fault.InvalidArgument},
		"a read, an unknown argument":  {tool.Reads, `{"text":"a","toolCallId":"x"}`, ""},
		"a write, an unknown argument": {tool.Adds, `{"text":"a","toolCallId":"x"}`, fault.InvalidArgument},
		"a decision, an unknown one":   {tool.Decide, `{"text":"a","toolCallId":"x"}`, fault.InvalidArgument},
		"its own":                      {tool.Reads, `{"text":"refuse"}`, fault.Conflict},
		"an answer that is no JSON":    {tool.Reads, `{"text":"break"}`, fault.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := call(t, echo(c.kind), c.arguments)
			if c.want == "" {
				equal(t, "error", err, error(nil))
				return
			}
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != c.want {
				t.Errorf("error %v, want the code %s", err, c.want)
			}
			equal(t, "content", len(out.Content), 0)
		})
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
