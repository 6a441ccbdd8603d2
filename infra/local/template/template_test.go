package template_test

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/template"
)

const real = "../../../template.yaml"

// given are the parameters the real template has no default for.
func given() map[string]string {
	return map[string]string{
		"Issuer":          "http://127.0.0.1:1/",
		"JwksUrl":         "http://127.0.0.1:1/jwks.json",
		"RpcUrls":         "http://127.0.0.1:2,http://127.0.0.1:3",
		"ChainId":         "31337",
		"RegistryAddress": "0x0000000000000000000000000000000000000001",
		"AnchorAddress":   "0x0000000000000000000000000000000000000002",
	}
}

func load(t *testing.T) *template.Template {
	t.Helper()
	got, err := template.Load(real, template.Options{Parameters: given()})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %#v\nwant %#v", what, got, want)
	}
}

func TestRealTable(t *testing.T) {
	s := func(name string) template.Attribute { return template.Attribute{Name: name, Type: "S"} }
	index := func(name string) template.Index {
		return template.Index{Name: name, Key: template.Key{Partition: s(name + "pk"), Sort: s(name + "sk")}}
	}
	equal(t, "tables", load(t).Tables, []template.Table{{
		LogicalID: "Table",
		Key:       template.Key{Partition: s("pk"), Sort: s("sk")},
		Indexes:   []template.Index{index("gsi1"), index("gsi2"), index("gsi3")},
		TTL:       "expires_at",
	}})
}

func TestRealAPI(t *testing.T) {
	challenge := map[string]string{"overwrite:header.WWW-Authenticate": "$response.header.X-RM-Challenge"}
	equal(t, "API", load(t).API, &template.API{
		LogicalID: "Api",
		Stage:     "$default",
		Routes: []template.Route{{
			Key:             "$default",
			Function:        "McpFunction",
			Timeout:         30 * time.Second,
			ResponseMapping: map[int]map[string]string{401: challenge, 403: challenge},
		}},
		BurstLimit: 1000,
		RateLimit:  500,
	})
}

func TestRealFunctions(t *testing.T) {
	got := load(t)
	equal(t, "buses", got.Buses, []template.Bus{{LogicalID: "Bus", Name: "robotmoney-local"}})
	equal(t, "buckets", got.Buckets, []template.Bucket{{LogicalID: "BlobBucket"}})
	f := got.Functions[slices.IndexFunc(got.Functions, func(f template.Function) bool { return f.LogicalID == "McpFunction" })]
	equal(t, "code", f.CodeURI, "functions/mcp")
	equal(t, "memory", f.MemoryMB, 512)
	equal(t, "timeout", f.Timeout, 28*time.Second)
	equal(t, "concurrency", f.ReservedConcurrency, 50)
	equal(t, "environment", f.Environment, map[string]string{
		"ALLOWED_ORIGINS":   "",
		"ANCHOR_ADDRESS":    "0x0000000000000000000000000000000000000002",
		"BEDROCK_MODEL_ID":  "",
		"BLOB_BUCKET":       "BlobBucket",
		"BUS_NAME":          "Bus",
		"CHAIN_ID":          "31337",
		"CURSOR_KEY":        "",
		"CURSOR_KEY_SECRET": "CursorKey",
		"DYNAMODB_ENDPOINT": "",
		"ENDPOINT_URL":      "https://mcp.robotmoney.com/v1/agents/mcp",
		"EVENTS_ENDPOINT":   "",
		"ISSUER":            "http://127.0.0.1:1/",
		"JWKS_URL":          "http://127.0.0.1:1/jwks.json",
		"LOG_LEVEL":         "INFO",
		"PROVIDERS":         "brain",
		"REGISTRY_ADDRESS":  "0x0000000000000000000000000000000000000001",
		"RPC_URLS":          "http://127.0.0.1:2,http://127.0.0.1:3",
		"S3_ENDPOINT":       "",
		"TABLE_NAME":        "Table",
	})
}

func TestRealOutbox(t *testing.T) {
	got := load(t)
	f := got.Functions[slices.IndexFunc(got.Functions, func(f template.Function) bool { return f.LogicalID == "OutboxFunction" })]
	equal(t, "retries", f.MaximumRetryAttempts, 0)
	equal(t, "dead letters", f.DeadLetter, "OutboxDeadLetters")
	at := slices.IndexFunc(got.Schedules, func(s template.Schedule) bool { return s.Function == "OutboxFunction" })
	equal(t, "schedule", got.Schedules[at], template.Schedule{LogicalID: "OutboxFunctionEveryMinute", Expression: "rate(1 minute)", Function: "OutboxFunction"})
	if f.Timeout >= time.Minute {
		t.Errorf("a round may take %s: two would overlap", f.Timeout)
	}
}

// The gateway cuts a request off at 30 s: a function that may run longer would
// finish work whose caller was told it failed.
func TestRealTimeoutsAreOrdered(t *testing.T) {
	got := load(t)
	for _, route := range got.API.Routes {
		for _, f := range got.Functions {
			if f.LogicalID == route.Function && f.Timeout >= route.Timeout {
				t.Errorf("%s may run %s, its route ends after %s", f.LogicalID, f.Timeout, route.Timeout)
			}
		}
	}
}

// Every function of the repository is deployed, and nothing else is.
func TestRealFunctionsAreThoseOfTheRepository(t *testing.T) {
	folders, err := filepath.Glob("../../../functions/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, path := range folders {
		want = append(want, "functions/"+filepath.Base(filepath.Dir(path)))
	}
	for _, f := range load(t).Functions {
		got = append(got, f.CodeURI)
	}
	slices.Sort(got)
	equal(t, "functions", got, want)
}

func TestResolverGivesTheNames(t *testing.T) {
	asked := map[template.Reference]bool{}
	got, err := template.Load(real, template.Options{
		Parameters: given(),
		Resolve: func(r template.Reference) (string, error) {
			asked[r] = true
			return "local-" + r.Resource, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "TABLE_NAME", got.Functions[0].Environment["TABLE_NAME"], "local-Table")
	equal(t, "CURSOR_KEY_SECRET", got.Functions[0].Environment["CURSOR_KEY_SECRET"], "local-CursorKey")
	equal(t, "route", got.API.Routes[0].Function, "McpFunction")
	for _, r := range slices.Collect(maps.Keys(asked)) {
		if r.Resource == "" {
			t.Errorf("asked for %+v", r)
		}
	}
}
