package bill_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/supply/bill"
)

// program is a Go program that holds what was linked into it: this test itself.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOf(t *testing.T) {
	first, err := bill.Of("test", program(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bill.Of("test", program(t), nil)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("another bill of the same program: %v", err)
	}
	var d struct {
		BomFormat, SpecVersion, SerialNumber string
		Metadata                             struct {
			Component struct {
				Type, Name string
				Hashes     []struct{ Alg, Content string }
			}
		}
		Components   []struct{ Name, Purl string }
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(first, &d); err != nil {
		t.Fatal(err)
	}
	if d.BomFormat != "CycloneDX" || d.SpecVersion != "1.6" || !strings.HasPrefix(d.SerialNumber, "urn:uuid:") || len(d.SerialNumber) != len("urn:uuid:")+36 {
		t.Errorf("the head: %+v", d)
	}
	if c := d.Metadata.Component; c.Type != "application" || c.Name != "test" || len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64 {
		t.Errorf("the program: %+v", c)
	}
	if len(d.Components) == 0 || d.Components[0].Name != "std" || !strings.HasPrefix(d.Components[0].Purl, "pkg:golang/std@1.") || len(d.Dependencies[0].DependsOn) != len(d.Components) {
		t.Errorf("the parts: %+v", d.Components)
	}
}

// What is no Go program has no bill: an empty one would look like a program of
// nothing.
func TestOfOther(t *testing.T) {
	path := t.TempDir() + "/x"
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "none"} {
		if out, err := bill.Of("x", file, nil); err == nil {
			t.Errorf("%s: %s", file, out)
		}
	}
}
