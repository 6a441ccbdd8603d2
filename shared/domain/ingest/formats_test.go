package ingest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/ingest"
)

// Every file that the readers are held against can be stored, and adds nothing
// when its entries come again in another file.
func TestEveryFormat(t *testing.T) {
	paths, err := filepath.Glob("../statement/*/testdata/*")
	noError(t, err)
	seen := map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		noError(t, err)
		if filepath.Ext(path) == ".txt" || info.IsDir() {
			continue // what was read, as text
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			body, err := os.ReadFile(path)
			noError(t, err)
			w := newWorld(t)
			first := w.load(t, string(body))
			seen[first.Parser] = true
			if first.Transactions.New == 0 || first.Transactions != (ingest.Count{New: first.Entries - first.Informational}) {
				t.Errorf("%d entries, %d of them no bookings: %+v", first.Entries, first.Informational, first.Transactions)
			}
			facts := w.facts(t)
			again := w.load(t, string(body)+"\n\n")
			equal(t, "again", again.Transactions, ingest.Count{Known: first.Transactions.New})
			equal(t, "facts", w.facts(t), facts)
			w.sound(t, first.Transactions.New)
		})
	}
	equal(t, "formats", len(seen), 4)
}
