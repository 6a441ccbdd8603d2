package jwks_test

import (
	"crypto"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/platform/jwks"
)

// FuzzParse: whatever set is accepted, its keys are of the three algorithms, and
// no signature that was not made with them passes or breaks the program.
func FuzzParse(f *testing.F) {
	f.Add(set(p256("a"), rs("b"), ed("c")))
	f.Add(set(with(rs("b"), "e", "BA")))
	f.Add(set(with(ed("c"), "x", b64(make([]byte, 32)))))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"","y":""}]}`))
	f.Add([]byte(`{"KEYS":[null]}`))
	f.Add([]byte(`{`))
	methods := map[string]jwt.SigningMethod{"ES256": jwt.SigningMethodES256, "RS256": jwt.SigningMethodRS256, "EdDSA": jwt.SigningMethodEdDSA}
	signature := make([]byte, 64)
	for i := range signature {
		signature[i] = byte(i + 1)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		keys, err := jwks.Parse(body)
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys, error %v", len(keys), err)
		}
		for kid, key := range keys {
			method := methods[key.Algorithm]
			if kid == "" || method == nil {
				t.Fatalf("key %q for %q", kid, key.Algorithm)
			}
			if method.Verify("e30.e30", signature, crypto.PublicKey(key.Public)) == nil {
				t.Fatalf("key %q verifies what nobody signed", kid)
			}
		}
	})
}
