package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/infra/supply/licence"
	"github.com/robotmoney/mcp/infra/supply/linked"
)

// document is where the licences are listed.
const document = "docs/licences.md"

// row is a module in the document.
type row struct {
	linked.Module
	licences []licence.Name
	by       []string // the functions or parts that link it
}

// licences holds the document against what is linked now, or writes it. A licence
// that functions may not link is an error in either case.
func licences(root string, write bool, out io.Writer) error {
	functions, err := folders(root, "functions")
	if err != nil {
		return err
	}
	linking := map[string]func() ([]linked.Module, error){}
	for _, name := range functions {
		linking[name] = func() ([]linked.Module, error) { return deployed(root).Modules("./functions/" + name) }
	}
	shipped, err := table(linking)
	if err != nil {
		return err
	}
	others, err := table(parts(root))
	if err != nil {
		return err
	}
	want := render(shipped, len(functions), others)
	if err := bounded(shipped); err != nil {
		return err
	}
	path := filepath.Join(root, document)
	if write {
		return os.WriteFile(path, want, 0o644)
	}
	got, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s does not list what is linked:\n%slook at what is new, then make supply WRITE=1", document, changes(string(got), string(want)))
	}
	fmt.Fprintf(out, "ok    licences: %d modules in %d functions, %d in the tools\n", len(shipped), len(functions), len(others))
	return nil
}

// folders are the names of the folders in one.
func folders(root, name string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(root, name))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// parts are the modules' tools and tests: everything that is not deployed.
func parts(root string) map[string]func() ([]linked.Module, error) {
	found := map[string]func() ([]linked.Module, error){
		"the tools of the main module": func() ([]linked.Module, error) {
			return linked.Build{Folder: root, Env: plain, Flags: []string{"-test"}}.Modules("./...")
		},
	}
	files, _ := filepath.Glob(filepath.Join(root, "infra", "*", "go.mod")) // the pattern is well formed
	for _, file := range files {
		folder := filepath.Dir(file)
		found["infra/"+filepath.Base(folder)] = func() ([]linked.Module, error) {
			return linked.Build{Folder: folder, Env: plain, Flags: []string{"-test"}}.Modules("./...")
		}
	}
	return found
}

// plain builds the same list on every machine.
var plain = []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}

// table puts the modules of several programs together.
func table(linking map[string]func() ([]linked.Module, error)) ([]row, error) {
	rows := map[string]*row{}
	for name, list := range linking {
		modules, err := list()
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			names, err := namesOf(m)
			if err != nil {
				return nil, err
			}
			at := m.Path + "@" + m.Version
			if rows[at] == nil {
				rows[at] = &row{Module: m}
			}
			rows[at].licences, rows[at].by = append(rows[at].licences, names...), append(rows[at].by, name)
		}
	}
	var all []row
	for _, r := range rows {
		slices.Sort(r.by)
		slices.Sort(r.licences)
		r.licences = slices.Compact(r.licences)
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Version, b.Version))
	})
	return all, nil
}

// namesOf reads a module's licence files. One without any has an unknown licence.
func namesOf(m linked.Module) ([]licence.Name, error) {
	var names []licence.Name
	for _, file := range m.Licences {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("licence of %s: %w", m.Path, err)
		}
		names = append(names, licence.Of(string(text)))
	}
	if len(names) == 0 {
		names = []licence.Name{licence.Unknown}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// bounded refuses what functions may not link.
func bounded(shipped []row) error {
	var refused []error
	for _, r := range shipped {
		for _, name := range r.licences {
			if !slices.Contains(licence.Allowed, name) {
				refused = append(refused, fmt.Errorf("%s %s is under a licence that no function may link: %s (read %s)", r.Path, r.Version, name, strings.Join(r.Module.Licences, ", ")))
			}
		}
	}
	return errors.Join(refused...)
}

const head = `# Licences

Written by ` + "`make supply WRITE=1`" + ` from the licence files in the module cache.
` + "`make check`" + ` fails when a module is new, gone or under another licence.

## What the functions link

Only Apache-2.0, MIT, MIT-0, ISC and BSD may be linked, beside Go's standard
library (BSD-3-Clause). A second licence is that of code a module took from
elsewhere.

`

// render writes the document. all is how many functions there are.
func render(shipped []row, all int, others []row) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	b.WriteString("| module | version | licence | linked by |\n|---|---|---|---|\n")
	line := func(r row, by string) {
		names := make([]string, len(r.licences))
		for i, name := range r.licences {
			names[i] = string(name)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Path, r.Version, strings.Join(names, ", "), by)
	}
	for _, r := range shipped {
		by := strings.Join(r.by, ", ")
		if len(r.by) == all {
			by = "all"
		}
		line(r, by)
	}
	b.WriteString("\n## What tools and tests use\n\nNone of it is deployed, and no licence is ruled out.\n\n| module | version | licence | used by |\n|---|---|---|---|\n")
	for _, r := range others {
		line(r, strings.Join(r.by, ", "))
	}
	return b.Bytes()
}

// changes are the lines that one text has and the other has not.
func changes(got, want string) string {
	var b strings.Builder
	compare := func(mark, a, other string) {
		lines := strings.Split(other, "\n")
		for line := range strings.SplitSeq(a, "\n") {
			if !slices.Contains(lines, line) {
				fmt.Fprintf(&b, "  %s %s\n", mark, line)
			}
		}
	}
	compare("-", got, want)
	compare("+", want, got)
	return b.String()
}
