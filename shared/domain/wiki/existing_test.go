package wiki_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
)

// shelf is a table that answers one batch, as DynamoDB does: a key that stands
// in it twice is refused.
type shelf struct {
	record.Store
	pages map[key.Key]record.Item
	asked int
}

func (s *shelf) GetMany(_ context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	s.asked++
	found := map[key.Key]record.Item{}
	for i, k := range keys {
		if slices.Contains(keys[:i], k) {
			return nil, errors.New("a key stands twice in a batch")
		}
		if page, there := s.pages[k]; there {
			found[k] = page
		}
	}
	return found, nil
}

func TestExisting(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[key.Key]record.Item{key.Page(acme, "/a/1"): {}, key.Page(acme, "/b"): {}}
	for _, c := range []struct {
		name        string
		slugs, want []string
		batches     int
	}{
		{"none asked", nil, nil, 0},
		{"all malformed", []string{"", "a//1", "../b"}, nil, 0},
		{"in their order", []string{"b", "c", "a/1"}, []string{"b", "a/1"}, 1},
		{"as they were given", []string{"/a/1"}, []string{"/a/1"}, 1},
		{"twice, and in two spellings", []string{"b", "b", "/b"}, []string{"b", "/b"}, 1},
		{"a malformed one among them", []string{"a/../b", "b"}, []string{"b"}, 1},
		{"missing", []string{"a"}, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shelf{pages: pages}
			got, err := (&wiki.Reader{Store: s}).Existing(t.Context(), acme, c.slugs)
			if err != nil || !slices.Equal(got, c.want) || s.asked != c.batches {
				t.Errorf("got %v in %d batches, %v", got, s.asked, err)
			}
		})
	}
	other, err := identity.OperatorTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (&wiki.Reader{Store: &shelf{pages: pages}}).Existing(t.Context(), other, []string{"b"}); err != nil || got != nil {
		t.Errorf("another tenant's: %v, %v", got, err)
	}
}
