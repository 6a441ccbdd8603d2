package clients_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/robotmoney/mcp/infra/clients/target"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// running is the stack all tests here share.
var running stackfile.Stack

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	repo, err := target.Repo()
	if err != nil {
		return 1, err
	}
	file, end, err := target.Start(context.Background(), repo)
	if err != nil {
		return 1, err
	}
	defer end()
	running = file
	return m.Run(), nil
}

// revisions are all the server speaks.
var revisions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// eachRevision runs a test once in each revision.
func eachRevision(t *testing.T, test func(t *testing.T, revision string)) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			test(t, revision)
		})
	}
}

// door presents a token and, when it is told to step up, exchanges it for
// another one, as a client does that can ask its authorization server.
type door struct {
	token, higher string
	challenges    []string
}

// TokenSource gives the SDK the token of the moment.
func (d *door) TokenSource(context.Context) (oauth2.TokenSource, error) {
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: d.token, TokenType: "Bearer"}), nil
}

// Authorize is called for a 401 or a 403.
func (d *door) Authorize(_ context.Context, _ *http.Request, res *http.Response) error {
	defer res.Body.Close()
	d.challenges = append(d.challenges, res.Header.Get("WWW-Authenticate"))
	if d.higher == "" {
		return errors.New("no better token")
	}
	d.token, d.higher = d.higher, ""
	return nil
}

func connect(t *testing.T, revision string, d *door) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "clients-test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: running.MCPURL, OAuthHandler: d, DisableStandaloneSSE: true, MaxRetries: -1,
	}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return session
}

func as(name string) *door { return &door{token: running.Tokens[name]} }

func TestConnect(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		said := connect(t, revision, as("agent")).InitializeResult()
		if said.ProtocolVersion != revision {
			t.Errorf("negotiated %s", said.ProtocolVersion)
		}
		if said.ServerInfo == nil || said.ServerInfo.Name != "robotmoney-mcp" {
			t.Errorf("the server calls itself %+v", said.ServerInfo)
		}
		if said.Instructions == "" {
			t.Error("no instructions")
		}
	})
}

func TestLists(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		session := connect(t, revision, as("agent"))
		var resources, templates []string
		for resource, err := range session.Resources(t.Context(), nil) {
			must(t, err)
			resources = append(resources, resource.URI)
		}
		for template, err := range session.ResourceTemplates(t.Context(), nil) {
			must(t, err)
			templates = append(templates, template.URITemplate)
		}
		for _, err := range session.Tools(t.Context(), nil) {
			must(t, err)
		}
		for _, err := range session.Prompts(t.Context(), nil) {
			must(t, err)
		}
		contains(t, resources, "brain://payments/action_types")
		contains(t, templates, "brain://ledger/transactions/{transaction_id}", "brain://wiki/pages/{slug}", "brain://proofs/{action_id}")
	})
}

func TestRead(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		res, err := connect(t, revision, as("agent")).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "brain://ledger/transactions/tx_4127"})
		must(t, err)
		if len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, `"61404.12"`) || res.Contents[0].MIMEType != "application/json" {
			t.Errorf("read %+v", res.Contents)
		}
	})
}

func TestComplete(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		res, err := connect(t, revision, as("agent")).Complete(t.Context(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "brain://ledger/accounts/{account_id}"},
			Argument: mcp.CompleteParamsArgument{Name: "account_id", Value: "acct_82"},
		})
		must(t, err)
		contains(t, res.Completion.Values, "acct_8231")
	})
}

func TestRefused(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		session := connect(t, revision, as("agent"))
		_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "brain://ledger/transactions/tx_0"})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) {
			t.Fatalf("error %v", err)
		}
		if wire.Code != -32602 || !strings.Contains(string(wire.Data), `"code":"ledger_row_not_found"`) || !strings.Contains(string(wire.Data), `"uri":"brain://ledger/transactions/tx_0"`) {
			t.Errorf("code %d, data %s", wire.Code, wire.Data)
		}
		// A refusal must not cost the session.
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Errorf("the call after the refused one: %v", err)
		}
	})
}

func TestStepUp(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		d := &door{token: running.Tokens["agent_readonly"], higher: running.Tokens["agent"]}
		_, err := connect(t, revision, d).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "brain://proofs/pi_a1b2c3"})
		if len(d.challenges) != 1 || !strings.Contains(d.challenges[0], `error="insufficient_scope"`) || !strings.Contains(d.challenges[0], `scope="audit:read"`) {
			t.Fatalf("challenges %q", d.challenges)
		}
		// With the scope the read goes through: to the proof, or to the answer that
		// there is none yet.
		if err != nil && !strings.Contains(err.Error(), "no proof of such an action") {
			t.Errorf("after the step up: %v", err)
		}
	})
}

func TestNoBetterToken(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		d := as("agent_readonly")
		client := mcp.NewClient(&mcp.Implementation{Name: "clients-test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: running.MCPURL, OAuthHandler: d, DisableStandaloneSSE: true, MaxRetries: -1,
		}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		must(t, err)
		defer session.Close() // the SDK ends a session whose authorization failed
		if _, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "brain://proofs/pi_a1b2c3"}); err == nil {
			t.Error("read without the scope")
		}
		if len(d.challenges) != 1 || !strings.Contains(d.challenges[0], "insufficient_scope") {
			t.Errorf("challenges %q", d.challenges)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, list []string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !slices.Contains(list, want) {
			t.Errorf("%q is not in %q", want, list)
		}
	}
}
