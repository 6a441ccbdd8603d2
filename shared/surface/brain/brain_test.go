package brain_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// table is a record.Store in memory: reads, and a partition in the order of its
// sort keys.
type table map[key.Key]record.Item

func (s table) Get(_ context.Context, k key.Key) (record.Item, bool, error) {
	item, found := s[k]
	return item, found, nil
}

func (s table) GetMany(ctx context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	found := map[key.Key]record.Item{}
	for _, k := range keys {
		if item, ok, _ := s.Get(ctx, k); ok {
			found[k] = item
		}
	}
	return found, nil
}

func (s table) Query(_ context.Context, q record.Query) (record.Page, error) {
	place := func(item record.Item) key.Key {
		if q.Index > 0 {
			return item.Index[q.Index-1]
		}
		return item.Key
	}
	var page record.Page
	for _, item := range s {
		if at := place(item); at.PK == q.PK && strings.HasPrefix(at.SK, q.Prefix) && (q.To == "" || at.SK <= q.To) {
			page.Items = append(page.Items, item)
		}
	}
	slices.SortFunc(page.Items, func(a, b record.Item) int { return strings.Compare(place(a).SK, place(b).SK) })
	if q.Reverse {
		slices.Reverse(page.Items)
	}
	if q.Limit > 0 && len(page.Items) > q.Limit {
		page.Items = page.Items[:q.Limit]
	}
	return page, nil
}

func (s table) Commit(context.Context, record.Change) error { return nil }

func (s table) put(k key.Key, body string, index ...key.Key) {
	item := record.Item{Key: k, Version: 1, Body: []byte(body)}
	copy(item.Index[:], index)
	s[k] = item
}

func tenant(t *testing.T, name string) identity.Tenant {
	t.Helper()
	made, err := identity.OperatorTenant(name)
	must(t, err)
	return made
}

// mounted is the provider over a table that holds one of everything of acme.
func mounted(t *testing.T) *catalog.Catalog {
	t.Helper()
	s, acme := table{}, tenant(t, "acme")
	account := key.Ledger(acme, id.Account, "acct_1")
	s.put(account, `{"id":"acct_1","tenant_id":"acme"}`, key.LedgerList(acme, id.Account, "a", "acct_1"))
	s.put(key.Balance(acme, "acct_1", "2026-07-01T00:00:00.000Z"), `{"account_id":"acct_1","as_of":"2026-07-01T00:00:00.000Z"}`)
	s.put(key.Ledger(acme, id.Transaction, "tx_1"), `{"id":"tx_1"}`, key.LedgerList(acme, id.Transaction, "2026-07-01", "tx_1"))
	s.put(key.Ledger(acme, id.Transaction, "tx_2"), `{"id":"tx_2"}`, key.LedgerList(acme, id.Transaction, "2026-07-02", "tx_2"))
	s.put(key.Ledger(acme, id.Obligation, "obl_1"), `{"id":"obl_1","status":"open","due_date":"2026-08-01"}`)
	s.put(key.Ledger(acme, id.PaymentIntent, "pi_1"), `{"id":"pi_1","action_type":"wire"}`)
	s.put(key.Page(acme, "/suppliers/acme/terms"), `{"slug":"/suppliers/acme/terms","body":"# Terms <b>"}`)
	s.put(key.JournalEntry(acme, 0), `{"event":{"after_state":{"id":"pi_1","status":"approved"},"id":"evt_1","tenant_id":"acme"},"hash":"","prev_hash":"","seq":0}`, key.ProofEntry(acme, "pi_1", 0))
	now := func() time.Time { return time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC) }
	c := &catalog.Catalog{}
	must(t, c.Mount(brain.Provider(brain.Sources{
		Ledger: &ledger.Reader{Store: s, Now: now}, Desk: &proposals.Desk{Store: s}, Pages: &wiki.Reader{Store: s}, Proofs: &proof.Reader{Store: s},
	})))
	return c
}

func agent(t *testing.T, of string) identity.Principal {
	return identity.Principal{Kind: identity.Agent, ID: "agt_1", Tenant: tenant(t, of), Scopes: identity.AllScopes}
}

// content is the one content of a read.
type content struct{ URI, MIMEType, Text string }

func read(t *testing.T, c *catalog.Catalog, uri string, who identity.Principal) (content, error) {
	t.Helper()
	target, found := c.Resource(uri, who)
	if !found {
		return content{}, fault.New(fault.ResourceNotFound, "not in the catalogue")
	}
	contents, err := target.Read(context.Background(), catalog.Call{Principal: who})
	if err != nil {
		return content{}, err
	}
	raw, err := contents.Encode(uri)
	must(t, err)
	var list []content
	must(t, json.Unmarshal(raw, &list))
	return list[0], nil
}

func TestReads(t *testing.T) {
	const jsonType = "application/json"
	for _, c := range []struct {
		uri, mime, text string
		code            fault.Code // where it is not there
	}{
		{"brain://ledger/accounts/acct_1", jsonType, `"latest_balance":{`, ""},
		{"brain://ledger/transactions/tx_1", jsonType, `{"id":"tx_1"}`, ""},
		{"brain://ledger/transactions/tx%5F1", jsonType, `{"id":"tx_1"}`, ""},
		{"brain://ledger/obligations/obl_1", jsonType, `"id":"obl_1"`, ""},
		{"brain://ledger/payment-intents/pi_1", jsonType, `{"id":"pi_1",`, ""},
		{"brain://wiki/pages/suppliers/acme/terms", "text/markdown", `# Terms <b>`, ""},
		{"brain://wiki/pages/suppliers%2Facme%2Fterms", "text/markdown", `# Terms <b>`, ""},
		{"brain://proofs/pi_1", jsonType, `{"action_id":"pi_1",`, ""},
		{"brain://payments/action_types", jsonType, `{"action_types":[{"action_type":"ach_outbound"`, ""},

		{"brain://ledger/accounts/acct_9", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/accounts/{account_id}", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/accounts/tx_1", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/transactions/acct_1", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/transactions/tx_1%2Frow", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/transactions/%FF", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/transactions/TX_1", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/obligations/obl_9", "", "", fault.LedgerRowNotFound},
		{"brain://ledger/payment-intents/{id}", "", "", fault.IntentNotFound},
		{"brain://ledger/payment-intents/pi_9", "", "", fault.IntentNotFound},
		{"brain://wiki/pages/{slug}", "", "", fault.WikiPageNotFound},
		{"brain://wiki/pages/suppliers", "", "", fault.WikiPageNotFound},
		{"brain://wiki/pages/suppliers/acme/terms/", "", "", fault.WikiPageNotFound},
		{"brain://wiki/pages/suppliers/../suppliers/acme/terms", "", "", fault.WikiPageNotFound},
		{"brain://wiki/pages/suppliers%252Facme%252Fterms", "", "", fault.WikiPageNotFound},
		{"brain://proofs/{action_id}", "", "", fault.ProofNotFound},
		{"brain://proofs/pi_9", "", "", fault.ProofNotFound},
		{"brain://ledger/invoices/inv_1", "", "", fault.ResourceNotFound},
		{"brain://ledger/transactions/tx_1/", "", "", fault.ResourceNotFound},
		{"brain://payments/action_types/", "", "", fault.ResourceNotFound},
	} {
		t.Run(c.uri, func(t *testing.T) {
			provider := mounted(t)
			got, err := read(t, provider, c.uri, agent(t, "acme"))
			if c.code != "" {
				if !fault.Is(err, c.code) {
					t.Errorf("error %v, want %s", err, c.code)
				}
				return
			}
			if err != nil || got.URI != c.uri || got.MIMEType != c.mime || !strings.Contains(got.Text, c.text) {
				t.Fatalf("got %+v, %v", got, err)
			}
			if c.uri == "brain://payments/action_types" {
				return // the same for everyone
			}
			// Another tenant hears what everybody hears of what is not there.
			_, foreign := read(t, provider, c.uri, agent(t, "other"))
			_, missing := read(t, mounted(t), c.uri[:len(c.uri)-1]+"9", agent(t, "acme"))
			if foreign == nil || missing == nil || foreign.Error() != missing.Error() {
				t.Errorf("another tenant's: %v\nmissing: %v", foreign, missing)
			}
		})
	}
}

func TestSurface(t *testing.T) {
	c := mounted(t)
	scopes := map[string]identity.Scope{
		"brain://ledger/accounts/{account_id}": identity.LedgerRead, "brain://ledger/transactions/{transaction_id}": identity.LedgerRead,
		"brain://ledger/obligations/{obligation_id}": identity.LedgerRead, "brain://ledger/payment-intents/{id}": identity.LedgerRead,
		"brain://wiki/pages/{slug}": identity.WikiRead, "brain://proofs/{action_id}": identity.AuditRead,
	}
	templates := c.Templates(agent(t, "acme"))
	if len(templates) != len(scopes) {
		t.Errorf("%d templates, want %d", len(templates), len(scopes))
	}
	for _, template := range templates {
		if want := scopes[template.URITemplate]; len(template.Scopes) != 1 || template.Scopes[0] != want {
			t.Errorf("%s needs %v, want %s", template.URITemplate, template.Scopes, want)
		}
	}
	resources, err := c.Resources(context.Background(), catalog.Call{Principal: agent(t, "acme")})
	must(t, err)
	if len(resources) != 1 || resources[0].URI != "brain://payments/action_types" || resources[0].Scopes[0] != identity.IntentPropose {
		t.Errorf("resources %+v", resources)
	}
}

func TestCompletion(t *testing.T) {
	c := mounted(t)
	for _, test := range []struct {
		template, prefix string
		limit            int
		want             []string // one more than the limit says that there are more
	}{
		{"brain://ledger/accounts/{account_id}", "", 100, []string{"acct_1"}},
		{"brain://ledger/transactions/{transaction_id}", "", 100, []string{"tx_2", "tx_1"}}, // newest first
		{"brain://ledger/transactions/{transaction_id}", "tx_1", 100, []string{"tx_1"}},
		{"brain://ledger/transactions/{transaction_id}", "", 1, []string{"tx_2", "tx_1"}},
		{"brain://ledger/transactions/{transaction_id}", "acct", 100, nil},
		{"brain://wiki/pages/{slug}", "sup", 100, []string{"suppliers/acme/terms"}},
		{"brain://wiki/pages/{slug}", "/sup", 100, []string{"suppliers/acme/terms"}},
		{"brain://wiki/pages/{slug}", "x", 100, nil},
	} {
		template, found := c.Template(test.template, agent(t, "acme"))
		if !found {
			t.Fatalf("%s is not there", test.template)
		}
		for of, want := range map[string][]string{"acme": test.want, "other": nil} {
			got, err := template.Complete(context.Background(), catalog.Call{Principal: agent(t, of)}, "", test.prefix, test.limit)
			must(t, err)
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s after %q: %v, want %v", test.template, of, test.prefix, got, want)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
