package catalog_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

var nobody = identity.Principal{Kind: identity.Agent, ID: "agt_1"}

// matcher mounts one template and returns what reading a URI hands to it; nil
// when the URI is not of its family.
func matcher(t testing.TB, template, match string) func(uri string) catalog.Vars {
	t.Helper()
	var got catalog.Vars
	c := &catalog.Catalog{}
	err := c.Mount(catalog.Provider{Name: "p", Templates: []catalog.Template{{
		URITemplate: template, Match: match,
		Read: func(_ context.Context, _ catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
			got = vars
			return catalog.Text(""), nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return func(uri string) catalog.Vars {
		target, found := c.Resource(uri, nobody)
		if !found {
			return nil
		}
		_, _ = target.Read(context.Background(), catalog.Call{})
		return got
	}
}

func TestPatterns(t *testing.T) {
	const slug = "x://pages/{+slug}"
	long := strings.Repeat("a", 2<<10-len("x://pages/"))
	for _, c := range []struct {
		template, uri string
		want          catalog.Vars // nil is no match
	}{
		{"x://rows/{id}", "x://rows/1", catalog.Vars{"id": "1"}},
		{"x://rows/{id}", "x://rows/a.b-c_d~e", catalog.Vars{"id": "a.b-c_d~e"}},
		{"x://rows/{id}", "x://rows/%C3%A9", catalog.Vars{"id": "é"}},
		{"x://rows/{id}", "x://rows/a%2Fb", catalog.Vars{"id": "a/b"}},
		{"x://rows/{id}", "x://rows/a%2fb", catalog.Vars{"id": "a/b"}},
		{"x://rows/{id}", "x://rows/%2541", catalog.Vars{"id": "%41"}}, // decoded once
		{"x://rows/{id}", "x://rows/a+b", catalog.Vars{"id": "a+b"}},   // no form
		{"x://rows/{id}", "x://rows/%20", catalog.Vars{"id": " "}},
		{"x://rows/{id}", "x://rows/a/b", nil},
		{"x://rows/{id}", "x://rows/a?b", nil},
		{"x://rows/{id}", "x://rows/a#b", nil},
		{"x://rows/{id}", "x://rows/", nil},
		{"x://rows/{id}", "x://rows", nil},
		{"x://rows/{id}", "", nil},
		{"x://rows/{id}", "X://rows/1", nil},
		{"x://rows/{id}", " x://rows/1", nil},
		{"x://rows/{id}", "x://rows/%", nil},
		{"x://rows/{id}", "x://rows/%4", nil},
		{"x://rows/{id}", "x://rows/%zz", nil},
		{"x://rows/{id}", "x://rows/{id}", catalog.Vars{"id": "{id}"}}, // the reader says not found
		{"x://rows/{id}", "x://rows/" + long + "aaaaaaaaaa", nil},

		{slug, "x://pages/a/b/c", catalog.Vars{"slug": "a/b/c"}},
		{slug, "x://pages/a%2Fb", catalog.Vars{"slug": "a/b"}},
		{slug, "x://pages//a", catalog.Vars{"slug": "/a"}},
		{slug, "x://pages/../a", catalog.Vars{"slug": "../a"}},
		{slug, "x://pages/a?b#c", catalog.Vars{"slug": "a?b#c"}},
		{slug, "x://pages/%252F", catalog.Vars{"slug": "%2F"}},
		{slug, "x://pages/" + long, catalog.Vars{"slug": long}},
		{slug, "x://pages/" + long + "a", nil},
		{slug, "x://pages/", nil},

		{"x://{a}/rows/{b}", "x://1/rows/2", catalog.Vars{"a": "1", "b": "2"}},
		{"x://{a}/rows/{b}", "x://1/2/rows/3", nil},
		{"x://{a}/rows/{b}", "x:///rows/3", nil},
		{"x://{a}/rows/{b}", "x://1/rows/", nil},
		{"x://{a}/rows/{b}", "x://1%2Frows%2F2/rows/3", catalog.Vars{"a": "1/rows/2", "b": "3"}},
		{"x://{+a}/end", "x://1/end/2/end", catalog.Vars{"a": "1/end/2"}},
		{"x://{+a}/end", "x://1/end/2", nil},
		{"x://{a}-{b}.json", "x://1-2.json", catalog.Vars{"a": "1", "b": "2"}},
		{"{a}", "x", catalog.Vars{"a": "x"}},
		{"x://none", "x://none", catalog.Vars{}},
		{"x://none", "x://none/", nil},
	} {
		t.Run(c.template+" on "+fmt.Sprintf("%.40q", c.uri), func(t *testing.T) {
			got := matcher(t, c.template, "")(c.uri)
			if (got == nil) != (c.want == nil) || !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestMatchStandsInForThePrintedTemplate(t *testing.T) {
	match := matcher(t, "x://pages/{slug}", "x://pages/{+slug}")
	if got := match("x://pages/a/b"); got["slug"] != "a/b" {
		t.Errorf("got %v", got)
	}
}

func TestMountRefusesTemplatesNobodyCouldMatch(t *testing.T) {
	for _, template := range []string{
		"x://{a}{b}", "x://{+a}{b}", "x://{}", "x://{a", "x://a}", "x://{{a}}", "x://{a}/{a}", "x://{a}/{+a}",
		"x://{?a}", "x://{a,b}", "x://{a*}", "x://{a:3}", "x://{#a}", "x://{/a}", "x://{1a}", "x://{a b}", "x://{ä}",
	} {
		c := &catalog.Catalog{}
		for _, one := range []catalog.Template{{URITemplate: template}, {URITemplate: "x://{ok}", Match: template}} {
			if err := c.Mount(catalog.Provider{Name: "p", Templates: []catalog.Template{one}}); err == nil {
				t.Errorf("%s is mounted", template)
			}
		}
		if len(c.Templates(nobody)) != 0 {
			t.Errorf("%s: something is mounted after a refusal", template)
		}
	}
}

func TestTemplateHas(t *testing.T) {
	c := &catalog.Catalog{}
	must(t, c.Mount(catalog.Provider{Name: "p", Templates: []catalog.Template{{URITemplate: "x://{a}/{b}"}}}))
	template, found := c.Template("x://{a}/{b}", nobody)
	if !found {
		t.Fatal("not found by its text")
	}
	for variable, want := range map[string]bool{"a": true, "b": true, "c": false, "": false, "A": false} {
		if template.Has(variable) != want {
			t.Errorf("Has(%q) is %v", variable, !want)
		}
	}
	if _, found := c.Template("x://1/2", nobody); found {
		t.Error("found by a URI of its family")
	}
}

// escape percent-encodes a value as RFC 6570 does for {x}; keep names what else
// stands as it is.
func escape(value, keep string) string {
	var out strings.Builder
	for _, c := range []byte(value) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~"+keep, c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func FuzzPattern(f *testing.F) {
	f.Add("1", "2", "a/b", "x://1/rows/2/a/b")
	f.Add("%2F", "é", "%", "x://%/rows/%zz/")
	f.Add("\x00", "\xff", "//", "x:///rows//")
	f.Add("/rows/", "}", "?#", "x://{a}/rows/{b}/{+c}")
	match := matcher(f, "x://{a}/rows/{b}/{+c}", "")
	f.Fuzz(func(t *testing.T, a, b, c, hostile string) {
		match(hostile) // never panics
		uri := "x://" + escape(a, "") + "/rows/" + escape(b, "") + "/" + escape(c, "/:?#[]@!$&'()*+,;=")
		got := match(uri)
		if a == "" || b == "" || c == "" || len(uri) > 2<<10 {
			if got != nil {
				t.Errorf("%q matches as %q", uri, got)
			}
			return
		}
		if want := (catalog.Vars{"a": a, "b": b, "c": c}); !maps.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", uri, got, want)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
