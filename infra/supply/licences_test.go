package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/supply/licence"
	"github.com/robotmoney/mcp/infra/supply/linked"
)

// modules makes a program that links one module with such a licence text.
func modules(t *testing.T, version, text string) map[string]func() ([]linked.Module, error) {
	t.Helper()
	m := linked.Module{Path: "example.org/m", Version: version}
	if text != "" {
		m.Licences = []string{filepath.Join(t.TempDir(), "LICENSE")}
		if err := os.WriteFile(m.Licences[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func() ([]linked.Module, error){"mcp": func() ([]linked.Module, error) { return []linked.Module{m}, nil }}
}

const isc = `Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted. THE SOFTWARE IS PROVIDED "AS IS"`

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		name, text string
		allowed    bool
	}{
		{"ISC", isc, true},
		{"GPL", "GNU General Public License, version 3", false},
		{"none at all", "", false},
		{"something", "All rights reserved.", false},
	} {
		rows, err := table(modules(t, "v1.0.0", c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := bounded(rows); (err == nil) != c.allowed {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A module that is new, and one of another version, changes the document.
func TestRender(t *testing.T) {
	rows, err := table(modules(t, "v1.0.0", isc))
	if err != nil {
		t.Fatal(err)
	}
	first := string(render(rows, 2, nil))
	if !strings.Contains(first, "| example.org/m | v1.0.0 | ISC | mcp |") {
		t.Errorf("%s", first)
	}
	if all := string(render(rows, 1, nil)); !strings.Contains(all, "| ISC | all |") {
		t.Errorf("%s", all)
	}
	rows[0].Version, rows[0].licences = "v1.1.0", []licence.Name{licence.MIT}
	if got := changes(first, string(render(rows, 2, nil))); got != "  - | example.org/m | v1.0.0 | ISC | mcp |\n  + | example.org/m | v1.1.0 | MIT | mcp |\n" {
		t.Errorf("%q", got)
	}
}
