package brain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// library is a table with pages of acme.
func library(t *testing.T) table {
	t.Helper()
	s, acme := table{}, tenant(t, "acme")
	for i, slug := range []string{"/accounts/acct_8231", "/accounts/acct_82310", "/accounts/acct_4410", "/counterparties/cp_aws", "/counterparties/cp_apple", "/monthly-summaries/2025-08", "/monthly-summaries/2025-09", "/long/page"} {
		page := wiki.Page{
			ID: fmt.Sprintf("wpg_%d", i), TenantID: "acme", Slug: slug, Title: "T", SourceRevision: strings.Repeat("ab", 32), RenderedAt: "2025-10-01T06:00:00.000Z",
			Body: "# Title of " + slug + "\n\n## Current Truth\n\n- one\n- two\n\n```\n## no heading\n```\n\n## Evidence Links ##\n\n- brain://x\n",
		}
		if slug == "/long/page" {
			page.Body = "# Long\n" + strings.Repeat("é line of text\n", 9000)
		}
		body, err := json.Marshal(page)
		must(t, err)
		s.put(key.Page(acme, slug), string(body), key.PageByID(acme, page.ID))
	}
	// Another page's id begins with this one's.
	s.put(key.Page(acme, "/x"), `{"id":"wpg_40","slug":"/x"}`, key.PageByID(acme, "wpg_40"))
	account := key.Ledger(acme, id.Account, "acct_8231")
	s.put(account, `{"id":"acct_8231","name":"Operating","account_type":"bank_checking","currency":"USD","status":"active","current_balance":"12.50","available_balance":"10.25","balance_as_of":"2025-09-30T00:00:00.000Z"}`,
		key.LedgerList(acme, id.Account, "", "acct_8231"))
	return s
}

// wikiTool is one of the two tools.
func wikiTool(t *testing.T, name string) catalog.Tool {
	t.Helper()
	s := library(t)
	now := func() time.Time { return time.Date(2025, 10, 2, 12, 0, 0, 0, time.UTC) }
	for _, tool := range brain.WikiTools(&wiki.Reader{Store: s}, question.NewEngine(s, now)) {
		if tool.Name == name {
			if len(tool.Scopes) != 1 || tool.Scopes[0] != identity.WikiRead {
				t.Errorf("%s needs %v", name, tool.Scopes)
			}
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return catalog.Tool{}
}

type pageView struct {
	Page struct {
		ID, Slug, Body string
		Sections       []struct {
			Heading, Text string
			Level         int
		}
		SourceRevision string `json:"source_revision"`
		RenderedAt     string `json:"rendered_at"`
		Truncated      bool
	}
}

func getPage(t *testing.T, of, name string) (pageView, string, error) {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"slug_or_id": name})
	must(t, err)
	out, err := wikiTool(t, "wiki.page.get").Call(context.Background(), catalog.Call{Principal: agent(t, of)}, arguments)
	var view pageView
	if err != nil {
		return view, "", err
	}
	must(t, json.Unmarshal(out.Structured.(json.RawMessage), &view))
	return view, out.Content[0]["text"].(string), nil
}

func TestPageGet(t *testing.T) {
	for name, slug := range map[string]string{
		"/accounts/acct_8231": "/accounts/acct_8231", "accounts/acct_8231": "/accounts/acct_8231", "acct_8231": "/accounts/acct_8231", "/acct_8231": "/accounts/acct_8231", " acct_4410 ": "/accounts/acct_4410",
		"cp_aws": "/counterparties/cp_aws", "monthly-summaries/2025-09": "/monthly-summaries/2025-09", "wpg_0": "/accounts/acct_8231", "wpg_6": "/monthly-summaries/2025-09", "wpg_4": "/counterparties/cp_apple",
	} {
		view, text, err := getPage(t, "acme", name)
		if err != nil || view.Page.Slug != slug || view.Page.Truncated || len(view.Page.SourceRevision) != 64 || view.Page.RenderedAt != "2025-10-01T06:00:00.000Z" {
			t.Errorf("%q gives %+v, %v", name, view, err)
			continue
		}
		if !strings.HasPrefix(text, "`"+slug+"` (`"+view.Page.ID+"`)") || !strings.HasSuffix(text, view.Page.Body) {
			t.Errorf("%q reads:\n%s", name, text)
		}
		var headings []string
		for _, s := range view.Page.Sections {
			headings = append(headings, fmt.Sprint(s.Level, s.Heading, "=", s.Text))
		}
		if got := strings.Join(headings, "|"); got != "1Title of "+slug+"=|2Current Truth=- one\n- two\n\n```\n## no heading\n```|2Evidence Links=- brain://x" {
			t.Errorf("sections of %q: %q", name, got)
		}
		if _, _, err := getPage(t, "other", name); !fault.Is(err, fault.WikiPageNotFound) || strings.Contains(fault.Of(err).Message, "nearest") {
			t.Errorf("another tenant's %q: %v", name, err)
		}
	}
	long, text, err := getPage(t, "acme", "long/page")
	if err != nil || !long.Page.Truncated || len(long.Page.Body) > 20_000 || len(text) > 21_000 || !strings.Contains(text, "was cut") {
		t.Errorf("a long page: %d bytes of body, %d of text, %v", len(long.Page.Body), len(text), err)
	}
}

// A page that is not there is answered with those spelled most like it.
func TestPageGetNamesTheNearest(t *testing.T) {
	for name, near := range map[string]string{
		"/accounts/acct_823": "`/accounts/acct_8231`", "acct_8232": "The nearest are: `/accounts/acct_8231`", "accounts/acct_9": "/accounts/acct_4410", "cp_appel": "The nearest are: `/counterparties/cp_apple`",
		"monthly-summaries/2025-10": "/monthly-summaries/2025-0", "monthly-summary/2025-09": "/monthly-summaries/2025-0", "inv_1": "The nearest are: ", "wpg_99": "the id changes", "wpg_": "The nearest are: ",
		"nothing like it": "The nearest are: ", "../accounts/acct_8231": "The nearest are: ", "{slug}": "The nearest are: ", "a`b\n\u202e": "`a'b`", strings.Repeat("é", 256): "The nearest are: ", "/": "The nearest are: ",
	} {
		_, _, err := getPage(t, "acme", name)
		if !fault.Is(err, fault.WikiPageNotFound) || !strings.Contains(fault.Of(err).Message, near) || len(fault.Of(err).Message) > 1000 {
			t.Errorf("%.40q: %v, want %q", name, err, near)
		}
	}
}

func ask(t *testing.T, arguments string) (string, question.Answer, error) {
	t.Helper()
	out, err := wikiTool(t, "wiki.question").Call(context.Background(), catalog.Call{Principal: agent(t, "acme")}, json.RawMessage(arguments))
	var answer question.Answer
	if err != nil {
		return "", answer, err
	}
	must(t, json.Unmarshal(out.Structured.(json.RawMessage), &answer))
	return out.Content[0]["text"].(string), answer, nil
}

func TestQuestion(t *testing.T) {
	text, answer, err := ask(t, `{"question":"What's our cash position?","as_of":"2025-10-01T00:00:00+02:00","max_evidence_depth":"1","extra":1}`)
	must(t, err)
	want := "**Q:** What's our cash position?\n**A:** Cash is $10.25, the available balances of active checking and savings accounts: `Operating` (`acct_8231`) is $10.25 as of 2025-09-30.\n\nCited evidence:\n  - `acct_8231` (ledger_account): `Operating` available $10.25 as of 2025-09-30"
	if text != want || !answer.Answered || answer.Model != "ledger-rules" {
		t.Errorf("text:\n%s\nwant:\n%s", text, want)
	}
	refused, answer, err := ask(t, `{"question":"pay this now"}`)
	must(t, err)
	if answer.Answered || answer.Plan != nil || !strings.Contains(refused, "payment_intent.propose") {
		t.Errorf("an act: %s", refused)
	}
	long, err := json.Marshal(strings.Repeat("é", 2000))
	must(t, err)
	if _, answer, err = ask(t, `{"question":`+string(long)+`}`); err != nil || answer.Answered {
		t.Errorf("2000 characters: %v", err)
	}
}

// A question about what agents and people decide needs a scope of its own, and
// the refusal names both.
func TestQuestionScopes(t *testing.T) {
	tool := wikiTool(t, "wiki.question")
	caller := agent(t, "acme")
	caller.Scopes = identity.Scopes{identity.WikiRead}
	_, err := tool.Call(context.Background(), catalog.Call{Principal: caller}, json.RawMessage(`{"question":"what is waiting for approval?"}`))
	if !fault.Is(err, fault.AuthScopeInsufficient) || !strings.Contains(fault.Of(err).Message, "execution:read") {
		t.Errorf("without the scope: %v", err)
	}
	caller.Scopes = identity.Scopes{identity.WikiRead, identity.ExecutionRead}
	out, err := tool.Call(context.Background(), catalog.Call{Principal: caller}, json.RawMessage(`{"question":"what is waiting for approval?"}`))
	if err != nil || !strings.Contains(out.Content[0]["text"].(string), "Nothing is waiting") {
		t.Errorf("with it: %v, %v", out, err)
	}
}

func TestQuestionArguments(t *testing.T) {
	for arguments, field := range map[string]string{
		`{}`: "question", `{"question":""}`: "question", `{"question":" \n"}`: "question", `{"question":7}`: "question", `{"question":"` + strings.Repeat("é", 2001) + `"}`: "question",
		`{"question":"cash","as_of":"2025-09-30"}`: "as_of", `{"question":"cash","as_of":"2025-09-30T00:00:00"}`: "as_of", `{"question":"cash","as_of":""}`: "as_of", `{"question":"cash","as_of":"1969-12-31T23:59:59Z"}`: "as_of",
		`{"question":"cash","as_of":"9999-12-31T23:59:59Z"}`: "as_of", `{"question":"cash","as_of":"yesterday"}`: "as_of", `{"question":"cash","as_of":1}`: "as_of",
		`{"question":"cash","max_evidence_depth":0}`: "max_evidence_depth", `{"question":"cash","max_evidence_depth":6}`: "max_evidence_depth", `{"question":"cash","max_evidence_depth":1.5}`: "max_evidence_depth",
	} {
		if _, _, err := ask(t, arguments); !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(fault.Of(err).Message, field) {
			t.Errorf("%.80s: %v", arguments, err)
		}
	}
	for _, asOf := range []string{"1970-01-01T00:00:00Z", "9900-01-01T00:00:00Z", "2025-09-30T23:59:59.999+14:00"} {
		if _, _, err := ask(t, `{"question":"bills due within 366 days","as_of":"`+asOf+`"}`); err != nil {
			t.Errorf("as_of %s: %v", asOf, err)
		}
	}
}
