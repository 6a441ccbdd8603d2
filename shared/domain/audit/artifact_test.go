package audit_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
)

// The bytes of a raw artifact are in no event, however the tool is called and
// whatever became of the call.
func TestArtifactsAreRecordedAsTheirHash(t *testing.T) {
	for _, name := range []string{"raw.contribute", "raw_contribute"} {
		for arguments, want := range map[string]string{
			`{"payload":"secret"}`:                       `{"payload":"sha256:` + payload.Sum([]byte("secret")) + `"}`,
			`{"payload":"c2VjcmV0","encoding":"base64"}`: `{"encoding":"base64","payload":"sha256:` + payload.Sum([]byte("secret")) + `"}`,
			`"secret"`: `"sha256:` + payload.Sum([]byte(`"secret"`)) + `"`,
		} {
			for _, code := range []string{"", "auth_scope_insufficient"} {
				event := called(t, audit.Call{RequestID: "req_1", Tenant: acme(t), Actor: identity.Actor{Type: "agent", ID: "agt_1"}, Method: "tools/call", Name: name, Arguments: []byte(arguments), Code: code})
				equal(t, "arguments", event.Inputs["arguments"].(string), want)
				equal(t, "their hash", event.Inputs["arguments_sha256"].(string), payload.Sum([]byte(want)))
			}
		}
	}
	// What only looks like it is recorded as it came.
	for _, call := range []audit.Call{{Method: "tools/call", Name: "raw.artifact.get"}, {Method: "prompts/get", Name: "raw.contribute"}} {
		call.Tenant, call.Arguments = acme(t), []byte(`{"payload":"plain"}`)
		if got := called(t, call).Inputs["arguments"].(string); !strings.Contains(got, "plain") {
			t.Errorf("%s %s: %s", call.Method, call.Name, got)
		}
	}
}
