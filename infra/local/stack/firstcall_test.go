package stack_test

import (
	"encoding/json"
	"testing"
)

// The overview's first call as it stands is about the present month, of which
// the demo's books hold nothing. The answer has the documented shape all the
// same, and says so instead of guessing.
func TestFirstCallAsItStands(t *testing.T) {
	a := call(t, "agent", "tools/call", map[string]any{
		"name": "wiki.question", "arguments": map[string]string{"question": "What's our top expense category this month?"},
	})
	var result struct {
		Content           []struct{ Type, Text string }
		StructuredContent struct {
			Answer   *string
			Evidence []struct{ EntityID, EntityType, Excerpt string }
			Model    string
			Usage    *struct{ InputTokens, OutputTokens int }
			Answered *bool
		}
	}
	if err := json.Unmarshal(a.body.Result, &result); err != nil {
		t.Fatalf("%v: %s", err, a.body.Result)
	}
	got := result.StructuredContent
	if len(result.Content) == 0 || result.Content[0].Type != "text" || got.Answer == nil || got.Evidence == nil || got.Model == "" || got.Usage == nil {
		t.Errorf("not the documented shape: %s", a.body.Result)
	}
	if got.Answered == nil || *got.Answered {
		t.Errorf("answered out of nothing: %s", a.body.Result)
	}
}
