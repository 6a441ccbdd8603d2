// Package linked lists the modules that programs are built from, and the licence
// files that go with what is taken of each.
package linked

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Module is a module something is built from.
type Module struct {
	Path, Version string
	// Licences are the paths of its licence files: the module's own, and those
	// beside code that it took from elsewhere, as far as that code is linked.
	Licences []string
}

// Build is how programs are built as far as it decides what they link.
type Build struct {
	Folder string   // of the module that is built
	Env    []string // more environment, such as GOARCH=arm64
	Flags  []string // of go list, such as -tags and -test
}

// own is the module whose parts refer to it by a folder: it is ours in each.
const own = "github.com/robotmoney/mcp"

// listed is a package as go list tells of it.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version string }
	}
}

// Modules lists the modules that packages are built from, by path, without the
// standard library and what is ours.
func (b Build) Modules(packages ...string) ([]Module, error) {
	cmd := exec.Command("go", slices.Concat([]string{"list", "-deps", "-json=Dir,Standard,Module"}, b.Flags, packages)...)
	cmd.Dir, cmd.Env = b.Folder, append(os.Environ(), b.Env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list what %s links: %w\n%s", strings.Join(packages, " "), err, stderr.Bytes())
	}
	return modules(out)
}

func modules(out []byte) ([]Module, error) {
	found := map[string]*Module{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		if p.Standard || p.Module == nil || p.Module.Main || p.Module.Path == own {
			continue
		}
		if p.Module.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: what would be listed is not what is linked", p.Module.Path, p.Module.Replace.Path)
		}
		m := found[p.Module.Path]
		if m == nil {
			m = &Module{Path: p.Module.Path, Version: p.Module.Version}
			found[m.Path] = m
		}
		files, err := licences(p.Dir, p.Module.Dir)
		if err != nil {
			return nil, err
		}
		m.Licences = append(m.Licences, files...)
	}
	var list []Module
	for _, m := range found {
		slices.Sort(m.Licences)
		m.Licences = slices.Compact(m.Licences)
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// licenceFile are the names of files that hold a licence. A summary of licences
// is none.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)(s)?([.-](md|txt|rst|mit|bsd|apache|apache-2\.0|lesser|lambdacode))?$`)

// licences are the licence files in a package's folder and in those above it, up
// to the module's.
func licences(folder, module string) ([]string, error) {
	var files []string
	for {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("look for licences: %w", err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() && licenceFile.MatchString(e.Name()) {
				files = append(files, filepath.Join(folder, e.Name()))
			}
		}
		parent := filepath.Dir(folder)
		if folder == module || parent == folder {
			return files, nil
		}
		folder = parent
	}
}
