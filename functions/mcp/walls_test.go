package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/edge"
)

// TestWalls: nobody learns of another company that it is there. Whatever an agent
// or a member of one company asks with an id, a slug, a name, a key or a cursor of
// the other, the answer is, byte for byte, the one they get in a world that the
// other company was never in, where the id is nobody's.
func TestWalls(t *testing.T) {
	lift(t)
	pass := passports(t)
	server := wired(t, pass.settings)
	sides := []side{acmeSide, globexSide}
	for i := range sides {
		sides[i].tokens = pass.of(t, sides[i])
		sides[i].live(t, server)
	}
	for _, pair := range [][2]side{{sides[1], sides[0]}, {sides[0], sides[1]}} {
		asking, other := pair[0], pair[1]
		t.Run(asking.tenant+" about "+other.tenant, func(t *testing.T) {
			all := holdings(t)
			foreign := other.secrets(t, server, all, asking.tenant)
			w := worlds{real: server, without: wired(t, with(pass.settings, "TABLE_NAME", world(t, asking))), known: all.known}
			owned(t, server, other, foreign)
			for _, holder := range []string{"agent", "member"} {
				w.token = asking.tokens[holder]
				w.compare(t, asking.probes(t, server, holder, foreign))
				w.read(t, holder, foreign)
			}
		})
	}
}

// side is a company as the test speaks for it.
type side struct {
	tenant, agent, member string
	pays                  string   // a payment of it that its policy lets through, without the amount
	decides               []string // what its member may decide: globex's made the agent and approves nothing of it
	tokens                map[string]string
}

var (
	acmeSide = side{tenant: demo.Acme, agent: "agt_finance", member: "mbr_ada", pays: `"action_type":"ach_outbound","source_account_id":"acct_8231","destination_counterparty_id":"cp_aws","currency":"USD"`,
		decides: []string{"approve", "reject"}}
	globexSide = side{tenant: demo.Globex, agent: "agt_globex", member: "mbr_gil", pays: `"action_type":"ach_outbound","source_account_id":"acct_gx01","destination_counterparty_id":"cp_gx_azure","currency":"GBP"`,
		decides: []string{"reject"}}
)

// passport is an authorization server of the test's own: the stack gives tokens to
// few, and to members with few scopes.
type passport struct {
	issuer   *issuer.Issuer
	settings map[string]string
}

func passports(t *testing.T) passport {
	t.Helper()
	made, err := issuer.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(made)
	t.Cleanup(server.Close)
	return passport{made, with(everyProvider, "ISSUER", server.URL, "JWKS_URL", server.URL+"/jwks.json")}
}

// with is a map with some more entries, given as names and values in turn.
func with(settings map[string]string, more ...string) map[string]string {
	out := maps.Clone(settings)
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// of makes tokens of a company's agent and of its member, each with all it can
// have.
func (p passport) of(t *testing.T, s side) map[string]string {
	t.Helper()
	grant := issuer.Grant{Issuer: p.settings["ISSUER"], Audience: running.MCPURL, Tenant: s.tenant, Now: time.Now(), Life: time.Hour}
	at := slices.IndexFunc(demo.Agents, func(a demo.Agent) bool { return a.Record.ID == s.agent })
	agent, member := grant, grant
	agent.Kind, agent.Subject, agent.Scopes = identity.Agent, s.agent, demo.Agents[at].Record.Scopes
	agent.ScopeHash = agent.Scopes.Hash()
	member.Kind, member.Subject, member.Scopes = identity.User, s.member, identity.AllScopes
	tokens := map[string]string{}
	for holder, g := range map[string]issuer.Grant{"agent": agent, "member": member} {
		token, err := p.issuer.Token(g)
		if err != nil {
			t.Fatal(err)
		}
		tokens[holder] = token
	}
	return tokens
}

// worlds are the function over everything and the function over one company
// alone.
type worlds struct {
	real, without *edge.Server
	known         map[string]bool // ids and hashes that were there before anybody asked
	token         string
}

// probe is a request. One that writes is not sent beside others: what it changes
// must be the same in both worlds.
type probe struct {
	method string
	params any
	writes bool
}

// compare sends each probe to both worlds.
func (w worlds) compare(t *testing.T, probes []probe) {
	t.Helper()
	differ := make([]string, len(probes))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	one := func(i int) error {
		here, err := w.ask(ctx, w.real, probes[i])
		if err != nil {
			return err
		}
		there, err := w.ask(ctx, w.without, probes[i])
		if here != there {
			differ[i] = fmt.Sprintf("%s %v\n  %s\nbut where the other company is not\n  %s", probes[i].method, probes[i].params, here, there)
		}
		return err
	}
	for i, p := range probes {
		if !p.writes {
			group.Go(func() error { return one(i) })
		}
	}
	err := group.Wait()
	ctx = t.Context()
	for i, p := range probes {
		if p.writes && err == nil {
			err = one(i)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	report(t, len(probes), differ)
}

// report says how many answers differ, and shows a few of them.
func report(t *testing.T, asked int, differ []string) {
	t.Helper()
	differ = slices.DeleteFunc(differ, func(text string) bool { return text == "" })
	for _, text := range differ[:min(len(differ), 5)] {
		t.Error(text)
	}
	if len(differ) > 0 {
		t.Errorf("%d of %d answers give something away", len(differ), asked)
	}
	if t.Logf("%d requests", asked); asked < 50 {
		t.Error("too few to say anything")
	}
}

// ask sends a request and returns the whole reply, without what is new in each.
func (w worlds) ask(ctx context.Context, server *edge.Server, p probe) (string, error) {
	r, err := send(ctx, server, w.token, p.method, p.params)
	if err != nil {
		return "", err
	}
	text := fmt.Sprint(r.StatusCode, r.Headers, r.Body) // the headers in the order of their names
	text = opaque.ReplaceAllStringFunc(text, func(found string) string {
		if w.known[found] {
			return found
		}
		return "FRESH"
	})
	return sealed.ReplaceAllString(lately.ReplaceAllString(text, "NOW"), `"next_cursor":"SEALED"`), nil
}

// What differs from answer to answer: ids and hashes nobody had before, a request's
// id among them, times of today and cursors, which are sealed with something random. The books end in
// 2025, so every time in them is compared.
var (
	opaque = regexp.MustCompile(`[a-z]+_[0-9A-HJKMNP-TV-Z]{26}|\b([0-9a-f]{64}|[0-9a-f]{32})\b`)
	lately = regexp.MustCompile(`20(2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	sealed = regexp.MustCompile(`"next_cursor":"[^"]+"`)
)

// send sends a request of JSON-RPC as the gateway would.
func send(ctx context.Context, server *edge.Server, token, method string, params any) (r reply, err error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return r, err
	}
	event, err := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": endpointPath, "body": string(body),
		"headers":        map[string]string{"content-type": "application/json", "authorization": "Bearer " + token, "host": "127.0.0.1"},
		"requestContext": map[string]any{"http": map[string]any{"method": http.MethodPost}, "stage": "$default"},
	})
	if err != nil {
		return r, err
	}
	raw, err := server.Invoke(ctx, event)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

// read opens everything there is of each kind that has a template, in the world
// with both companies. Each answer must be the one to the first of its kind where
// a company is alone, but for the URI in it.
func (w worlds) read(t *testing.T, holder string, foreign secrets) {
	t.Helper()
	open := func(ctx context.Context, server *edge.Server, uri string) (string, error) {
		answer, err := w.ask(ctx, server, probe{method: "resources/read", params: args{"uri": uri}})
		return strings.ReplaceAll(answer, uri, "URI"), err
	}
	var asked []string
	nobody := map[string]string{} // the answer where the company is alone, by URI
	for kind, template := range templated {
		names := foreign[kind]
		if holder == "member" {
			names = spread(names, 20)
		}
		alone := ""
		for i, name := range names {
			uri := strings.ReplaceAll(template, "{}", strings.TrimPrefix(name, "/"))
			if i == 0 {
				var err error
				if alone, err = open(t.Context(), w.without, uri); err != nil {
					t.Fatal(err)
				}
			}
			nobody[uri], asked = alone, append(asked, uri)
		}
	}
	differ := make([]string, len(asked))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	for i, uri := range asked {
		group.Go(func() error {
			got, err := open(ctx, w.real, uri)
			if got != nobody[uri] {
				differ[i] = fmt.Sprintf("%s\n  %s\nbut nobody's\n  %s", uri, got, nobody[uri])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	report(t, len(asked), differ)
}

// owned makes sure that the ids are good: their own company can open them. A wall
// around nothing would pass every test.
func owned(t *testing.T, server *edge.Server, other side, foreign secrets) {
	t.Helper()
	for kind, template := range templated {
		opened := 0
		for _, name := range foreign[kind] {
			uri := strings.ReplaceAll(template, "{}", strings.TrimPrefix(name, "/"))
			r, err := send(t.Context(), server, other.tokens["agent"], "resources/read", args{"uri": uri})
			if err != nil {
				t.Fatal(err)
			}
			if opened++; r.StatusCode != http.StatusOK || !strings.Contains(r.Body, `"result"`) {
				t.Errorf("%s reads its own %s: %d %s", other.tenant, uri, r.StatusCode, r.Body)
			}
			if opened == 3 {
				break
			}
		}
		if opened == 0 && kind != "proof" {
			t.Errorf("%s has no %s to look for", other.tenant, kind)
		}
	}
	for _, kind := range []string{"raw", "authz", "prop", "pi", "pd", "cp", "inv", "mbr", "agt", "evt", "wpg", "name", "key", "cursor"} {
		if len(foreign[kind]) == 0 {
			t.Errorf("%s has no %s to look for", other.tenant, kind)
		}
	}
}
