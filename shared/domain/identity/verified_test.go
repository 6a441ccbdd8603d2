package identity_test

import (
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// A token that was accepted once is judged again by what can change: the clock
// and the issuer's keys.
func TestRememberedTokens(t *testing.T) {
	good := es256(nil)
	for _, c := range []struct {
		name   string
		change func(v *identity.Verifier, k keys, clock *time.Time)
		want   fault.Code // empty is accepted
	}{
		{"nothing changed", func(*identity.Verifier, keys, *time.Time) {}, ""},
		{"it expired", func(_ *identity.Verifier, _ keys, clock *time.Time) { *clock = now.Add(2 * time.Hour) }, fault.AuthTokenExpired},
		{"the issuer withdrew the key", func(_ *identity.Verifier, k keys, _ *time.Time) { delete(k, "ec") }, fault.AuthTokenInvalid},
		{"the issuer put another key under its id", func(_ *identity.Verifier, k keys, _ *time.Time) {
			k["ec"] = identity.Key{Algorithm: "ES256", Public: &otherEC.PublicKey}
		}, fault.AuthTokenInvalid},
		{"the issuer put a key of another kind under its id", func(_ *identity.Verifier, k keys, _ *time.Time) { k["ec"] = published["rsa"] }, fault.AuthTokenInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock, own := now, maps.Clone(published)
			v := verifier()
			v.Keys, v.Now = own, func() time.Time { return clock }
			first, err := v.Verify(t.Context(), good)
			if err != nil {
				t.Fatal(err)
			}
			c.change(v, own, &clock)
			again, err := v.Verify(t.Context(), good)
			if c.want == "" {
				if err != nil || again.TokenID != first.TokenID || again.Scopes.String() != first.Scopes.String() {
					t.Errorf("%+v and %v, want %+v", again, err, first)
				}
			} else if !fault.Is(err, c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// One token that was accepted says nothing for another one, however alike.
func TestRememberedIsThatTokenOnly(t *testing.T) {
	v := verifier()
	good := es256(nil)
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{good + "A", good[:len(good)-2], es256(map[string]any{"aud": "https://elsewhere.example.com"})} {
		if _, err := v.Verify(t.Context(), other); !fault.Is(err, fault.AuthTokenInvalid) {
			t.Errorf("%v, want it refused", err)
		}
	}
}

// More tokens than are remembered, from many at once.
func TestManyTokensAtOnce(t *testing.T) {
	v := verifier()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 400 {
				token := es256(map[string]any{"jti": string(rune('a'+i)) + time.Duration(n).String()})
				for range 2 {
					if _, err := v.Verify(t.Context(), token); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
}
