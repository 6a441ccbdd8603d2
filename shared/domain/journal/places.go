package journal

import (
	"bytes"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Preimage is what the entry's hash is made of: the canonical JSON of its
// members event, prev_hash and seq.
func (e Entry) Preimage() []byte { return e.preimage() }

// Subjects are the actions the entry's event is about.
func (e Entry) Subjects() claim.Subjects { return subjects(e.Event) }

// subjects are the actions an event is about. One that cannot be read is about
// none; it has its place in the chain all the same.
func subjects(event []byte) claim.Subjects {
	// Most events are of reads and name no action: they need not be read.
	if !slices.ContainsFunc(actions, func(start []byte) bool { return bytes.Contains(event, start) }) {
		return claim.Subjects{}
	}
	object, err := claim.ParseObject(event)
	if err != nil {
		return claim.Subjects{}
	}
	return claim.SubjectsOf(object)
}

// actions are how the text of an action's id begins in an event.
var actions = [][]byte{[]byte(`"pi_`), []byte(`"prop_`), []byte(`"authz_`), []byte(`"exec_`)}

// places are where an entry is found by the actions it is about: each kind of
// action has an index of its own, so that one query finds all about one.
func places(t identity.Tenant, s claim.Subjects, at func(identity.Tenant, string, int64) key.Key, seq int64) (index [3]key.Key) {
	for _, action := range []string{s.Case, s.Authorization, s.Execution} {
		if action != "" {
			index[claim.Index(action)-1] = at(t, action, seq)
		}
	}
	return index
}

// PathPlaces are the places of what leads from an entry to its root: beside
// those of the entry itself.
func PathPlaces(t identity.Tenant, s claim.Subjects, seq int64) [3]key.Key {
	return places(t, s, key.ProofPath, seq)
}

// entryPut is the operation that stores an entry.
func entryPut(t identity.Tenant, entry Entry) record.Put {
	item := record.Item{Key: key.JournalEntry(t, entry.Seq), Body: entry.Line()}
	item.Index = places(t, entry.Subjects(), key.ProofEntry, entry.Seq)
	return record.Put{Item: item}
}

// begin marks that a tenant has a journal, with its first entries.
func begin(t identity.Tenant) record.Put {
	return record.Put{Item: record.Item{Key: key.Journals(t)}, Blind: true}
}
