package journal_test

import (
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// TestPlaces pins where a journal lies: what was written is found by no other
// key, and the role of who appends covers these partitions alone.
func TestPlaces(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	k := func(pk, sk string) key.Key { return key.Key{PK: pk, SK: sk} }
	for name, c := range map[string]struct{ got, want key.Key }{
		"head":            {key.JournalHead(acme), k("tenant#acme#journal", "head")},
		"first entry":     {key.JournalEntry(acme, 0), k("tenant#acme#journal#entry#00", "0000000000000000000")},
		"end of a block":  {key.JournalEntry(acme, 63), k("tenant#acme#journal#entry#00", "0000000000000000063")},
		"the next block":  {key.JournalEntry(acme, 64), k("tenant#acme#journal#entry#01", "0000000000000000064")},
		"the last shard":  {key.JournalEntry(acme, 1023), k("tenant#acme#journal#entry#15", "0000000000000001023")},
		"the first again": {key.JournalEntry(acme, 1024), k("tenant#acme#journal#entry#00", "0000000000000001024")},
		"mark":            {key.JournalMark(acme, "evt_1"), k("tenant#acme#journal#mark#02", "evt_1")},
	} {
		equal(t, name, c.got, c.want)
	}
}
