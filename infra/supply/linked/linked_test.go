package linked_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/robotmoney/mcp/infra/supply/linked"
)

// What the function mcp links is listed by path, with licence files that are
// there, and neither ours nor Go's own is among it.
func TestModules(t *testing.T) {
	list, err := linked.Build{Folder: "../../.."}.Modules("./functions/mcp")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range list {
		paths = append(paths, m.Path)
		if m.Version == "" || len(m.Licences) == 0 {
			t.Errorf("%+v", m)
		}
		for _, file := range m.Licences {
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || !filepath.IsAbs(file) {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if !slices.IsSorted(paths) || !slices.Contains(paths, "github.com/aws/aws-lambda-go") || slices.Contains(paths, "github.com/robotmoney/mcp") || slices.Contains(paths, "std") {
		t.Errorf("%v", paths)
	}
	if _, err := (linked.Build{Folder: "../../.."}).Modules("./functions/nowhere"); err == nil {
		t.Error("what is not there links something")
	}
}
