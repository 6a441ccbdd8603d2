package member_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/robotmoney/mcp/shared/domain/member"
)

// FuzzTier: whatever is stored as a tier, no digit and no other type gets out.
func FuzzTier(f *testing.F) {
	for _, stored := range []string{`"Strong"`, `"Needs work"`, `0.87`, `"87"`, `"Strong 8"`, `"٨"`, `null`, `{}`, `["Strong"]`, `"a-b c"`, `"\u0053trong"`} {
		f.Add(stored)
	}
	f.Fuzz(func(t *testing.T, stored string) {
		var trait member.Trait
		if json.Unmarshal([]byte(`{"tier":`+stored+`}`), &trait) != nil {
			return
		}
		shown, err := json.Marshal(trait.Tier)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(string(shown), unicode.IsNumber) || len(shown) > 34 {
			t.Fatalf("%s is shown as %s", stored, shown)
		}
	})
}
