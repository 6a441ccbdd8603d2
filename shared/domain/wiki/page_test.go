package wiki_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/wiki"
)

var slugs = map[string]struct {
	text, want string // "!" refuses
}{
	"with a slash":       {"/monthly-summaries/2025-09", "/monthly-summaries/2025-09"},
	"without":            {"monthly-summaries/2025-09", "/monthly-summaries/2025-09"},
	"an entity's":        {"accounts/acct_8231", "/accounts/acct_8231"},
	"a quarter's":        {"/cash-flow/2025-Q3", "/cash-flow/2025-Q3"},
	"one segment":        {"x", "/x"},
	"dots inside":        {"a.b/c..d", "/a.b/c..d"},
	"199 bytes":          {strings.Repeat("a", 199), "/" + strings.Repeat("a", 199)},
	"200 bytes":          {strings.Repeat("a", 200), "!"},
	"empty":              {"", "!"},
	"slash alone":        {"/", "!"},
	"two slashes":        {"//accounts", "!"},
	"slash at the end":   {"accounts/", "!"},
	"empty segment":      {"accounts//acct_1", "!"},
	"dot":                {"./accounts", "!"},
	"dots":               {"accounts/../policies", "!"},
	"hash":               {"accounts#x", "!"},
	"percent":            {"accounts%2Facct_1", "!"},
	"blank":              {"accounts /x", "!"},
	"line break":         {"accounts\n", "!"},
	"zero byte":          {"accounts\x00", "!"},
	"accent":             {"café", "!"},
	"the template":       {"{slug}", "!"},
	"underscore first":   {"_accounts", "!"},
	"backslash":          {`accounts\x`, "!"},
	"question":           {"accounts?x=1", "!"},
	"right to left":      {"accounts\u202e", "!"},
	"no UTF-8":           {"accounts\xff", "!"},
	"fullwidth solidus":  {"accounts／x", "!"},
	"hyphen first below": {"accounts/-x", "!"},
}

func TestSlug(t *testing.T) {
	for name, c := range slugs {
		t.Run(name, func(t *testing.T) {
			got, ok := wiki.Slug(c.text)
			if ok != (c.want != "!") || ok && got != c.want {
				t.Errorf("Slug(%q) = %q, %v", c.text, got, ok)
			}
		})
	}
}

// A slug that is not one is answered as a page that is not there, and the reader
// has no table to ask for it.
func TestNoSuchPage(t *testing.T) {
	tenant, err := identity.OperatorTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range slugs {
		if c.want != "!" {
			continue
		}
		_, err := (&wiki.Reader{}).Page(t.Context(), tenant, c.text)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.WikiPageNotFound {
			t.Errorf("page %q: error = %v", c.text, err)
		}
	}
}

// FuzzSlug: what is accepted is a path of plain segments, and its own slug.
func FuzzSlug(f *testing.F) {
	for _, c := range slugs {
		f.Add(c.text)
	}
	plain := regexp.MustCompile(`\A[A-Za-z0-9._/-]+\z`)
	f.Fuzz(func(t *testing.T, text string) {
		slug, ok := wiki.Slug(text)
		if !ok {
			return
		}
		if again, ok := wiki.Slug(slug); !ok || again != slug {
			t.Fatalf("%q has the slug %q, and that %q", text, slug, again)
		}
		if !plain.MatchString(slug) || len(slug) > 200 || slug[0] != '/' {
			t.Fatalf("%q has the slug %q", text, slug)
		}
		for segment := range strings.SplitSeq(slug[1:], "/") {
			if segment == "" || segment == "." || segment == ".." {
				t.Fatalf("%q has the slug %q", text, slug)
			}
		}
	})
}
