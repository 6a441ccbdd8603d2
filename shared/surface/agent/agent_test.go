package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/agent"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mounted is the provider, for tenants that may ask 60 times a minute.
func mounted(t testing.TB) *catalog.Catalog {
	t.Helper()
	c := &catalog.Catalog{}
	must(t, c.Mount(agent.Provider(func(of identity.Tenant) int {
		if of.String() == "acme" {
			return 60
		}
		return 1
	})))
	return c
}

// caller is an agent whose credential may use less than its grant.
func caller(t testing.TB, change func(*identity.AgentRecord)) identity.Principal {
	t.Helper()
	acme, err := identity.OperatorTenant("acme")
	must(t, err)
	rec := identity.AgentRecord{
		ID: "agt_1", TenantID: "acme", Status: identity.Active, Name: "Research Assistant", Role: "financial_health",
		Scopes: identity.Scopes{identity.LedgerRead, identity.WikiRead}, Address: "0xsecret", CreatedBy: "mbr_1", Model: "gpt-4o",
		Skills: []identity.Skill{{Name: "web_search", Description: "Search the web", Version: "1.0.0", Tags: []string{"web"}}, {Name: "summarize"}},
	}
	if change != nil {
		change(&rec)
	}
	return identity.Principal{Kind: identity.Agent, ID: "agt_1", Tenant: acme, Scopes: identity.Scopes{identity.WikiRead}, Agent: &rec}
}

func read(t *testing.T, uri string, who identity.Principal) string {
	t.Helper()
	target, found := mounted(t).Resource(uri, who)
	if !found || len(target.Scopes) != 0 {
		t.Fatalf("%s: found %v, needs %v", uri, found, target.Scopes)
	}
	contents, err := target.Read(context.Background(), catalog.Call{Principal: who})
	must(t, err)
	raw, err := contents.Encode(uri)
	must(t, err)
	var list []struct{ URI, MIMEType, Text string }
	must(t, json.Unmarshal(raw, &list))
	if list[0].URI != uri || list[0].MIMEType != "application/json" {
		t.Errorf("contents %s", raw)
	}
	return list[0].Text
}

func TestReads(t *testing.T) {
	bare := func(rec *identity.AgentRecord) { rec.Model, rec.Skills = "", nil }
	for _, c := range []struct {
		name, uri string
		change    func(*identity.AgentRecord)
		want      string
	}{
		{"configuration", "beeos://agent/config", nil, `{"name":"Research Assistant","model":"gpt-4o","skills":["web_search","summarize"],"agent_id":"agt_1","role":"financial_health",` +
			`"scopes":["ledger:read","wiki:read"],"effective_scopes":["wiki:read"],"limits":{"requests_per_minute":60},"policy_version":null,"state":"active"}`},
		{"configuration of little", "beeos://agent/config", bare, `{"name":"Research Assistant","model":null,"skills":[],"agent_id":"agt_1","role":"financial_health",` +
			`"scopes":["ledger:read","wiki:read"],"effective_scopes":["wiki:read"],"limits":{"requests_per_minute":60},"policy_version":null,"state":"active"}`},
		{"skills", "beeos://agent/skills", nil, `{"skills":[{"name":"web_search","description":"Search the web","version":"1.0.0","tags":["web"]},{"name":"summarize","description":"","version":"","tags":[]}],"total_skills":2}`},
		{"no skills", "beeos://agent/skills", bare, `{"skills":[],"total_skills":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, c.uri, caller(t, c.change)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The lists are the document's own.
func TestListed(t *testing.T) {
	c := mounted(t)
	resources, err := c.Resources(context.Background(), catalog.Call{Principal: caller(t, nil)})
	must(t, err)
	prompts := c.Prompts()
	for got, want := range map[any]string{
		&resources: `[{"uri":"beeos://agent/config","name":"Agent Configuration","description":"Current agent configuration and capabilities","mimeType":"application/json"},` +
			`{"uri":"beeos://agent/skills","name":"Skill Registry","description":"List of all registered skills with metadata","mimeType":"application/json"}]`,
		&prompts: `[{"name":"research","description":"Research a topic and provide a summary","arguments":[{"name":"topic","description":"The topic to research","required":true},` +
			`{"name":"depth","description":"Research depth: brief, standard, or deep","required":false}]}]`,
	} {
		raw, err := json.Marshal(got)
		must(t, err)
		if string(raw) != want {
			t.Errorf("got  %s\nwant %s", raw, want)
		}
	}
}

// People find none of it, whatever they are and whatever their token names.
func TestHiddenFromPeople(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	must(t, err)
	person := identity.Principal{Kind: identity.User, ID: "mbr_1", Tenant: acme, Scopes: identity.AllScopes, Member: &identity.MemberRecord{ID: "mbr_1", Role: identity.Admin}}
	holder := person
	holder.URIs = []string{"beeos://agent/config", "beeos://agent/skills"}
	c := mounted(t)
	for _, who := range []identity.Principal{person, holder} {
		if listed, err := c.Resources(context.Background(), catalog.Call{Principal: who}); err != nil || len(listed) != 0 {
			t.Errorf("listed %v, %v", listed, err)
		}
		for _, uri := range []string{"beeos://agent/config", "beeos://agent/skills"} {
			if _, found := c.Resource(uri, who); found {
				t.Errorf("%s is found", uri)
			}
		}
	}
}

func TestResearch(t *testing.T) {
	prompt, found := mounted(t).Prompt("research")
	if !found || len(prompt.Scopes) != 0 {
		t.Fatalf("found %v, needs %v", found, prompt.Scopes)
	}
	const deep = "Research quantum computing in depth. Provide a comprehensive summary covering recent advances, key players, and practical applications."
	for _, c := range []struct{ topic, depth, want string }{ // "!" begins a refusal
		{"quantum computing", "deep", deep},
		{" quantum\n\tcomputing\x00 ", "deep", deep},
		{"x", "brief", "Research x briefly. "},
		{"x", "standard", "Research x. "},
		{"x", "", "Research x. "},
		{"100% %s %d", "", "Research 100% %s %d. "},
		{strings.Repeat("é", 500), "brief", "Research é"},
		{"", "deep", "!topic"}, {" \x00\n", "", "!topic"}, {strings.Repeat("a", 1001), "", "!topic"}, {"a\xff", "", "!topic"},
		{"x", "Deep", "!depth"}, {"x", "deepest", "!depth"}, {"x", " ", "!depth"},
	} {
		m, err := prompt.Get(context.Background(), catalog.Call{}, map[string]string{"topic": c.topic, "depth": c.depth})
		if want, refused := strings.CutPrefix(c.want, "!"); refused {
			if !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(fault.Of(err).Message, want+": want ") {
				t.Errorf("%.20q %q: %v", c.topic, c.depth, err)
			}
			continue
		}
		must(t, err)
		if text, _ := m.Messages[0].Content["text"].(string); len(m.Messages) != 1 || m.Messages[0].Role != "user" || !strings.HasPrefix(text, c.want) {
			t.Errorf("%.20q %q: %+v", c.topic, c.depth, m)
		}
	}
	for prefix, want := range map[string][]string{"": {"brief", "standard", "deep"}, "D": {"deep"}, "st": {"standard"}, "x": {}} {
		got, err := prompt.Arguments[1].Complete(context.Background(), catalog.Call{}, prefix, 100)
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("after %q: %v", prefix, got)
		}
	}
}
