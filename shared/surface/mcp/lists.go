package mcp

import (
	"encoding/json"
	"sync"

	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// lists are the results that are the same for every caller, encoded once, when
// somebody first asks: a cold start that is not about them does not pay for it.
type lists struct{ tools, underscored, prompts func() (result, error) }

func listsOf(c *catalog.Catalog) lists {
	same := func(name string) string { return name }
	return lists{
		tools:       sync.OnceValues(func() (result, error) { return list("tools", entries(c.Tools(), same)) }),
		underscored: sync.OnceValues(func() (result, error) { return list("tools", entries(c.Tools(), catalog.Underscore)) }),
		prompts:     sync.OnceValues(func() (result, error) { return list("prompts", c.Prompts()) }),
	}
}

// entry is a tool as it is listed.
type entry struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
}

func entries(tools []catalog.Tool, spell func(string) string) []entry {
	listed := make([]entry, len(tools))
	for i, t := range tools {
		in, out := t.InputSchema, t.OutputSchema
		if t.Schemas != nil {
			in, out = t.Schemas()
		}
		listed[i] = entry{spell(t.Name), t.Title, t.Description, in, out, t.Annotations}
	}
	return listed
}

// list encodes a list that depends on the caller. An empty one is an empty
// array, never null.
func list[T any](name string, items []T) (result, error) {
	return object(map[string]any{name: nonNil(items)}, hintList)
}

func nonNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
