package stack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// called is what a tool answers.
type called struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

// page is a list's structured content, and what it says of it.
type page struct {
	Items []struct {
		ID              string `json:"id"`
		TenantID        string `json:"tenant_id"`
		TransactionDate string `json:"transaction_date"`
	}
	NextCursor *string `json:"next_cursor"`
	TotalCount *int    `json:"total_count"`
	text       string
	bytes      int
}

type arguments = map[string]any

// useTool calls a tool; the call itself must go through.
func useTool(t *testing.T, holder, name string, args arguments) called {
	t.Helper()
	a := call(t, holder, "tools/call", map[string]any{"name": name, "arguments": args})
	if a.status != http.StatusOK || a.body.Result == nil {
		t.Fatalf("%s %v: status %d, error %+v", name, args, a.status, a.body.Error)
	}
	var c called
	if err := json.Unmarshal(a.body.Result, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func listed(t *testing.T, holder, name string, args arguments) page {
	t.Helper()
	c := useTool(t, holder, name, args)
	if c.IsError {
		t.Fatalf("%s %v: %s", name, args, c.Content[0].Text)
	}
	p := page{text: c.Content[0].Text, bytes: len(c.StructuredContent)}
	if err := json.Unmarshal(c.StructuredContent, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// refuses wants a call to be answered with a refusal that says so much.
func refuses(t *testing.T, holder, name string, args arguments, says string) {
	t.Helper()
	c := useTool(t, holder, name, args)
	if !c.IsError || c.StructuredContent != nil || len(c.Content) != 1 || !strings.Contains(c.Content[0].Text, says) {
		t.Errorf("%s %v: %+v, want a refusal with %q", name, args, c, says)
	}
}

func with(args arguments, name string, value any) arguments {
	more := arguments{name: value}
	for k, v := range args {
		if _, set := more[k]; !set {
			more[k] = v
		}
	}
	return more
}

// Every list, paged through by its cursors, visits each row of the tenant once
// in pages that keep to their bounds.
func TestListTools(t *testing.T) {
	for _, c := range []struct {
		name          string
		args          arguments
		limit, atMost int
	}{
		{"ledger.accounts.list", nil, 3, 500},
		{"ledger.accounts.list", arguments{"status": "active"}, 2, 500},
		{"ledger.transactions.list", nil, 97, 1000},
		{"ledger.transactions.list", arguments{"account_id": "acct_8231", "direction": "outflow"}, 50, 1000},
		{"ledger.obligations.list", arguments{"direction": "payable"}, 25, 500},
		{"ledger.counterparties.list", nil, 7, 500},
		{"ledger.counterparties.list", arguments{"q": "a"}, 5, 500},
	} {
		t.Run(fmt.Sprint(c.name, c.args), func(t *testing.T) {
			seen, pages := map[string]bool{}, 0
			walk := func(limit int) (ids []string, total *int) {
				for args := with(c.args, "limit", limit); ; pages++ {
					p := listed(t, "agent", c.name, args)
					total = p.TotalCount
					if len(p.Items) > limit || p.bytes > 60_000 {
						t.Fatalf("%d items of %d, %d bytes", len(p.Items), limit, p.bytes)
					}
					for _, item := range p.Items {
						ids = append(ids, item.ID)
						if item.TenantID != "acme" {
							t.Fatalf("a row of %q", item.TenantID)
						}
					}
					if p.NextCursor == nil {
						return ids, total
					}
					if *p.NextCursor == "" || pages > 500 {
						t.Fatalf("page %d: next_cursor %q", pages, *p.NextCursor)
					}
					args["cursor"] = *p.NextCursor
				}
			}
			small, total := walk(c.limit)
			large, _ := walk(c.atMost)
			for _, id := range small {
				if seen[id] {
					t.Errorf("%s is visited twice", id)
				}
				seen[id] = true
			}
			if len(small) == 0 || !slices.Equal(small, large) {
				t.Errorf("%d rows in small pages, %d in large ones", len(small), len(large))
			}
			if total != nil && *total != len(small) {
				t.Errorf("total_count %d of %d rows", *total, len(small))
			}
		})
	}
}

// A cursor is good for the tenant, the tool and the filters of the page it came
// with, and only as it was given out.
func TestCursors(t *testing.T) {
	const list = "ledger.transactions.list"
	filter := arguments{"direction": "outflow", "limit": 2}
	cursor := *listed(t, "agent", list, filter).NextCursor
	const says = "cursor: it was not given out by this list with these filters."
	next := listed(t, "agent", list, with(filter, "cursor", cursor))
	again := listed(t, "agent", "ledger_transactions_list", with(with(filter, "cursor", cursor), "limit", "2"))
	if len(next.Items) != 2 || next.Items[1] != again.Items[1] {
		t.Errorf("the page after: %v, and again: %v", next.Items, again.Items)
	}
	other := listed(t, "agent_readonly", list, with(with(filter, "cursor", cursor), "limit", 1))
	if len(other.Items) != 1 || other.Items[0] != next.Items[0] {
		t.Errorf("another agent of the tenant, another limit: %v", other.Items)
	}
	refuses(t, "other_tenant_agent", list, with(filter, "cursor", cursor), says)
	refuses(t, "agent", list, arguments{"cursor": cursor}, says)
	refuses(t, "agent", list, with(with(filter, "cursor", cursor), "direction", "inflow"), says)
	refuses(t, "agent", list, with(with(filter, "cursor", cursor), "since", "2020-01-01"), says)
	refuses(t, "agent", "ledger.obligations.list", arguments{"cursor": cursor}, says)
	for at := 0; at < len(cursor); at += 7 {
		turned := []byte(cursor)
		turned[at] ^= 1
		refuses(t, "agent", list, with(filter, "cursor", string(turned)), "cursor: ")
	}
	for _, bogus := range []string{"bogus", cursor[1:], cursor + "A", strings.Repeat("A", 1387), "é"} {
		refuses(t, "agent", list, with(filter, "cursor", bogus), says)
	}
	refuses(t, "agent", list, with(filter, "cursor", ""), "cursor: want text of 1 to 1387 characters")
}

// A time bounds a list of dates by the first date that begins no earlier.
func TestTimesAndDates(t *testing.T) {
	const list = "ledger.transactions.list"
	for _, c := range []struct{ given, means string }{
		{"2025-09-15T00:00:00Z", "2025-09-15"},
		{"2025-09-15T00:00:00.000Z", "2025-09-15"},
		{"2025-09-15T00:00:00.001Z", "2025-09-16"},
		{"2025-09-15T23:59:59Z", "2025-09-16"},
		{"2025-09-15T02:00:00+02:00", "2025-09-15"},
		{"2025-09-15T01:00:00+02:00", "2025-09-15"}, // an hour before the 15th begins
		{"2025-09-14T23:00:00-02:00", "2025-09-16"},
	} {
		for _, name := range []string{"since", "until"} {
			got := listed(t, "agent", list, arguments{name: c.given, "limit": 40})
			want := listed(t, "agent", list, arguments{name: c.means, "limit": 40})
			if len(want.Items) == 0 || !slices.Equal(got.Items, want.Items) {
				t.Errorf("%s %s is not %s", name, c.given, c.means)
			}
		}
	}
	for _, item := range listed(t, "agent", list, arguments{"since": "2025-09-10", "until": "2025-09-12"}).Items {
		if item.TransactionDate < "2025-09-10" || item.TransactionDate >= "2025-09-12" {
			t.Errorf("%s of %s", item.ID, item.TransactionDate)
		}
	}
	for _, bad := range []string{"2025-09-15T00:00:00", "2025-09-15 00:00", "2025-02-30", "2025-9-15T00", "15.09.2025", "last month", "9999-12-31T00:00:00Z", "2025-09-15T00:00:00Zulu"} {
		refuses(t, "agent", list, arguments{"since": bad}, "since: want YYYY-MM-DD or an RFC 3339 time with an offset")
		refuses(t, "agent", "ledger.obligations.list", arguments{"due_before": bad}, "due_before: want YYYY-MM-DD")
	}
}

// The summary names rows by their ids and amounts with their currency, says
// what is left out and how to get it, and stays in step with the rows.
func TestSummaries(t *testing.T) {
	p := listed(t, "agent", "ledger.transactions.list", arguments{"limit": 12, "until": "2025-10-01"})
	for _, says := range []string{"12 transactions.", "`" + p.Items[0].ID + "` ", "- and 2 more in the structured content", "call again with cursor set to next_cursor"} {
		if !strings.Contains(p.text, says) {
			t.Errorf("the summary lacks %q:\n%s", says, p.text)
		}
	}
	if lines := strings.Split(p.text, "\n"); len(lines) != 13 || strings.Contains(p.text, p.Items[11].ID) {
		t.Errorf("%d lines:\n%s", len(lines), p.text)
	}
	if cut := listed(t, "agent", "ledger.transactions.list", arguments{"limit": 1000}); cut.NextCursor == nil || !strings.Contains(cut.text, "cut at 60 kB") {
		t.Errorf("a page of 1,000 that does not say it was cut: %s", cut.text)
	}
	account := useTool(t, "agent", "ledger.account.get", arguments{"account_id": "acct_8231"})
	for _, says := range []string{"`acct_8231` ", "USD", "Latest balance, as of 2"} {
		if account.IsError || !strings.Contains(account.Content[0].Text, says) {
			t.Errorf("the account lacks %q: %+v", says, account)
		}
	}
}

// What is another tenant's, what is not there and what is no id at all sound
// the same.
func TestForeignAccount(t *testing.T) {
	const says = "There is no such row in the ledger."
	for _, name := range []string{"acct_8231", "acct_none", "tx_4127", "acct_", "acct_8231#row", "acct_\u202e8231", "{account_id}"} {
		refuses(t, "other_tenant_agent", "ledger.account.get", arguments{"account_id": name}, says)
	}
	for _, filter := range []string{"account_id", "counterparty_id"} {
		known := map[string]string{"account_id": "acct_8231", "counterparty_id": "cp_aws"}[filter]
		if p := listed(t, "other_tenant_agent", "ledger.transactions.list", arguments{filter: known}); len(p.Items) != 0 || p.NextCursor != nil {
			t.Errorf("another tenant's transactions: %v", p.Items)
		}
	}
	refuses(t, "agent", "ledger.transactions.list", arguments{"account_id": "Operating"}, "want acct_ and then")
}
