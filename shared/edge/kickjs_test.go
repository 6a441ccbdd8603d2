package edge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/infra/local/conversation"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// The providers of the KickJS document: invoices as it writes them, with each
// kind of contents; a ledger that needs a scope and one that a filter hides.
func documented() []catalog.Provider {
	return []catalog.Provider{{Name: "invoices", Resources: invoiceResources(), Templates: []catalog.Template{invoices()}}, {
		Name: "ledger",
		Resources: []catalog.Resource{{
			URI: "ledger://trial-balance", Name: "trial-balance", Scopes: []identity.Scope{identity.LedgerRead},
			Read: func(context.Context, catalog.Call) (catalog.Contents, error) {
				return catalog.JSON(map[string]any{"balanced": true})
			},
		}},
	}, {
		Name:      "archive",
		Resources: []catalog.Resource{{URI: "archive://index", Name: "archive-index", Read: said("old")}},
		Templates: []catalog.Template{{
			URITemplate: "archive://{year}", Name: "archive-year",
			Read: func(context.Context, catalog.Call, catalog.Vars) (catalog.Contents, error) {
				return catalog.Text("old"), nil
			},
			List: func(context.Context, catalog.Call) ([]catalog.Resource, error) {
				return []catalog.Resource{{URI: "archive://2023", Name: "2023"}, {URI: "archive://2024", Name: "2024"}}, nil
			},
		}},
		// resourceFilter of the document: who lacks the scope sees nothing; of the
		// years, nobody sees the first.
		Filter: func(r catalog.Summary, who identity.Principal) bool {
			return who.Scopes.Has(identity.LedgerRead) && r.URI != "archive://2023"
		},
	}}
}

func said(text string) func(context.Context, catalog.Call) (catalog.Contents, error) {
	return func(context.Context, catalog.Call) (catalog.Contents, error) { return catalog.Text(text), nil }
}

func invoiceResources() []catalog.Resource {
	return []catalog.Resource{
		{URI: "config://billing", Name: "billing-config", Read: said("currency=KES")},
		{URI: "config://logo", Name: "logo", MIMEType: "image/png", Read: func(context.Context, catalog.Call) (catalog.Contents, error) {
			return catalog.Bytes([]byte("\x89PNG")), nil
		}},
		{URI: "config://bundle", Name: "bundle", Read: func(context.Context, catalog.Call) (catalog.Contents, error) {
			return catalog.Ready(json.RawMessage(`{"uri":"config://bundle#a","mimeType":"text/csv","text":"a,b"}`), json.RawMessage(`{"uri":"config://bundle#b","blob":"AP8="}`)), nil
		}},
	}
}

// invoices is the document's family of URIs; `read` gets the variable and the
// caller.
func invoices() catalog.Template {
	return catalog.Template{
		URITemplate: "invoices://{id}", Name: "invoice", Description: "One invoice, as JSON",
		Read: func(_ context.Context, call catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
			if vars["id"] != "42" {
				return catalog.Contents{}, fault.New(fault.ResourceNotFound, "There is no such invoice.")
			}
			return catalog.JSON(map[string]string{"id": vars["id"], "currency": "KES", "read_by": call.Principal.ID})
		},
		List: func(context.Context, catalog.Call) ([]catalog.Resource, error) {
			return []catalog.Resource{{URI: "invoices://42", Name: "Invoice 42", MIMEType: "application/json"}}, nil
		},
	}
}

// The conversation of the KickJS document, over events and in this process: its
// providers are a fixture.
func TestKickJSConversation(t *testing.T) {
	w := newWorldOf(t, endpoint, documented()...)
	few := w.token(func(c jwt.MapClaims) { c["scopes"] = []string{"wiki:read"} })
	tokens := map[string]string{"Bearer agent": "Bearer " + w.token(), "Bearer agent_without_scope": "Bearer " + few}
	conversation.Replay(t, "testdata/golden/kickjs.txtar", conversation.Server{
		Send: func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			m := w.post(string(body))
			m.method, m.path, m.header = req.Method, req.URL.Path, map[string]string{"host": "mcp.example.com"}
			for name := range req.Header {
				m.header[strings.ToLower(name)] = req.Header.Get(name)
			}
			if token := tokens[m.header["authorization"]]; token != "" {
				m.header["authorization"] = token
			}
			got := w.send(t, m)
			return &http.Response{StatusCode: got.status, Header: got.header, Body: io.NopCloser(strings.NewReader(got.body))}, nil
		},
		Steady: func(text []byte) []byte {
			return regexp.MustCompile(`"request_id": "[^"]+"`).ReplaceAll(bytes.ReplaceAll(text, []byte(public), []byte("http://mcp.local")), []byte(`"request_id": "REQUEST"`))
		},
	})
}

// What the document says of mounting: a URI is held by one provider, and a
// provider under a used name replaces it.
func TestKickJSMounting(t *testing.T) {
	c := &catalog.Catalog{}
	for _, p := range documented() {
		must(t, c.Mount(p))
	}
	for _, taken := range []catalog.Provider{
		{Name: "other", Resources: []catalog.Resource{{URI: "config://billing", Read: said("")}}},
		{Name: "other", Templates: []catalog.Template{{URITemplate: "invoices://{id}"}}},
	} {
		if err := c.Mount(taken); err == nil || !strings.Contains(err.Error(), "held by invoices") {
			t.Errorf("mounted: %v", err)
		}
	}
	must(t, c.Mount(catalog.Provider{Name: "invoices", Resources: []catalog.Resource{{URI: "config://billing", Name: "billing-config", Read: said("currency=EUR")}}}))
	who := identity.Principal{Kind: identity.Agent, ID: "agt_1", Scopes: granted}
	if _, found := c.Resource("invoices://42", who); found {
		t.Error("the replaced provider still answers")
	}
	target, found := c.Resource("config://billing", who)
	if !found {
		t.Fatal("the new provider does not answer")
	}
	contents, err := target.Read(t.Context(), catalog.Call{Principal: who})
	must(t, err)
	if raw, err := contents.Encode("config://billing"); err != nil || !strings.Contains(string(raw), "currency=EUR") {
		t.Errorf("%s, %v", raw, err)
	}
}
