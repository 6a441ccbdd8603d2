package stack_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/conversation"
	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/lambda"
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
			if slices.Contains(everyProvider, name) {
				host = withProviders(t, "brain,agent,member")
			}
			conversation.Replay(t, file, conversation.Server{Send: sendTo(t, host), Steady: steady})
		})
	}
}

// stored are the credentials that lie hashed in the table, by what stands for
// them in a conversation.
var stored = map[string]string{
	"bak_YOUR_KEY": demo.FinanceKey, "cap_YOUR_TOKEN": demo.ProfileTicket, "cap_SPENT": demo.SpentTicket, "cap_PORTFOLIO": demo.PortfolioTicket,
}

func sendTo(t *testing.T, host string) func(*http.Request) (*http.Response, error) {
	base, err := url.Parse(host)
	if err != nil {
		t.Fatal(err)
	}
	return func(req *http.Request) (*http.Response, error) {
		req = req.WithContext(t.Context())
		req.URL = base.ResolveReference(req.URL)
		if name, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
			for _, secret := range []string{running.File().Tokens[name], stored[name]} {
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
	text = bytes.ReplaceAll(text, []byte(origin(running.File().MCPURL)), []byte("http://mcp.local"))
	for _, r := range []struct{ pattern, with string }{
		{`"request_id": "[^"]+"`, `"request_id": "REQUEST"`},
		{`\\"(created_at|updated_at)\\":\\"[^\\]+\\"`, `\"$1\":\"TIME\"`},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAll(text, []byte(r.with))
	}
	return text
}

func origin(url string) string { return strings.TrimSuffix(url, "/v1/agents/mcp") }
