package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// lists are the results that are the same for every caller, encoded once.
type lists struct{ tools, underscored, prompts []byte }

func (l *lists) make(c *catalog.Catalog) error {
	tools := c.Tools()
	underscored := make([]catalog.Tool, len(tools))
	for i, tool := range tools {
		underscored[i] = tool
		underscored[i].Name = catalog.Underscore(tool.Name)
	}
	for _, one := range []struct {
		into *[]byte
		name string
		of   any
	}{{&l.tools, "tools", nonNil(tools)}, {&l.underscored, "tools", underscored}, {&l.prompts, "prompts", nonNil(c.Prompts())}} {
		body, err := json.Marshal(map[string]any{one.name: one.of})
		if err != nil {
			return fmt.Errorf("encode the list of %s: %w", one.name, err)
		}
		*one.into = body
	}
	return nil
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
