package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

func text(s string) func(context.Context, catalog.Call) (catalog.Contents, error) {
	return func(context.Context, catalog.Call) (catalog.Contents, error) { return catalog.Text(s), nil }
}

func fixed(uri string, scopes ...identity.Scope) catalog.Resource {
	return catalog.Resource{URI: uri, Name: uri, Scopes: scopes, Read: text(uri)}
}

// family is a template whose rows are named by their URIs.
func family(template string, scopes []identity.Scope, listed ...string) catalog.Template {
	return catalog.Template{
		URITemplate: template, Name: template, Scopes: scopes,
		Read: func(_ context.Context, _ catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
			return catalog.Text(template + " " + vars["id"]), nil
		},
		List: func(context.Context, catalog.Call) ([]catalog.Resource, error) {
			var rows []catalog.Resource
			for _, uri := range listed {
				rows = append(rows, catalog.Resource{URI: uri, Name: "row " + uri})
			}
			return rows, nil
		},
	}
}

func mounted(t *testing.T, providers ...catalog.Provider) *catalog.Catalog {
	t.Helper()
	c := &catalog.Catalog{}
	for _, p := range providers {
		must(t, c.Mount(p))
	}
	return c
}

func uris(t *testing.T, c *catalog.Catalog, who identity.Principal) []string {
	t.Helper()
	resources, err := c.Resources(context.Background(), catalog.Call{Principal: who})
	must(t, err)
	var list []string
	for _, r := range resources {
		list = append(list, r.URI)
	}
	return list
}

// content reads a URI and returns its one content; empty when there is none.
func content(t *testing.T, c *catalog.Catalog, uri string, who identity.Principal) string {
	t.Helper()
	target, found := c.Resource(uri, who)
	if !found {
		return ""
	}
	contents, err := target.Read(context.Background(), catalog.Call{Principal: who})
	must(t, err)
	raw, err := contents.Encode(uri)
	must(t, err)
	var list []struct{ Text string }
	must(t, json.Unmarshal(raw, &list))
	return list[0].Text
}

func TestMountRefusesWhatIsHeld(t *testing.T) {
	first := catalog.Provider{
		Name: "first", Resources: []catalog.Resource{fixed("x://a")}, Templates: []catalog.Template{family("x://rows/{id}", nil)},
		Prompts: []catalog.Prompt{{Name: "ask"}}, Tools: []catalog.Tool{{Name: "a.b_c"}},
	}
	for _, c := range []struct {
		name   string
		second catalog.Provider
		taken  string // empty when it may be mounted
	}{
		{"nothing in common", catalog.Provider{Resources: []catalog.Resource{fixed("x://b")}}, ""},
		{"a URI", catalog.Provider{Resources: []catalog.Resource{fixed("x://a")}}, "x://a"},
		{"a template", catalog.Provider{Templates: []catalog.Template{family("x://rows/{id}", nil)}}, "x://rows/{id}"},
		{"a prompt", catalog.Provider{Prompts: []catalog.Prompt{{Name: "ask"}}}, "ask"},
		{"a tool", catalog.Provider{Tools: []catalog.Tool{{Name: "a.b_c"}}}, "a_b_c"},
		{"a tool whose other spelling is the same", catalog.Provider{Tools: []catalog.Tool{{Name: "a_b.c"}}}, "a_b_c"},
		{"a URI inside another's family", catalog.Provider{Resources: []catalog.Resource{fixed("x://rows/1")}}, ""},
		{"a URI twice in itself", catalog.Provider{Resources: []catalog.Resource{fixed("x://c"), fixed("x://c")}}, "x://c"},
		{"names are of their kind", catalog.Provider{Prompts: []catalog.Prompt{{Name: "a_b_c"}}, Tools: []catalog.Tool{{Name: "ask"}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cat := mounted(t, first)
			c.second.Name = "second"
			before := uris(t, cat, nobody)
			err := cat.Mount(c.second)
			if (err != nil) != (c.taken != "") {
				t.Fatalf("error %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), "second") || !strings.Contains(err.Error(), c.taken)) {
				t.Errorf("the error does not say what is taken: %v", err)
			}
			if err != nil && !slices.Equal(uris(t, cat, nobody), before) {
				t.Error("a refused provider left something behind")
			}
		})
	}
}

func TestMountReplacesByName(t *testing.T) {
	c := mounted(t,
		catalog.Provider{Name: "a", Resources: []catalog.Resource{fixed("x://a"), fixed("x://both")}, Tools: []catalog.Tool{{Name: "t.a"}}},
		catalog.Provider{Name: "b", Resources: []catalog.Resource{fixed("x://b")}},
		catalog.Provider{Name: "a", Resources: []catalog.Resource{fixed("x://a2"), fixed("x://both")}},
	)
	// In the place of the one it replaces: the order of the lists is fixed.
	if got := uris(t, c, nobody); !slices.Equal(got, []string{"x://a2", "x://both", "x://b"}) {
		t.Errorf("resources %v", got)
	}
	if len(c.Tools()) != 0 {
		t.Error("a tool of the replaced provider is left")
	}
	if err := c.Mount(catalog.Provider{Name: "a", Resources: []catalog.Resource{fixed("x://b")}}); err == nil {
		t.Error("a replacement took another provider's URI")
	}
	if got := uris(t, c, nobody); !slices.Equal(got, []string{"x://a2", "x://both", "x://b"}) {
		t.Errorf("after a refused replacement %v", got)
	}
}

func TestToolsAndPrompts(t *testing.T) {
	c := mounted(t,
		catalog.Provider{Name: "a", Tools: []catalog.Tool{{Name: "z.one"}, {Name: "a.two_b"}}, Prompts: []catalog.Prompt{{Name: "p"}}},
		catalog.Provider{Name: "b", Tools: []catalog.Tool{{Name: "m"}}, Prompts: []catalog.Prompt{{Name: "a"}}})
	var names []string
	for _, tool := range c.Tools() {
		names = append(names, tool.Name)
	}
	if want := []string{"z.one", "a.two_b", "m"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
	for spelling, want := range map[string]string{
		"z.one": "z.one", "z_one": "z.one", "a.two_b": "a.two_b", "a_two_b": "a.two_b", "m": "m",
		"a.two.b": "", "Z.ONE": "", "": "", "z.one ": "",
	} {
		tool, found := c.Tool(spelling)
		if found != (want != "") || (found && tool.Name != want) {
			t.Errorf("%q finds %v", spelling, tool)
		}
	}
	if prompts := c.Prompts(); len(prompts) != 2 || prompts[0].Name != "p" {
		t.Errorf("prompts %v", prompts)
	}
	if _, found := c.Prompt("A"); found {
		t.Error("a prompt's name is compared without case")
	}
	if p, found := c.Prompt("a"); !found || p.Name != "a" {
		t.Error("a prompt is not found")
	}
}

func TestResourcesAreFoundInOrder(t *testing.T) {
	c := mounted(t,
		catalog.Provider{Name: "a", Templates: []catalog.Template{family("x://rows/{id}", nil)}},
		catalog.Provider{Name: "b", Resources: []catalog.Resource{fixed("x://rows/1")}, Templates: []catalog.Template{family("x://{id}/2", nil), family("x://rows/{+id}", nil)}})
	for uri, want := range map[string]string{
		"x://rows/1":   "x://rows/1",         // fixed before a template
		"x://rows/2":   "x://rows/{id} 2",    // templates in the order of mounting
		"x://cells/2":  "x://{id}/2 cells",   //
		"x://rows/2/3": "x://rows/{+id} 2/3", // the next that matches
		"x://other":    "",
	} {
		if got := content(t, c, uri, nobody); got != want {
			t.Errorf("%s reads %q, want %q", uri, got, want)
		}
	}
}

func TestScopes(t *testing.T) {
	audit := []identity.Scope{identity.AuditRead, identity.WikiRead}
	c := mounted(t, catalog.Provider{
		Name: "a", Resources: []catalog.Resource{fixed("x://a", identity.LedgerRead)},
		Templates: []catalog.Template{family("x://rows/{id}", audit, "x://rows/1")},
	})
	target, found := c.Resource("x://rows/1", nobody)
	if !found || !slices.Equal(target.Scopes, audit) {
		t.Errorf("found %v with scopes %v", found, target.Scopes)
	}
	half, whole := nobody, nobody
	half.Scopes = identity.Scopes{identity.AuditRead}
	whole.Scopes = identity.Scopes(audit)
	for _, who := range []identity.Principal{nobody, half} {
		if got := uris(t, c, who); !slices.Equal(got, []string{"x://a"}) {
			t.Errorf("with %s: %v; what a template names needs its scopes", who.Scopes, got)
		}
	}
	if got := uris(t, c, whole); !slices.Equal(got, []string{"x://a", "x://rows/1"}) {
		t.Errorf("with all scopes: %v", got)
	}
}

func TestListFailure(t *testing.T) {
	broken := family("x://rows/{id}", nil)
	broken.List = func(context.Context, catalog.Call) ([]catalog.Resource, error) { return nil, errors.New("table away") }
	c := mounted(t, catalog.Provider{Name: "a", Templates: []catalog.Template{broken}})
	if _, err := c.Resources(context.Background(), catalog.Call{}); err == nil {
		t.Error("a list that cannot be had is left out in silence")
	}
}

func TestListKeepsWhatTheProviderGave(t *testing.T) {
	static := []catalog.Resource{{URI: "x://rows/1"}, {URI: "x://rows/2"}}
	rows := family("x://rows/{id}", nil)
	rows.List = func(context.Context, catalog.Call) ([]catalog.Resource, error) { return static, nil }
	c := mounted(t, catalog.Provider{
		Name: "a", Templates: []catalog.Template{rows}, Filter: func(s catalog.Summary, _ identity.Principal) bool { return s.URI != "x://rows/1" },
	})
	for range 2 {
		if got := uris(t, c, nobody); !slices.Equal(got, []string{"x://rows/2"}) {
			t.Errorf("listed %v", got)
		}
	}
	if static[0].URI != "x://rows/1" || static[1].URI != "x://rows/2" {
		t.Errorf("the provider's own list became %v", static)
	}
}

func TestFilter(t *testing.T) {
	p := catalog.Provider{
		Name: "p", Resources: []catalog.Resource{fixed("x://a"), fixed("x://b")},
		Templates: []catalog.Template{family("x://rows/{id}", nil, "x://rows/1", "x://rows/2"), family("x://cells/{id}", nil, "x://cells/1")},
	}
	everything := []string{"x://a", "x://b", "x://rows/1", "x://rows/2", "x://cells/1"}
	for _, f := range []struct {
		name   string
		hides  func(catalog.Summary) bool
		hidden []string // URIs, and templates
	}{
		{"nothing", func(catalog.Summary) bool { return false }, nil},
		{"everything", func(catalog.Summary) bool { return true }, append([]string{"x://rows/{id}", "x://cells/{id}"}, everything...)},
		{"a URI", func(s catalog.Summary) bool { return s.URI == "x://a" }, []string{"x://a"}},
		{"a URI of a template", func(s catalog.Summary) bool { return s.URI == "x://rows/1" }, []string{"x://rows/1"}},
		{"a template", func(s catalog.Summary) bool { return s.Kind == "template" && s.URI == "x://rows/{id}" }, []string{"x://rows/{id}", "x://rows/1", "x://rows/2"}},
		{"a name", func(s catalog.Summary) bool { return s.Name == "x://cells/{id}" }, []string{"x://cells/{id}", "x://cells/1"}},
		{"a provider", func(s catalog.Summary) bool { return s.Provider == "p" }, append([]string{"x://rows/{id}", "x://cells/{id}"}, everything...)},
		// A name that only the list would know hides nothing: else it would be
		// gone from the list and still be read.
		{"a row's name", func(s catalog.Summary) bool { return strings.HasPrefix(s.Name, "row ") }, nil},
	} {
		t.Run(f.name, func(t *testing.T) {
			p.Filter = func(s catalog.Summary, who identity.Principal) bool {
				if who.ID != nobody.ID || s.Provider != "p" {
					t.Errorf("asked about %s for %s", s.Provider, who.ID)
				}
				return !f.hides(s)
			}
			// A filter is its own provider's.
			c := mounted(t, p, catalog.Provider{Name: "other", Resources: []catalog.Resource{fixed("x://other")}})
			listed := uris(t, c, nobody)
			for _, uri := range everything {
				want := !slices.Contains(f.hidden, uri)
				if got := slices.Contains(listed, uri); got != want {
					t.Errorf("%s is listed: %v, want %v", uri, got, want)
				}
				if _, got := c.Resource(uri, nobody); got != want {
					t.Errorf("%s is read: %v, want %v", uri, got, want)
				}
			}
			if !slices.Contains(listed, "x://other") {
				t.Error("it hides what another provider shows")
			}
			for _, template := range []string{"x://rows/{id}", "x://cells/{id}"} {
				want := !slices.Contains(f.hidden, template)
				got := slices.ContainsFunc(c.Templates(nobody), func(t catalog.Template) bool { return t.URITemplate == template })
				if _, found := c.Template(template, nobody); got != want || found != want {
					t.Errorf("%s is listed: %v, found: %v, want %v", template, got, found, want)
				}
			}
		})
	}
}

func TestCapability(t *testing.T) {
	scopes := []identity.Scope{identity.LedgerRead}
	c := mounted(t, catalog.Provider{
		Name: "p", Resources: []catalog.Resource{fixed("x://a", scopes...), fixed("x://b", scopes...)},
		Templates: []catalog.Template{family("x://rows/{id}", scopes, "x://rows/1", "x://rows/2")},
	})
	holder := identity.Principal{Kind: identity.User, ID: "mbr_1", URIs: []string{"x://a", "x://rows/1", "x://rows/9", "x://gone"}}
	if got := uris(t, c, holder); !slices.Equal(got, []string{"x://a", "x://rows/1"}) {
		t.Errorf("lists %v, want what it names and is there", got)
	}
	for uri, want := range map[string]bool{"x://a": true, "x://b": false, "x://rows/1": true, "x://rows/2": false, "x://rows/9": true, "x://gone": false, "x://A": false} {
		target, found := c.Resource(uri, holder)
		if found != want {
			t.Errorf("%s is found: %v", uri, found)
		}
		if len(target.Scopes) > 0 {
			t.Errorf("%s needs %v beside the token", uri, target.Scopes)
		}
	}
	if len(c.Templates(holder)) != 0 {
		t.Error("it sees templates")
	}
	if _, found := c.Template("x://rows/{id}", holder); found {
		t.Error("it finds a template")
	}
	holder.URIs = []string{}
	if got := uris(t, c, holder); got != nil {
		t.Errorf("a token that names nothing lists %v", got)
	}
}

func TestContents(t *testing.T) {
	value, err := catalog.JSON(map[string]any{"a": 1, "b": []string{}})
	must(t, err)
	ready := json.RawMessage(`{"uri":"y://1","text":"own","mimeType":"text/x"}`)
	for _, c := range []struct {
		name     string
		declared string
		contents catalog.Contents
		want     string
	}{
		{"text", "", catalog.Text("hi\n"), `[{"uri":"x://a","mimeType":"text/plain","text":"hi\n"}]`},
		{"text of a type", "text/markdown", catalog.Text("# hi"), `[{"uri":"x://a","mimeType":"text/markdown","text":"# hi"}]`},
		{"no text", "", catalog.Text(""), `[{"uri":"x://a","mimeType":"text/plain","text":""}]`},
		{"bytes", "", catalog.Bytes([]byte{0, 0xff, 1}), `[{"uri":"x://a","mimeType":"application/octet-stream","blob":"AP8B"}]`},
		{"bytes of a type", "image/png", catalog.Bytes([]byte{1}), `[{"uri":"x://a","mimeType":"image/png","blob":"AQ=="}]`},
		{"no bytes", "", catalog.Bytes(nil), `[{"uri":"x://a","mimeType":"application/octet-stream","blob":""}]`},
		{"a value", "", value, `[{"uri":"x://a","mimeType":"application/json","text":"{\"a\":1,\"b\":[]}"}]`},
		{"a value of a type", "application/ld+json", value, `[{"uri":"x://a","mimeType":"application/ld+json","text":"{\"a\":1,\"b\":[]}"}]`},
		{"JSON text", "", catalog.Raw([]byte(`{ "a":1.0 }`)), `[{"uri":"x://a","mimeType":"application/json","text":"{ \"a\":1.0 }"}]`},
		{"ready", "text/plain", catalog.Ready(ready, ready), `[` + string(ready) + `,` + string(ready) + `]`},
		{"ready, none", "text/plain", catalog.Ready(), `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := catalog.Resource{URI: "x://a", MIMEType: c.declared, Read: func(context.Context, catalog.Call) (catalog.Contents, error) { return c.contents, nil }}
			target, found := mounted(t, catalog.Provider{Name: "p", Resources: []catalog.Resource{r}}).Resource("x://a", nobody)
			if !found {
				t.Fatal("not found")
			}
			contents, err := target.Read(context.Background(), catalog.Call{})
			must(t, err)
			got, err := contents.Encode("x://a")
			must(t, err)
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if _, err := catalog.JSON(func() {}); err == nil {
		t.Error("a function is JSON")
	}
}

func TestReadErrorPasses(t *testing.T) {
	want := errors.New("table away")
	r := catalog.Resource{URI: "x://a", MIMEType: "text/plain", Read: func(context.Context, catalog.Call) (catalog.Contents, error) { return catalog.Contents{}, want }}
	target, _ := mounted(t, catalog.Provider{Name: "p", Resources: []catalog.Resource{r}}).Resource("x://a", nobody)
	if _, err := target.Read(context.Background(), catalog.Call{}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
