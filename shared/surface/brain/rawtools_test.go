package brain_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
	dynamo "github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

type deaf struct{}

func (deaf) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// database is a table on an engine of the test's own.
func database(t *testing.T) *dynamo.Table {
	t.Helper()
	const root = "../../../"
	binaries, err := engine.Install(t.Context(), root+".local/npm")
	must(t, err)
	stack, err := template.Load(root+"template.yaml", template.Options{Parameters: map[string]string{
		"Issuer": "http://127.0.0.1/", "JwksUrl": "http://127.0.0.1/jwks.json", "RpcUrls": "http://127.0.0.1/", "ChainId": "31337",
		"RegistryAddress": "0x0000000000000000000000000000000000000001", "AnchorAddress": "0x0000000000000000000000000000000000000002",
	}})
	must(t, err)
	db, err := engine.DynamoDB(context.Background(), engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(t.TempDir(), "db.sqlite"), Tables: map[string]template.Table{"main": stack.Tables[0]},
	})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return &dynamo.Table{Name: "main", API: dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: &db.Endpoint, HTTPClient: awshttp.New(time.Minute), Credentials: local,
	})}
}

var local = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
})

// archive is one on real engines; through replaces what carries its blobs.
func archive(t *testing.T, through blob.Client) *raw.Archive {
	t.Helper()
	return archiveOver(t, database(t), through)
}

// archiveOver is one whose rows lie in a table that is there.
func archiveOver(t *testing.T, store *dynamo.Table, through blob.Client) *raw.Archive {
	t.Helper()
	backend := s3mem.New()
	must(t, backend.CreateBucket("artifacts"))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	if through == nil {
		through = awshttp.New(time.Minute)
	}
	ids := id.NewSource(time.Now, rand.Reader)
	return &raw.Archive{
		Store: store, IDs: ids, Now: time.Now,
		Blobs: &blob.Bucket{Name: "artifacts", Region: "eu-central-1", Endpoint: server.URL, HTTP: through, Now: time.Now, Credentials: local},
		Trail: &audit.Trail{Bus: deaf{}, Store: store, IDs: ids, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
	}
}

// finance is an agent as a request has it.
func finance(t *testing.T, of string) identity.Principal {
	t.Helper()
	who := agent(t, of)
	who.Agent = &identity.AgentRecord{ID: who.ID, Role: "finance"}
	return who
}

func named(t *testing.T, tools []catalog.Tool, name string) catalog.Tool {
	t.Helper()
	at := slices.IndexFunc(tools, func(tool catalog.Tool) bool { return tool.Name == name })
	if at < 0 {
		t.Fatalf("there is no tool %s", name)
	}
	return tools[at]
}

// use calls a tool and holds its answer against its own schema.
func use(t *testing.T, tool catalog.Tool, who identity.Principal, arguments string) (map[string]any, string, error) {
	t.Helper()
	out, err := tool.Call(t.Context(), catalog.Call{Principal: who, RequestID: "req_1"}, json.RawMessage(arguments))
	if err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(out.Structured)
	must(t, err)
	var answer, declared map[string]any
	must(t, json.Unmarshal(text, &answer))
	_, schema := tool.Schemas()
	must(t, json.Unmarshal(schema, &declared))
	fits(t, tool.Name, declared, answer)
	return answer, out.Content[0]["text"].(string), nil
}

func list(v any) []any { l, _ := v.([]any); return l }

func TestContribute(t *testing.T) {
	tools := brain.RawTools(archive(t, nil))
	contribute, get := named(t, tools, "raw.contribute"), named(t, tools, "raw.artifact.get")
	who := finance(t, "acme")
	for _, c := range []struct{ name, arguments, bytes, mime string }{
		{"text", `{"payload":"a,b","mime_type":"text/csv"}`, "a,b", "text/csv"},
		{"an object", `{"payload":{"a": 1.10}}`, `{"a": 1.10}`, "application/json"},
		{"an array", `{"payload":[1,2]}`, `[1,2]`, "application/json"},
		{"JSON text", `{"payload":"{\"b\":1}"}`, `{"b":1}`, "application/json"},
		{"base64", `{"payload":"AP8=","encoding":"base64","mime_type":"application/octet-stream"}`, "\x00\xff", "application/octet-stream"},
		{"a source as JSON text", `{"payload":"s","source_ref":"{\"file\":\"a\"}"}`, "s", "application/json"},
	} {
		got, text, err := use(t, contribute, who, c.arguments)
		must(t, err)
		same(t, c.name+": sha256", got["sha256"], any(payload.Sum([]byte(c.bytes))))
		same(t, c.name+": size", got["size_bytes"], any(float64(len(c.bytes))))
		same(t, c.name+": type", got["mime_type"], any(c.mime))
		same(t, c.name+": state", got["state"], any("quarantined"))
		same(t, c.name+": deduplicated", got["deduplicated"], any(false))
		source := got["source_ref"].(map[string]any)
		same(t, c.name+": agent", source["agent_id"], any("agt_1"))
		if !strings.Contains(text, "`"+got["raw_id"].(string)+"`") || !strings.Contains(text, "quarantined") {
			t.Errorf("%s: text %q", c.name, text)
		}
		again, _, err := use(t, contribute, who, c.arguments)
		must(t, err)
		same(t, c.name+": again", again["deduplicated"], any(true))
		same(t, c.name+": again", again["raw_id"], got["raw_id"])

		read, _, err := use(t, get, who, fmt.Sprintf(`{"raw_id":%q}`, got["raw_id"]))
		must(t, err)
		same(t, c.name+": parsed", len(read["parsed"].([]any)), 0)
		delete(read, "parsed")
		delete(got, "deduplicated")
		same(t, c.name+": read", fmt.Sprint(read), fmt.Sprint(got))
		bare, _, err := use(t, get, who, fmt.Sprintf(`{"raw_id":%q,"include_parsed":false}`, got["raw_id"]))
		must(t, err)
		if _, there := bare["parsed"]; there {
			t.Errorf("%s: parsed outputs that nobody asked for", c.name)
		}
	}
	most := base64.StdEncoding.EncodeToString(make([]byte, payload.Max))
	_, _, err := use(t, contribute, who, `{"encoding":"base64","payload":"`+most+`"}`)
	must(t, err)
}

// No answer says where bytes lie, or what they are.
func TestAnArtifactKeepsItsBytes(t *testing.T) {
	store := archive(t, nil)
	tools := brain.RawTools(store)
	got, _, err := use(t, named(t, tools, "raw.contribute"), finance(t, "acme"), `{"payload":"the secret bytes"}`)
	must(t, err)
	out, err := named(t, tools, "raw.artifact.get").Call(t.Context(), catalog.Call{Principal: finance(t, "acme")}, json.RawMessage(fmt.Sprintf(`{"raw_id":%q}`, got["raw_id"])))
	must(t, err)
	text, err := json.Marshal(out)
	must(t, err)
	for _, hidden := range []string{"secret bytes", "http:", "https:", "s3", "artifacts", "/sha256/"} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("the answer holds %q: %s", hidden, text)
		}
	}
	var refusals []string
	for _, c := range []struct{ of, name string }{{"globex", got["raw_id"].(string)}, {"acme", "raw_none"}, {"acme", "tx_1"}} {
		_, _, err := use(t, named(t, tools, "raw.artifact.get"), finance(t, c.of), fmt.Sprintf(`{"raw_id":%q}`, c.name))
		same(t, c.of+" "+c.name, fault.Of(err).Code, fault.RawArtifactNotFound)
		refusals = append(refusals, fault.Of(err).Message)
	}
	same(t, "foreign and missing", refusals[0], refusals[1])
	same(t, "malformed and missing", refusals[2], refusals[1])
}

func TestContributeRefuses(t *testing.T) {
	contribute := named(t, brain.RawTools(archive(t, nil)), "raw.contribute")
	for _, arguments := range []string{
		`{}`, `{"payload":null}`, `{"payload":""}`, `{"payload":1}`, `{"payload":true}`,
		`{"payload":"x","toolCallId":"x"}`, `{"payload":"x","agent_id":"agt_2"}`, `{"payload":"x","Payload":"y"}`,
		`{"payload":"x","encoding":"hex"}`, `{"payload":"x","encoding":"base64"}`, `{"payload":{},"encoding":"base64"}`,
		`{"payload":"x","mime_type":""}`, `{"payload":"x","mime_type":"csv"}`, `{"payload":"x","mime_type":7}`,
		`{"payload":"x","source_ref":"file"}`, `{"payload":"x","source_ref":[]}`, `{"payload":"x","source_ref":{"a":1,"a":2}}`,
		`{"payload":"x","idempotency_key":""}`, `{"payload":"x","idempotency_key":"` + strings.Repeat("k", 256) + `"}`,
		`{"payload":"` + strings.Repeat("m", payload.Max+1) + `"}`,
	} {
		_, _, err := use(t, contribute, finance(t, "acme"), arguments)
		if !fault.Is(err, fault.InvalidArgument) || len(fault.Of(err).Message) > 400 {
			t.Errorf("%.60s: %.500v", arguments, err)
		}
	}
	_, _, err := use(t, contribute, identity.Principal{Kind: identity.User, ID: "mbr_1", Tenant: tenant(t, "acme")}, `{"payload":"x"}`)
	same(t, "a member", fault.Of(err).Code, fault.ActorUnresolved)
	if _, _, err := use(t, contribute, finance(t, "acme"), `{"payload":"x","idempotency_key":"k"}`); err != nil {
		t.Error(err)
	}
	_, _, err = use(t, contribute, finance(t, "acme"), `{"payload":"y","idempotency_key":"k"}`)
	same(t, "a key for other bytes", fault.Of(err).Code, fault.Conflict)
}

type broken func(*http.Request) (*http.Response, error)

// Do sends no request.
func (b broken) Do(req *http.Request) (*http.Response, error) { return b(req) }

func TestTheArtifactStoreIsAway(t *testing.T) {
	store := archive(t, broken(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }))
	_, _, err := use(t, named(t, brain.RawTools(store), "raw.contribute"), finance(t, "acme"), `{"payload":"x"}`)
	same(t, "code", fault.Of(err).Code, fault.DependencyUnavailable)
	if strings.Contains(fault.Of(err).Message, "refused") {
		t.Errorf("the caller is told the cause: %s", fault.Of(err).Message)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
