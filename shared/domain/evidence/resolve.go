// Package evidence finds out what a reference in a proposal points at: whether
// it is there, and in a line what it is. It never fails over a bad reference:
// who judges a proposal must see which of its references hold and which do not.
package evidence

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
)

// Most is how many references one call resolves: with a page beside each they
// are one batch of reads.
const Most = 50

// Ref is a reference as a proposal carries it.
type Ref struct{ Kind, Ref string }

// Result is what a reference points at. One of Resolvable and NotFound is true,
// or neither is and Reason says why nothing could be looked for.
type Result struct {
	Kind       string  `json:"kind"`
	Ref        string  `json:"ref"`
	Resolvable bool    `json:"resolvable"`
	NotFound   bool    `json:"not_found"`
	Summary    *string `json:"summary"`
	DeepLink   *string `json:"deep_link"` // a brain:// URI; null where nothing can be opened
	Reason     *string `json:"reason"`
}

// WikiPage is the kind whose references are slugs and not ids.
const WikiPage = "wiki_page"

// row is a kind whose references are ledger ids.
type row struct {
	prefix  id.Prefix
	link    string // what opens it, before the id; empty for none
	summary func(body []byte, now time.Time) (string, error)
}

var rows = map[string]row{
	"account":      {id.Account, "brain://ledger/accounts/", account},
	"counterparty": {id.Counterparty, "", counterparty},
	"invoice":      {id.Invoice, "", invoice},
	"obligation":   {id.Obligation, "brain://ledger/obligations/", obligation},
	"transaction":  {id.Transaction, "brain://ledger/transactions/", transaction},
}

// Kinds lists the kinds that are looked for.
var Kinds = []string{"account", "counterparty", "invoice", "obligation", "transaction", WikiPage}

const pages = "brain://wiki/pages"

// Resolver resolves references.
type Resolver struct {
	Store record.Store
	Now   func() time.Time
}

// Resolve answers every reference, in their order, with one batch of reads. What
// is another tenant's is not found. The caller sends at most Most.
func (r *Resolver) Resolve(ctx context.Context, t identity.Tenant, refs []Ref) ([]Result, error) {
	wanted := make([]target, len(refs))
	var keys []key.Key
	for i, ref := range refs {
		wanted[i] = aim(t, ref)
		for _, k := range []key.Key{wanted[i].item, wanted[i].page} {
			if !k.Zero() {
				keys = append(keys, k)
			}
		}
	}
	found := map[key.Key]record.Item{}
	if len(keys) > 0 {
		var err error
		if found, err = r.Store.GetMany(ctx, keys); err != nil {
			return nil, err
		}
	}
	results := make([]Result, len(refs))
	for i, ref := range refs {
		var err error
		if results[i], err = r.result(ref, wanted[i], found); err != nil {
			return nil, fmt.Errorf("evidence %s %s: %w", ref.Kind, ref.Ref, err)
		}
	}
	return results, nil
}

// target is where a reference points.
type target struct {
	item, page key.Key // page: what opens a thing that has no resource of its own
	link       string  // what opens the item, or the page
	reason     string  // why there is nothing to look for
}

// aim finds the keys of a reference without reading anything.
func aim(t identity.Tenant, ref Ref) target {
	if ref.Kind == WikiPage {
		slug, ok := wiki.Slug(ref.Ref)
		if !ok {
			return target{reason: "The ref is no wiki slug such as /monthly-summaries/2025-09."}
		}
		return target{item: key.Page(t, slug), link: pages + slug}
	}
	kind, known := rows[ref.Kind]
	if !known {
		return target{reason: "This kind cannot be resolved. The kinds are " + strings.Join(Kinds, ", ") + "."}
	}
	if id.Check(kind.prefix, ref.Ref) != nil {
		return target{reason: fmt.Sprintf("The ref is no id of this kind: want %s_ and then letters, digits, _ or -.", kind.prefix)}
	}
	to := target{item: key.Ledger(t, kind.prefix, ref.Ref)}
	switch {
	case kind.link != "":
		to.link = kind.link + ref.Ref
	case kind.prefix == id.Counterparty:
		slug, _ := wiki.Slug("/counterparties/" + ref.Ref)
		to.page, to.link = key.Page(t, slug), pages+slug
	}
	return to
}

func (r *Resolver) result(ref Ref, to target, found map[key.Key]record.Item) (Result, error) {
	result := Result{Kind: ref.Kind, Ref: ref.Ref}
	if to.reason != "" {
		result.Reason = &to.reason
		return result, nil
	}
	item, there := found[to.item]
	if !there {
		reason := "There is nothing under this ref."
		result.NotFound, result.Reason = true, &reason
		return result, nil
	}
	summarize := page
	if kind, isRow := rows[ref.Kind]; isRow {
		summarize = kind.summary
	}
	summary, err := summarize(item.Body, r.Now().UTC())
	if err != nil {
		return result, err
	}
	result.Resolvable, result.Summary = true, &summary
	// A link that opens nothing would be worse than none.
	if _, opens := found[to.page]; to.link != "" && (to.page.Zero() || opens) {
		result.DeepLink = &to.link
	}
	return result, nil
}

// Addressable says whether a reference is of a kind and a form that can be looked
// for, without looking.
func Addressable(ref Ref) bool { return aim(identity.Tenant{}, ref).reason == "" }
