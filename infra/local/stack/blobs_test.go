package stack_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
)

// use calls a tool and returns its structured content and whether it refused.
func use(t *testing.T, holder, name string, arguments any) (content map[string]any, refused bool) {
	t.Helper()
	a := call(t, holder, "tools/call", map[string]any{"name": name, "arguments": arguments})
	if a.status != 200 || a.body.Error.Data.Code != "" {
		t.Fatalf("%s: status %d, code %s", name, a.status, a.body.Error.Data.Code)
	}
	var result struct {
		StructuredContent map[string]any
		IsError           bool
	}
	if err := json.Unmarshal(a.body.Result, &result); err != nil {
		t.Fatal(err)
	}
	return result.StructuredContent, result.IsError
}

// eventsOf returns the journal's lines that hold a text.
func eventsOf(t *testing.T, text string) []string {
	t.Helper()
	journal, err := os.ReadFile(filepath.Join(folder, stackfile.Events))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(journal)) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// An artifact goes through the real binary into the real engines: its bytes into
// the bucket, its row into the table, its hash and nothing else onto the bus.
func TestAnArtifactThroughTheStack(t *testing.T) {
	text := "bank statement of " + t.Name() + strings.Repeat(", and much more", 100_000) // over the 1 MiB of other messages
	arguments := map[string]any{"payload": text, "mime_type": "text/plain", "idempotency_key": "k1"}
	got, refused := use(t, "agent", "raw.contribute", arguments)
	if refused || got["sha256"] != payload.Sum([]byte(text)) || got["deduplicated"] != false || got["agent_id"] != "agt_finance" {
		t.Fatalf("contributed: %v %v", refused, got)
	}
	again, _ := use(t, "agent", "raw_contribute", arguments)
	if again["raw_id"] != got["raw_id"] || again["deduplicated"] != true {
		t.Errorf("again: %v", again)
	}
	arguments["payload"] = "other"
	if _, refused := use(t, "agent", "raw.contribute", arguments); !refused {
		t.Error("the key was taken for other bytes")
	}
	read, refused := use(t, "agent", "raw.artifact.get", map[string]any{"raw_id": got["raw_id"]})
	if refused || read["sha256"] != got["sha256"] {
		t.Errorf("read: %v %v", refused, read)
	}
	if _, refused := use(t, "other_tenant_agent", "raw.artifact.get", map[string]any{"raw_id": got["raw_id"]}); !refused {
		t.Error("another tenant reads it")
	}

	file := running.File()
	bucket := &blob.Bucket{Name: file.Bucket, Region: stackfile.Region, Endpoint: file.S3Endpoint, Credentials: stackfile.AWS().Credentials, HTTP: awshttp.New(time.Minute), Now: time.Now}
	body, err := bucket.Get(context.Background(), "acme/sha256/"+got["sha256"].(string), len(text))
	if err != nil || string(body) != text {
		t.Errorf("%d bytes in the bucket: %v", len(body), err)
	}
	if lines := eventsOf(t, "bank statement of"); len(lines) != 0 {
		t.Errorf("an event holds the bytes: %.300s", lines[0])
	}
	inner := eventsOf(t, `"action":"raw.contributed"`)
	if len(inner) != 1 || !strings.Contains(inner[0], got["sha256"].(string)) {
		t.Errorf("inner events: %.500v", inner)
	}
	if outer := eventsOf(t, "sha256:"+got["sha256"].(string)); len(outer) != 2 {
		t.Errorf("%d outer events name the hash, want 2", len(outer))
	}
}
