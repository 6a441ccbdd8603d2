package identity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// FuzzVerify: nobody without a private key gets in. A token is accepted exactly
// when its header, payload and signature are bytes the issuer made.
func FuzzVerify(f *testing.F) {
	good := []string{
		es256(nil),
		sign(jwt.SigningMethodRS256, rsaKey, kid("rsa"), claims(nil)),
		sign(jwt.SigningMethodEdDSA, edKey, kid("ed"), claims(nil)),
	}
	made := map[string]bool{}
	for _, token := range good {
		made[token[:strings.LastIndexByte(token, '.')]] = true
		f.Add(token)
		f.Add(token[:len(token)-1])
	}
	for _, token := range []string{"", ".", "..", "...", "e30.e30.", "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("a", 9<<10)} {
		f.Add(token)
	}
	v := verifier()
	f.Fuzz(func(t *testing.T, token string) {
		got, err := v.Verify(t.Context(), token)
		if err == nil {
			if last := strings.LastIndexByte(token, '.'); !made[token[:last]] {
				t.Fatalf("%q was accepted", token)
			}
			equal(t, "subject", got.Subject, "agt_1")
			return
		}
		var refused *fault.Error
		if !errors.As(err, &refused) || (refused.Code != fault.AuthTokenInvalid && refused.Code != fault.DependencyUnavailable) {
			t.Fatalf("%q: %v", token, err)
		}
		if got.Subject != "" {
			t.Fatalf("claims of a refused token: %+v", got)
		}
	})
}

// FuzzParseScopes: what is accepted is a set of known names, and naming it again
// gives it again.
func FuzzParseScopes(f *testing.F) {
	for _, text := range []string{"", "wiki:read", "wiki:read audit:read wiki:read", "layer:admin", "wiki:read|audit:read", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := identity.ParseScopes(strings.Fields(text))
		if err != nil {
			return
		}
		if missing := identity.AllScopes.Missing(set); missing != nil {
			t.Fatalf("%q holds the unknown %s", text, missing)
		}
		again, err := identity.ParseScopes(set.Strings())
		noError(t, err)
		equal(t, "the set named again", again.String(), set.String())
		equal(t, "its hash", again.Hash(), set.Hash())
	})
}
