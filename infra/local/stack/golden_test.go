package stack_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/conversation"
	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/template"
)

// everyProvider are the conversations that speak to a function with all
// providers mounted. The others speak to the stack's own, which has the default.
var everyProvider = []string{"beeos", "member"}

// Each conversation holds the requests of a document as they stand there.
// `Authorization: Bearer NAME` names a token of the stack, and the documents'
// placeholders of stored credentials stand for the demo's.
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			host := origin(running.File().MCPURL)
			switch {
			case slices.Contains(everyProvider, name):
				host = withProviders(t, "brain,agent,member")
			case name == "money":
				conversation.Replay(t, file, money(t))
				return
			}
			made := &made{names: map[string]string{}, count: map[string]int{}}
			conversation.Replay(t, file, conversation.Server{
				Send: sendTo(t, host, running.File().Tokens), Steady: func(text []byte) []byte { return made.steady(steady(text)) },
			})
		})
	}
}

// money is a stack of its own: what is promised and what is left under a cap
// depends on all that was proposed before.
func money(t *testing.T) conversation.Server {
	t.Helper()
	own, err := os.MkdirTemp("", "stack-money")
	if err != nil {
		t.Fatal(err)
	}
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.Start(t.Context(), stack.Options{Repo: repo, Folder: own})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); os.RemoveAll(own) })
	made := &made{names: map[string]string{}, count: map[string]int{}}
	return conversation.Server{Send: made.in(sendTo(t, origin(s.File().MCPURL), s.File().Tokens)), Steady: func(text []byte) []byte { return made.steady(steady(text)) }}
}

// made gives what is made in a conversation, ids and hashes, names in the order
// they come up in, such as pi_MADE1 and HASH2. Requests may use them.
type made struct {
	names map[string]string
	count map[string]int
}

// ids are what is made, and moments what differs from run to run besides: times,
// and the band of risk, which looks back a year from today.
var (
	ids     = regexp.MustCompile(`\b(pi|authz|prop|pd|evt)_[0-9A-Z]{26}\b|\b[0-9a-f]{64}\b`)
	moments = []struct {
		pattern *regexp.Regexp
		with    string
	}{
		{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
		{regexp.MustCompile(`(risk_band\\?": ?\\?"|, risk )(low|standard|elevated|high)\b`), "${1}BAND"},
	}
)

func (m *made) steady(text []byte) []byte {
	for _, r := range moments {
		text = r.pattern.ReplaceAll(text, []byte(r.with))
	}
	return ids.ReplaceAllFunc(text, func(found []byte) []byte {
		real := string(found)
		if m.names[real] == "" {
			kind, _, prefixed := strings.Cut(real, "_")
			kind += "_MADE"
			if !prefixed {
				kind = "HASH"
			}
			m.count[kind]++
			m.names[real] = kind + strconv.Itoa(m.count[kind])
		}
		return []byte(m.names[real])
	})
}

// in puts what was made into a request that names it.
func (m *made) in(send func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		for real, name := range m.names {
			body = bytes.ReplaceAll(body, []byte(`"`+name+`"`), []byte(`"`+real+`"`))
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return send(req)
	}
}

// stored are the credentials that lie hashed in the table, by what stands for
// them in a conversation.
var stored = map[string]string{
	"bak_YOUR_KEY": demo.FinanceKey, "cap_YOUR_TOKEN": demo.ProfileTicket, "cap_SPENT": demo.SpentTicket, "cap_PORTFOLIO": demo.PortfolioTicket,
}

func sendTo(t *testing.T, host string, tokens map[string]string) func(*http.Request) (*http.Response, error) {
	base, err := url.Parse(host)
	if err != nil {
		t.Fatal(err)
	}
	return func(req *http.Request) (*http.Response, error) {
		req = req.WithContext(t.Context())
		req.URL = base.ResolveReference(req.URL)
		if name, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
			for _, secret := range []string{tokens[name], stored[name]} {
				if secret != "" {
					req.Header.Set("Authorization", "Bearer "+secret)
				}
			}
		}
		if secret := stored[req.Header.Get("X-Agent-Api-Key")]; secret != "" {
			req.Header.Set("X-Agent-API-Key", secret)
		}
		return http.DefaultClient.Do(req)
	}
}

// withProviders is the stack's function once more, with other providers, behind
// a gateway of its own. Its canonical URL is the stack's, so tokens are good at
// both.
func withProviders(t *testing.T, providers string) string {
	t.Helper()
	f := running.Function("McpFunction").Function()
	f.Env = append(slices.DeleteFunc(slices.Clone(f.Env), func(v string) bool { return strings.HasPrefix(v, "PROVIDERS=") }), "PROVIDERS="+providers)
	pool, err := lambda.New(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	plan, err := template.Load("../../../template.yaml", template.Options{Parameters: map[string]string{
		"Issuer": "-", "JwksUrl": "-", "RpcUrls": "-", "ChainId": "31337", "RegistryAddress": "-", "AnchorAddress": "-",
	}})
	if err != nil {
		t.Fatal(err)
	}
	front, err := gateway.New(gateway.Config{Function: pool, ResponseMapping: plan.API.Routes[0].ResponseMapping})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(front)
	t.Cleanup(server.Close)
	return server.URL
}

// steady replaces what differs from run to run: request ids, the port, and the
// times rows were written at.
func steady(text []byte) []byte {
	text = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).ReplaceAll(text, []byte("http://mcp.local"))
	for _, r := range []struct{ pattern, with string }{
		{`"request_id": "[^"]+"`, `"request_id": "REQUEST"`},
		{`\\"(created_at|updated_at)\\":\\"[^\\]+\\"`, `\"$1\":\"TIME\"`},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAll(text, []byte(r.with))
	}
	return text
}

func origin(url string) string { return strings.TrimSuffix(url, "/v1/agents/mcp") }
