package brain

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
	"github.com/robotmoney/mcp/shared/surface/tool"
)

// lister is a tool that lists rows: its arguments beside limit and cursor, and
// the window of rows they name.
type lister struct {
	name, title, description string
	what                     string // of the rows, for the summary
	most, usual              int    // of limit
	in, row                  []schema.Field
	more                     []schema.Field   // further members of the answer
	scopes                   []identity.Scope // none is ledger:read
	own                      bool             // the rows are the caller's alone, and so are the cursors
	page                     func(ctx context.Context, call catalog.Call, args schema.Values, w listing.Window) (listing.Page, error)
	extra                    func(ctx context.Context, t identity.Tenant, args schema.Values) (map[string]any, error) // values of more; nil when there are none
	line                     func(row json.RawMessage) (string, error)                                                // a row in the summary
}

const (
	// shown is how many rows of a page the summary repeats; all of them are in the
	// structured content.
	shown = 10
	// envelope is the part of an answer's budget that is kept for what stands
	// around its rows: the cursor, which is the most of it, and counts.
	envelope = cursor.MaxText + 256
)

// tool makes the tool of a lister. A cursor is bound to the tenant, the tool,
// every filter and, where a list is the caller's own, to the caller, so that it
// continues the one list it was given out by.
func (l lister) tool(seal cursor.Sealer) catalog.Tool {
	scopes := l.scopes
	if scopes == nil {
		scopes = []identity.Scope{identity.LedgerRead}
	}
	in := append(slices.Clone(l.in),
		schema.Field{Name: "limit", Type: schema.Integer, Min: 1, Max: int64(l.most), Default: l.usual, Description: fmt.Sprintf("Most rows of the page, %d when absent.", l.usual)},
		schema.Field{Name: "cursor", Type: schema.String, Min: 1, Max: cursor.MaxText, Description: "next_cursor of the page before, with the same filters."})
	return tool.Spec{
		Name: l.name, Title: l.title, Description: l.description, Scopes: scopes, Kind: tool.Reads,
		In: in, Out: list(l.row, l.more...),
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			binding, err := l.binding(call, args)
			if err != nil {
				return tool.Answer{}, err
			}
			window := listing.Window{Limit: args.Int("limit", l.usual), Budget: tool.Budget - envelope}
			if text := args.Text("cursor"); text != "" {
				if window.After, err = seal.Open(ctx, text, binding...); err != nil {
					return tool.Answer{}, err
				}
			}
			page, err := l.page(ctx, call, args, window)
			if err != nil {
				return tool.Answer{}, err
			}
			next := ""
			if page.Next != "" {
				if next, err = seal.Seal(ctx, page.Next, binding...); err != nil {
					return tool.Answer{}, err
				}
			}
			return l.answer(ctx, call, args, page, next)
		},
	}.Tool()
}

// binding is what a cursor of this call is good for.
func (l lister) binding(call catalog.Call, args schema.Values) ([]string, error) {
	filters := maps.Clone(args)
	delete(filters, "limit")
	delete(filters, "cursor")
	text, err := json.Marshal(filters)
	if err != nil {
		return nil, fmt.Errorf("encode filters: %w", err)
	}
	binding := []string{call.Principal.Tenant.String(), l.name, string(text)}
	if l.own {
		binding = append(binding, call.Principal.ID)
	}
	return binding, nil
}

func (l lister) answer(ctx context.Context, call catalog.Call, args schema.Values, page listing.Page, next string) (tool.Answer, error) {
	rows := page.Rows
	if rows == nil {
		rows = []json.RawMessage{}
	}
	structured := map[string]any{"items": rows}
	text := fmt.Sprintf("%d %s.", len(rows), l.what)
	for i, row := range rows[:min(len(rows), shown)] {
		line, err := l.line(row)
		if err != nil {
			return tool.Answer{}, fmt.Errorf("row %d: %w", i, err)
		}
		text += "\n- " + line
	}
	if left := len(rows) - shown; left > 0 {
		text += fmt.Sprintf("\n- and %d more in the structured content", left)
	}
	if page.Cut {
		text += fmt.Sprintf("\nThe page was cut at %d kB.", tool.Budget/1000)
	}
	if next != "" {
		structured["next_cursor"] = next
		text += "\nThere is more: call again with cursor set to next_cursor."
	}
	if l.extra != nil {
		more, err := l.extra(ctx, call.Principal.Tenant, args)
		if err != nil {
			return tool.Answer{}, err
		}
		maps.Copy(structured, more)
	}
	return tool.Answer{Text: text, Structured: structured}, nil
}

// summarize decodes a row and writes its line.
func summarize[T any](line func(T) string) func(json.RawMessage) (string, error) {
	return func(row json.RawMessage) (string, error) {
		var value T
		if err := json.Unmarshal(row, &value); err != nil {
			return "", fmt.Errorf("decode row: %w", err)
		}
		return line(value), nil
	}
}
