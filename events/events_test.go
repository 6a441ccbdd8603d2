// Package events_test checks the events themselves: that each is whole
// and listed. What the function answers to them is tested with the function.
package events_test

import (
	"crypto/md5" // queues state a message's MD5; nothing relies on it
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// event has what all shapes share of a body and its length, and the messages of
// a queue's batch.
type event struct {
	Headers           map[string]string
	MultiValueHeaders map[string][]string
	Body              string
	IsBase64Encoded   bool
	Records           []struct{ MessageID, Body, MD5OfBody string }
}

var requests = []string{"bad-token", "discover", "healthz", "initialize", "preflight", "resources-read", "tools-list"}

func TestEveryRequestInEveryShape(t *testing.T) {
	for _, shape := range []string{"alb", "http", "rest", "url"} {
		for _, request := range requests {
			if _, err := os.Stat(shape + "-" + request + ".json"); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestEvents(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) < 28 {
		t.Fatalf("%d events, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var e event
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			_, request, _ := strings.Cut(strings.TrimSuffix(file, ".json"), "-")
			if !strings.Contains(string(readme), "| `"+request+"` |") && !strings.Contains(string(readme), "| `"+file+"` |") {
				t.Error("README.md does not list it")
			}
			checkBody(t, e)
			checkMessages(t, e)
		})
	}
}

// checkBody decodes the body and compares it with the length that was sent.
func checkBody(t *testing.T, e event) {
	t.Helper()
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			t.Fatal(err)
		}
	}
	if len(body) > 0 && !json.Valid(body) {
		t.Error("the body is no JSON")
	}
	length := e.Headers["content-length"]
	if values := e.MultiValueHeaders["content-length"]; len(values) > 0 {
		length = values[0]
	}
	if length != "" && length != strconv.Itoa(len(body)) {
		t.Errorf("content-length %s, the body has %d bytes", length, len(body))
	}
}

// checkMessages compares the bodies of a batch with their sums. No message comes
// twice in one.
func checkMessages(t *testing.T, e event) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range e.Records {
		sum := md5.Sum([]byte(m.Body))
		if got := hex.EncodeToString(sum[:]); got != m.MD5OfBody {
			t.Errorf("message %s: the body's MD5 is %s, not %q", m.MessageID, got, m.MD5OfBody)
		}
		if !json.Valid([]byte(m.Body)) || m.MessageID == "" || seen[m.MessageID] {
			t.Errorf("message %q comes twice or is no JSON", m.MessageID)
		}
		seen[m.MessageID] = true
	}
}
