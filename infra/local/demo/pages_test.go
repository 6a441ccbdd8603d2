package demo_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/wiki"
)

var sections = []string{"Current Truth", "Key Linked Entities", "Recent Activity", "Open Questions", "Risk Notes", "Timeline", "Evidence Links"}

// pages: every page is there and well formed, and those that documents name say
// what the rows say.
func (r rig) pages(t *testing.T) {
	t.Helper()
	bodies, marks := map[string]string{}, map[string]bool{}
	acme, reader := owner(t, demo.Acme), wiki.Reader{Store: r.Store}
	for _, name := range demo.Slugs(demo.Data(demo.Acme)) {
		p, err := reader.Page(t.Context(), acme, name)
		check(t, err)
		if p.Slug != name || bodies[name] != "" {
			t.Errorf("slug %q: the page says %q, or it is there twice", name, p.Slug)
		}
		if err := id.Check(id.WikiPage, p.ID); err != nil || marks[p.ID] || p.TenantID != demo.Acme || len(p.SourceRevision) != 64 || p.Title == "" {
			t.Errorf("page %+v: %v", p, err)
		}
		marks[p.ID], bodies[p.Slug] = true, p.Body
		ordered(t, p)
	}
	for slug, want := range map[string][]string{
		"/monthly-summaries/2025-09": {"# September 2025", "Spent on `cloud`: 61404.12 USD", "brain://ledger/transactions/tx_4127", "[`Amazon Web Services`](/counterparties/cp_aws): paid 61404.12 USD"},
		"/counterparties/cp_aws":     {"# `Amazon Web Services`", "vendor, risk low, document_verified", "[obl_5521](/obligations/obl_5521): payable 61404.12 USD, due 2025-10-15", "brain://ledger/obligations/obl_5521", "brain://ledger/transactions/tx_4127"},
		"/accounts/acct_8231":        {"bank_checking", "active", "Current balance: ", "brain://ledger/accounts/acct_8231"},
		"/monthly-summaries/2023-10": {"# October 2023"},
		"/cash-flow/2025-Q3":         {"# Cash flow 2025-Q3", "Net: ", "/monthly-summaries/2025-08", "- 2025-07: "},
		"/cash-flow/2024-02":         {"- 2024-02-29: "},
		"/obligations/obl_5521":      {"payable, 61404.12 USD, due 2025-10-15", "- Open", "/counterparties/cp_aws"},
		"/agents/agt_finance":        {"# `Finance agent`", "Role: `bill_management`"},
	} {
		for _, text := range want {
			if !strings.Contains(bodies[slug], text) {
				t.Errorf("%s does not say %q:\n%s", slug, text, bodies[slug])
			}
		}
	}
}

var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// ordered checks that a page's sections are known, in order and not empty.
func ordered(t *testing.T, p wiki.Page) {
	t.Helper()
	left := sections
	for _, found := range heading.FindAllStringSubmatch(p.Body, -1) {
		for len(left) > 0 && left[0] != found[1] {
			left = left[1:]
		}
		if len(left) == 0 {
			t.Errorf("%s: section %q is unknown or out of order", p.Slug, found[1])
			return
		}
	}
	if !strings.Contains(p.Body, "## Current Truth\n\n- ") {
		t.Errorf("%s has no Current Truth", p.Slug)
	}
}
