package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/canonical"
)

// The sizes of a document. They bound what a judgement costs, and a stored
// document has to fit one item.
const (
	MaxBytes       = 256 << 10
	MaxRules       = 1000
	MaxLists       = 200
	MaxIDs         = 10_000 // in all lists
	maxDescription = 500    // characters
	maxRequire     = 10     // people a rule may ask for
)

// The letters that names, ids and words of a document are made of: none that
// needs escaping, and none with a twin elsewhere in Unicode.
const (
	lower  = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
	either = "ABCDEFGHIJKLMNOPQRSTUVWXYZ:" + lower
)

// form is what a text must look like.
type form struct {
	letters string
	most    int
	wanted  string // in words
}

var (
	nameForm = form{lower, 64, "1 to 64 of a-z 0-9 _ . -"}
	listForm = form{lower, 64, "a list's name of 1 to 64 of a-z 0-9 _ . -"}
	idForm   = form{either, 128, "an id of 1 to 128 of A-Z a-z 0-9 _ . : -"}
	wordForm = form{either, 64, "1 to 64 of A-Z a-z 0-9 _ . : -"}
)

func (f form) takes(s string) bool {
	return s != "" && len(s) <= f.most && strings.Trim(s, f.letters) == ""
}

// text reads a string of the form.
func (f form) text(n node) (string, error) {
	s, ok := n.value.(string)
	if !ok || !f.takes(s) {
		return "", wrong(n, f.wanted)
	}
	return s, nil
}

// maxWhole is 2^53: the canonical form has no larger whole number.
const maxWhole = 1 << 53

var (
	allClasses  = []Class{OutboundPayment, InboundPayment, OnchainTx, LedgerWrite, AgentAction, Any}
	allOutcomes = []Outcome{Auto, Confirm, Reject}
	allRoles    = []string{RoleApprover, RoleAdmin, RoleSigner}
)

// Parse reads a document and checks every value in it. Nothing is passed over:
// an unknown key may be a condition somebody mistyped, and the rule would match
// more than was meant. The error names the rule and the key, what was read and
// what was expected, and is for whoever wrote the document.
//
// What Parse takes, Hash takes. A document that contradicts itself is taken too;
// Lint finds that.
func Parse(raw []byte) (Document, error) {
	d := Document{Lists: map[string][]string{}}
	if len(raw) > MaxBytes {
		return Document{}, fmt.Errorf("read %d bytes, want at most %d", len(raw), MaxBytes)
	}
	if !utf8.Valid(raw) {
		return Document{}, errors.New("the document is not UTF-8")
	}
	tree, err := readTree(raw)
	if err != nil {
		return Document{}, fmt.Errorf("read JSON: %w", err)
	}
	err = tree.object(
		must("version", set(&d.Version, whole(1))),
		may("lists", set(&d.Lists, lists)),
		must("rules", set(&d.Rules, rules)),
	)
	if err != nil {
		return Document{}, err
	}
	if _, err := canonical.Transform(raw); err != nil {
		return Document{}, err
	}
	d.limits = map[Sum]limit{}
	for i := range d.Rules {
		for _, s := range d.Rules[i].When.sums() {
			if d.limits[*s], err = readLimit(*s); err != nil {
				return Document{}, namedRule(d.Rules[i].ID, err)
			}
		}
	}
	return d, nil
}

// Hash is the SHA-256 of the document's canonical form, which is what signers
// sign. It is over what was written: "100" and "100.00" are two documents.
func Hash(raw []byte) ([sha256.Size]byte, error) {
	text, err := canonical.Transform(raw)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("hash policy: %w", err)
	}
	return sha256.Sum256(text), nil
}

// lists reads the named lists.
func lists(n node) (map[string][]string, error) {
	members, ok := n.value.([]member)
	if !ok {
		return nil, wrong(n, "an object")
	}
	if len(members) > MaxLists {
		return nil, &placed{reason: fmt.Sprintf("read %d lists, want at most %d", len(members), MaxLists)}
	}
	all, total := make(map[string][]string, len(members)), 0
	for _, m := range members {
		if !listForm.takes(m.name) {
			return nil, wrong(node{m.name}, listForm.wanted)
		}
		if _, twice := all[m.name]; twice {
			return nil, &placed{reason: "the key " + m.name + " stands twice"}
		}
		ids, err := list(0, idForm.text)(m.node)
		if err != nil {
			return nil, under(m.name, err)
		}
		if total += len(ids); total > MaxIDs {
			return nil, under(m.name, &placed{reason: fmt.Sprintf("the lists hold more than %d ids in all", MaxIDs)})
		}
		all[m.name] = ids
	}
	return all, nil
}

// rules reads the rules, whose ids are each their own.
func rules(n node) ([]Rule, error) {
	items, ok := n.value.([]node)
	if !ok {
		return nil, wrong(n, "an array")
	}
	if len(items) > MaxRules {
		return nil, &placed{reason: fmt.Sprintf("read %d rules, want at most %d", len(items), MaxRules)}
	}
	all, seen := make([]Rule, 0, len(items)), make(map[string]bool, len(items))
	for i, item := range items {
		r, err := readRule(item)
		if err == nil && seen[r.ID] {
			err = under("id", &placed{reason: "read " + r.ID + " a second time, want an id of its own"})
		}
		if err != nil {
			return nil, inRule(i, item, err)
		}
		seen[r.ID] = true
		all = append(all, r)
	}
	return all, nil
}

func readRule(n node) (r Rule, err error) {
	err = n.object(
		must("id", set(&r.ID, nameForm.text)),
		may("description", set(&r.Description, description)),
		must("applies_to", set(&r.AppliesTo, list(1, oneOf(allClasses)))),
		must("when", set(&r.When, when)),
		must("execute", set(&r.Execute, oneOf(allOutcomes))),
		may("require", set(&r.Require, require)),
		may("required_evidence_kinds", set(&r.EvidenceKinds, list(0, wordForm.text))),
	)
	return r, err
}

// inRule names the rule an error is in: by its id if it has one, and else by its
// place, counted from 0.
func inRule(i int, n node, err error) error {
	members, _ := n.value.([]member)
	at := slices.IndexFunc(members, func(m member) bool { return m.name == "id" })
	if at >= 0 {
		if name, ok := members[at].node.value.(string); ok && nameForm.takes(name) {
			return namedRule(name, err)
		}
	}
	return under(index(i), err)
}

func require(n node) ([]string, error) {
	roles, err := list(0, oneOf(allRoles))(n)
	if err == nil && len(roles) > maxRequire {
		err = &placed{reason: fmt.Sprintf("read %d roles, want at most %d", len(roles), maxRequire)}
	}
	return roles, err
}

func description(n node) (string, error) {
	s, ok := n.value.(string)
	if !ok || utf8.RuneCountInString(s) > maxDescription {
		return "", wrong(n, "a text of at most "+strconv.Itoa(maxDescription)+" characters")
	}
	return s, nil
}

// oneOf reads a word of a vocabulary.
func oneOf[T ~string](words []T) func(node) (T, error) {
	return func(n node) (T, error) {
		s, ok := n.value.(string)
		if !ok || !slices.Contains(words, T(s)) {
			return "", wrong(n, "one of "+joined(words))
		}
		return T(s), nil
	}
}

func joined[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return strings.Join(all, ", ")
}
