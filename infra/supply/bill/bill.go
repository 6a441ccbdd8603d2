// Package bill writes the bill of materials of a program: CycloneDX 1.6 in JSON,
// from what the linker wrote into the program itself. Nothing in it depends on
// when or where it is written.
package bill

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
)

// document is a CycloneDX document, as far as ours go.
type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

// component is a program or a module.
type component struct {
	Type       string     `json:"type"` // application or library
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"` // of the program's file
	Licences   []choice   `json:"licenses,omitempty"`
	URL        string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type choice struct {
	Licence licence `json:"license"`
}

type licence struct {
	ID string `json:"id"` // SPDX
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// Of writes the bill of a Go program in a file, under a name. licences are SPDX
// identifiers by the path of a module; a module without one is an error, so that
// a bill never says less than is known.
func Of(name, file string, licences map[string][]string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("bill of %s: %w", name, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("bill of %s: what was linked into %s: %w", name, file, err)
	}
	sum := sha256.Sum256(text)
	program := component{Type: "application", Ref: info.Path, Name: name, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Properties: settings(info)}
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Serial: "urn:uuid:" + uuid(sum), Metadata: metadata{program}}
	d.Components = append(d.Components, standard(info.GoVersion))
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("bill of %s: %s is replaced by %s", name, m.Path, m.Replace.Path)
		}
		if len(licences[m.Path]) == 0 {
			return nil, fmt.Errorf("bill of %s: %s has no licence", name, m.Path)
		}
		d.Components = append(d.Components, library(m.Path, m.Version, licences[m.Path], m.Sum))
	}
	all := dependency{Ref: program.Ref}
	for _, c := range d.Components {
		all.On = append(all.On, c.Ref)
		d.Dependencies = append(d.Dependencies, dependency{Ref: c.Ref})
	}
	d.Dependencies = append([]dependency{all}, d.Dependencies...)
	out, err := json.MarshalIndent(d, "", "  ")
	return append(out, '\n'), err
}

// settings are how the program was built.
func settings(info *debug.BuildInfo) []property {
	list := []property{{"go:version", info.GoVersion}}
	for _, s := range info.Settings {
		list = append(list, property{"go:build:" + s.Key, s.Value})
	}
	return list
}

// standard is Go's own library, which is no module. A Go version may carry
// experiments behind a blank.
func standard(version string) component {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ")
	return library("std", version, []string{"BSD-3-Clause"}, "")
}

// library is a module. Its sum is the one of go.sum.
func library(path, version string, ids []string, sum string) component {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	address := "pkg:golang/" + strings.Join(segments, "/") + "@" + url.PathEscape(version)
	c := component{Type: "library", Ref: address, Name: path, Version: version, URL: address}
	for _, id := range ids {
		c.Licences = append(c.Licences, choice{licence{id}})
	}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

// uuid makes the document's number of the program's hash: the same program has
// the same bill. It is of version 8, which leaves the other bits to whoever makes
// it.
func uuid(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
