package identity_test

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// parts takes a token apart, joined puts one together without signing it.
func parts(token string) (header, payload, signature string) {
	p := strings.Split(token, ".")
	return p[0], p[1], p[2]
}

func encode(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	noError(t, err)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// flip changes one bit in the middle of a part.
func flip(t *testing.T, part string) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(part)
	noError(t, err)
	raw[len(raw)/2] ^= 1
	return base64.RawURLEncoding.EncodeToString(raw)
}

// loose sets a bit of the last character that stands for no byte: a second
// spelling of one token.
func loose(part string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(digits, part[len(part)-1])
	return part[:len(part)-1] + digits[last^1:last^1+1]
}

// publicPEM is how the HMAC confusion attack spells a public key as a secret.
func publicPEM(t *testing.T, public crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	noError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func TestHostileTokens(t *testing.T) {
	good := es256(nil)
	header, payload, signature := parts(good)
	admin := encode(t, claims(map[string]any{"tenant_id": "globex"}))
	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	noError(t, err)
	for name, token := range map[string]string{
		"empty":                            "",
		"no token":                         "Bearer",
		"two parts":                        header + "." + payload,
		"four parts":                       good + ".x",
		"no base64":                        header + ".*." + signature,
		"padding":                          header + "." + payload + "==." + signature,
		"blank inside":                     header + ". " + payload + "." + signature,
		"payload is no JSON":               sign(jwt.SigningMethodES256, ecKey, kid("ec"), raw("x")),
		"payload is an array":              sign(jwt.SigningMethodES256, ecKey, kid("ec"), raw("[]")),
		"payload is null":                  sign(jwt.SigningMethodES256, ecKey, kid("ec"), raw("null")),
		"tampered payload":                 header + "." + admin + "." + signature,
		"tampered signature":               header + "." + payload + "." + flip(t, signature),
		"signature cut":                    header + "." + payload + "." + signature[:40],
		"no signature":                     header + "." + payload + ".",
		"signature with loose bits":        header + "." + payload + "." + loose(signature),
		"all zero signature":               header + "." + payload + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		"signed by another key":            sign(jwt.SigningMethodES256, otherEC, kid("ec"), claims(nil)),
		"alg none":                         encode(t, map[string]string{"alg": "none", "kid": "ec"}) + "." + payload + ".",
		"alg none with a signature":        encode(t, map[string]string{"alg": "none", "kid": "ec"}) + "." + payload + "." + signature,
		"alg None":                         encode(t, map[string]string{"alg": "None", "kid": "ec"}) + "." + payload + ".",
		"no alg":                           encode(t, map[string]string{"kid": "ec"}) + "." + payload + "." + signature,
		"HS256, the secret a public PEM":   sign(jwt.SigningMethodHS256, publicPEM(t, &rsaKey.PublicKey), kid("rsa"), claims(nil)),
		"HS256, the secret a public DER":   sign(jwt.SigningMethodHS256, der, kid("rsa"), claims(nil)),
		"HS256, the secret an Ed25519 key": sign(jwt.SigningMethodHS256, []byte(edPublic), kid("ed"), claims(nil)),
		"ES384":                            sign(jwt.SigningMethodES384, ec384, kid("ec384"), claims(nil)),
		"PS256":                            sign(jwt.SigningMethodPS256, rsaKey, kid("rsa"), claims(nil)),
		"RS512":                            sign(jwt.SigningMethodRS512, rsaKey, kid("rsa"), claims(nil)),
		"no kid":                           sign(jwt.SigningMethodES256, ecKey, nil, claims(nil)),
		"kid is a number":                  sign(jwt.SigningMethodES256, ecKey, map[string]any{"kid": 1}, claims(nil)),
		"unknown kid":                      sign(jwt.SigningMethodES256, ecKey, kid("none"), claims(nil)),
		"kid of an RSA key":                sign(jwt.SigningMethodES256, ecKey, kid("rsa"), claims(nil)),
		"kid of an Ed25519 key":            sign(jwt.SigningMethodRS256, rsaKey, kid("ed"), claims(nil)),
		"key published for another alg":    sign(jwt.SigningMethodES256, ecKey, kid("swap"), claims(nil)),
		"a key of its own in the header":   sign(jwt.SigningMethodES256, otherEC, map[string]any{"jwk": map[string]string{"kty": "EC"}, "jku": "https://evil.example.com"}, claims(nil)),
		"an extension that must be obeyed": sign(jwt.SigningMethodES256, ecKey, map[string]any{"kid": "ec", "crit": []string{"exp2"}, "exp2": 1}, claims(nil)),
		"9 KiB":                            es256(map[string]any{"pad": strings.Repeat("a", 9<<10)}),
		"expired, signed by another key":   sign(jwt.SigningMethodES256, otherEC, kid("ec"), claims(map[string]any{"exp": now.Add(-time.Hour).Unix()})),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := verify(t, token)
			fails(t, err, fault.AuthTokenInvalid)
			if got.Subject != "" || got.Tenant != (identity.Tenant{}) {
				t.Errorf("claims of a refused token: %+v", got)
			}
		})
	}
}

// raw is a payload that is not made of claims.
type raw string

func (r raw) MarshalJSON() ([]byte, error) {
	if !json.Valid([]byte(r)) {
		return json.Marshal(string(r))
	}
	return []byte(r), nil
}
func (raw) GetExpirationTime() (*jwt.NumericDate, error) { return nil, nil }
func (raw) GetIssuedAt() (*jwt.NumericDate, error)       { return nil, nil }
func (raw) GetNotBefore() (*jwt.NumericDate, error)      { return nil, nil }
func (raw) GetIssuer() (string, error)                   { return "", nil }
func (raw) GetSubject() (string, error)                  { return "", nil }
func (raw) GetAudience() (jwt.ClaimStrings, error)       { return nil, nil }

// The longest token that is read is 8 KiB.
func TestTokenSize(t *testing.T) {
	pad := strings.Repeat("a", 5000)
	for len(es256(map[string]any{"pad": pad})) < 8<<10-3 {
		pad += "aa"
	}
	longest := es256(map[string]any{"pad": pad})
	if len(longest) > 8<<10 {
		t.Fatalf("the test's token has %d bytes", len(longest))
	}
	_, err := verify(t, longest)
	noError(t, err)
	_, err = verify(t, es256(map[string]any{"pad": pad + "aaaa"}))
	fails(t, err, fault.AuthTokenInvalid)
}
