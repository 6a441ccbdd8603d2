package stack_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every event of the events folder is answered by the real binary over the
// Runtime API, with the status its README gives and in the shape it came in.
func TestEventsOverTheRuntimeAPI(t *testing.T) {
	files, err := filepath.Glob("../../../events/*.json")
	if err != nil || len(files) < 28 {
		t.Fatalf("%d events: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			event, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			event = bytes.ReplaceAll(event, []byte("REPLACE_WITH_TOKEN"), []byte(running.File().Tokens["agent"]))
			result, err := running.Function("McpFunction").Invoke(t.Context(), event)
			if err != nil || result.FunctionError != "" {
				t.Fatalf("%v %s: %s", err, result.FunctionError, result.Payload)
			}
			var reply struct {
				StatusCode        int
				StatusDescription string
				Headers           map[string]string
				MultiValueHeaders map[string][]string
				Body              string
			}
			if err := json.Unmarshal(result.Payload, &reply); err != nil {
				t.Fatal(err)
			}
			if want := statusOf(name); reply.StatusCode != want {
				t.Errorf("status %d, want %d: %s", reply.StatusCode, want, reply.Body)
			}
			multi := strings.HasPrefix(name, "rest-") || strings.HasSuffix(name, "-multivalue")
			if multi != (reply.MultiValueHeaders != nil) || multi == (reply.Headers != nil) {
				t.Errorf("headers %v and %v: not the form of this shape", reply.Headers, reply.MultiValueHeaders)
			}
			if strings.HasPrefix(name, "alb-") != (reply.StatusDescription != "") {
				t.Errorf("status description %q", reply.StatusDescription)
			}
			if strings.Contains(name, "resources-read") && !strings.Contains(reply.Body, "61404.12") {
				t.Errorf("body %s", reply.Body)
			}
		})
	}
}

// statusOf is what the README of the folder promises for a request.
func statusOf(name string) int {
	switch {
	case strings.HasSuffix(name, "-bad-token"):
		return 401
	case strings.HasSuffix(name, "-preflight"):
		return 204
	}
	return 200
}
