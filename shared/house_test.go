package shared_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/robotmoney/mcp"
	shared = module + "/shared/"
)

// may says which layers a layer imports: edge → surface → domain ← platform.
// Only the entry points, functions and infra, see all of them.
var may = map[string][]string{
	"edge":     {"edge", "surface", "domain"},
	"surface":  {"surface", "domain"},
	"platform": {"platform", "domain"},
	"domain":   {"domain"},
}

// foreign is what a layer links from outside only with a reason: the domain
// decides and touches nothing, and what touches the outside is the platform.
var foreign = map[string][]string{
	"domain":  {"github.com/aws/", "net/http", "net", "os", "database/sql"},
	"surface": {"github.com/aws/", "database/sql"},
	"edge":    {"github.com/aws/aws-sdk-go-v2", "database/sql"},
}

// listed is a package as the go command lists it. Imports leave out those of
// test files, which may reach for a real engine.
type listed struct {
	ImportPath, Dir string
	Imports, Deps   []string
	GoFiles         []string
}

// list asks the go command about packages.
func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Imports,Deps,GoFiles"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, &stderr)
	}
	var found []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, p)
	}
}

// layer is the first folder below shared, empty for a package that is not there.
func layer(path string) string {
	rest, ok := strings.CutPrefix(path, shared)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		if len(p.GoFiles) == 0 {
			continue // this package: tests alone
		}
		own := layer(p.ImportPath)
		allowed, known := may[own]
		if !known {
			t.Errorf("%s is in no layer: shared holds edge, surface, domain and platform", p.ImportPath)
			continue
		}
		seen[own] = true
		for _, imported := range p.Imports {
			switch to := layer(imported); {
			case to != "" && !slices.Contains(allowed, to):
				t.Errorf("%s imports %s: the layer %s sees %v and not %s", p.ImportPath, imported, own, allowed, to)
			case to == "" && strings.HasPrefix(imported, module+"/"):
				t.Errorf("%s imports %s: nothing under shared imports an entry point", p.ImportPath, imported)
			}
		}
	}
	for name := range may {
		if !seen[name] {
			t.Errorf("no package of the layer %s was listed: the test looks in the wrong place", name)
		}
	}
}

// What a package links by way of others counts as much as what it imports.
func TestForeignImports(t *testing.T) {
	for _, p := range list(t, "./...") {
		own := layer(p.ImportPath)
		for _, linked := range p.Imports {
			for _, unwanted := range foreign[own] {
				if within(linked, unwanted) {
					t.Errorf("%s imports %s: the layer %s must not", p.ImportPath, linked, own)
				}
			}
		}
		for _, linked := range p.Deps {
			for _, unwanted := range []string{"github.com/aws/", "net/http"} {
				if own == "domain" && within(linked, unwanted) {
					t.Errorf("%s links %s through another package", p.ImportPath, linked)
				}
			}
		}
	}
}

// within says whether a package is one or lies below one that ends in a slash
// or names a module.
func within(path, unwanted string) bool {
	return path == unwanted || strings.HasPrefix(path, strings.TrimSuffix(unwanted, "/")+"/") && strings.Contains(unwanted, ".")
}

// The domain knows nothing of the protocol it is reached by.
func TestDomainKnowsNoProtocol(t *testing.T) {
	for _, p := range list(t, "./domain/...") {
		for _, name := range p.GoFiles {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{`"jsonrpc"`, `json:"jsonrpc`, "-32600", "-32601", "-32602", "-32603"} {
				if bytes.Contains(source, []byte(word)) {
					t.Errorf("%s/%s holds %s: JSON-RPC is the surface's", p.ImportPath, name, word)
				}
			}
		}
	}
}

// TestDomainHasNoClock: time comes in as a value or as a func() time.Time. A
// decision that looks at the clock itself cannot be tried at a bound.
func TestDomainHasNoClock(t *testing.T) {
	for _, p := range list(t, "./domain/...") {
		for _, name := range p.GoFiles {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"time.Now", "time.Since(", "time.Until(", "time.Sleep("} {
				if bytes.Contains(source, []byte(call)) {
					t.Errorf("%s/%s calls %s: the domain is given its time", p.ImportPath, name, call)
				}
			}
		}
	}
}

// TestOneClock: every function takes its time from the one clock, so that a clock
// that is wrong is wrong for all of a function (make chaos).
func TestOneClock(t *testing.T) {
	packages := slices.Concat(list(t, "./..."), list(t, "../functions/..."))
	for _, p := range packages {
		for _, name := range p.GoFiles {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if p.ImportPath != shared+"platform/clock" && bytes.Contains(source, []byte("time.Now")) {
				t.Errorf("%s/%s calls time.Now: the clock is shared/platform/clock", p.ImportPath, name)
			}
		}
	}
}

// TestFunctionsLink: go-ethereum is under a licence that the functions must not
// carry, and the official MCP SDK is what they are tested against.
func TestFunctionsLink(t *testing.T) {
	functions := list(t, "../functions/...")
	if len(functions) == 0 {
		t.Fatal("no function was listed")
	}
	for _, p := range functions {
		for _, unwanted := range []string{
			"github.com/ethereum/go-ethereum", "github.com/modelcontextprotocol/go-sdk", "github.com/johannesboyne/gofakes3",
			module + "/infra",
		} {
			for _, linked := range p.Deps {
				if linked == unwanted || strings.HasPrefix(linked, unwanted+"/") {
					t.Errorf("%s links %s", p.ImportPath, linked)
				}
			}
		}
	}
}
