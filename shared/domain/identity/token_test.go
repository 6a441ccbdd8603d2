package identity_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

const (
	issuer   = "https://login.example.com/"
	endpoint = "https://mcp.example.com/v1/agents/mcp"
	origin   = "https://mcp.example.com"
)

var (
	now       = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	scopeHash = identity.Scopes{identity.LedgerRead, identity.WikiRead}.Hash()

	ecKey, otherEC      = newEC(elliptic.P256()), newEC(elliptic.P256())
	ec384               = newEC(elliptic.P384())
	rsaKey              = newRSA()
	edPublic, edKey, _  = ed25519.GenerateKey(rand.Reader)
	errIssuerOutOfReach = fault.New(fault.DependencyUnavailable, "The authorization server's keys cannot be had.")
)

func newEC(curve elliptic.Curve) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	return k
}

func newRSA() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
}

// keys are an issuer's keys by their id. The id "unreachable" is one that
// cannot be asked for.
type keys map[string]identity.Key

func (k keys) Key(_ context.Context, kid string) (identity.Key, bool, error) {
	if kid == "unreachable" {
		return identity.Key{}, false, errIssuerOutOfReach
	}
	key, found := k[kid]
	return key, found, nil
}

var published = keys{
	"ec":  {Algorithm: "ES256", Public: &ecKey.PublicKey},
	"rsa": {Algorithm: "RS256", Public: &rsaKey.PublicKey},
	"ed":  {Algorithm: "EdDSA", Public: edPublic},
	// A key as no issuer would publish it, and the verifier must not fall for.
	"ec384": {Algorithm: "ES384", Public: &ec384.PublicKey},
	"swap":  {Algorithm: "RS256", Public: &ecKey.PublicKey},
}

func verifier() *identity.Verifier {
	return &identity.Verifier{
		Issuer: issuer, Audience: []string{endpoint, origin}, Keys: published, Now: func() time.Time { return now },
	}
}

// claims are those of a good agent token, changed as told.
func claims(changes map[string]any) jwt.MapClaims {
	c := jwt.MapClaims{
		"iss": issuer, "aud": endpoint, "sub": "agt_1", "jti": "t-1", "tenant_id": "acme", "principal_type": "agent",
		"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(time.Minute).Unix(),
		"scopes": []string{"wiki:read", "ledger:read"}, "scope_hash": scopeHash.String(),
	}
	maps.Copy(c, changes)
	for name, value := range c {
		if value == absent {
			delete(c, name)
		}
	}
	return c
}

// absent as a value takes the claim away.
const absent = "\x00absent"

// sign makes a token of these claims; header members override.
func sign(method jwt.SigningMethod, key crypto.PrivateKey, header map[string]any, c jwt.Claims) string {
	token := jwt.NewWithClaims(method, c)
	maps.Copy(token.Header, header)
	signed, err := token.SignedString(key)
	if err != nil {
		panic(err)
	}
	return signed
}

func kid(name string) map[string]any { return map[string]any{"kid": name} }

// es256 is a token as the issuer makes most of them.
func es256(changes map[string]any) string {
	return sign(jwt.SigningMethodES256, ecKey, kid("ec"), claims(changes))
}

func verify(t *testing.T, token string) (identity.Claims, error) {
	t.Helper()
	return verifier().Verify(t.Context(), token)
}

func TestGoodTokens(t *testing.T) {
	for name, token := range map[string]string{
		"ES256": es256(nil),
		"RS256": sign(jwt.SigningMethodRS256, rsaKey, kid("rsa"), claims(nil)),
		"EdDSA": sign(jwt.SigningMethodEdDSA, edKey, kid("ed"), claims(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := verify(t, token)
			noError(t, err)
			equal(t, "kind", got.Kind, identity.Agent)
			equal(t, "subject", got.Subject, "agt_1")
			equal(t, "tenant", got.Tenant.String(), "acme")
			equal(t, "scopes", got.Scopes.String(), "ledger:read wiki:read")
			equal(t, "scope hash", got.ScopeHash, scopeHash)
			equal(t, "token id", got.TokenID, "t-1")
			equal(t, "expires", got.Expires.Equal(now.Add(time.Minute)), true)
		})
	}
}

// TestClaims changes one claim of a good token at a time. The code is empty
// where the token still holds.
func TestClaims(t *testing.T) {
	ago := func(d time.Duration) int64 { return now.Add(-d).Unix() }
	ahead := func(d time.Duration) int64 { return now.Add(d).Unix() }
	type change = map[string]any
	for name, c := range map[string]struct {
		claims change
		code   fault.Code
	}{
		"foreign issuer":              {change{"iss": "https://evil.example.com/"}, fault.AuthTokenInvalid},
		"issuer without its slash":    {change{"iss": strings.TrimSuffix(issuer, "/")}, fault.AuthTokenInvalid},
		"issuer in an array":          {change{"iss": []string{issuer}}, fault.AuthTokenInvalid},
		"no issuer":                   {change{"iss": absent}, fault.AuthTokenInvalid},
		"audience is the origin":      {change{"aud": origin}, ""},
		"origin with a slash":         {change{"aud": origin + "/"}, ""},
		"endpoint with a slash":       {change{"aud": endpoint + "/"}, ""},
		"endpoint with two slashes":   {change{"aud": endpoint + "//"}, fault.AuthTokenInvalid},
		"one of several audiences":    {change{"aud": []string{"https://other.example.com", endpoint}}, ""},
		"other audiences":             {change{"aud": []string{"https://other.example.com", "x"}}, fault.AuthTokenInvalid},
		"audience below the endpoint": {change{"aud": endpoint + "/agt_1"}, fault.AuthTokenInvalid},
		"audience above the endpoint": {change{"aud": origin + "/v1"}, fault.AuthTokenInvalid},
		"audience of another scheme":  {change{"aud": "http://mcp.example.com/v1/agents/mcp"}, fault.AuthTokenInvalid},
		"audience in capitals":        {change{"aud": strings.ToUpper(endpoint)}, fault.AuthTokenInvalid},
		"empty audience":              {change{"aud": ""}, fault.AuthTokenInvalid},
		"no audiences":                {change{"aud": []string{}}, fault.AuthTokenInvalid},
		"audience a number":           {change{"aud": 1}, fault.AuthTokenInvalid},
		"no audience":                 {change{"aud": absent}, fault.AuthTokenInvalid},

		"expired within skew":            {change{"exp": ago(29 * time.Second)}, ""},
		"expired at skew":                {change{"exp": ago(30 * time.Second)}, fault.AuthTokenExpired},
		"expired":                        {change{"exp": ago(time.Minute - time.Second)}, fault.AuthTokenExpired},
		"exp is text":                    {change{"exp": "never"}, fault.AuthTokenInvalid},
		"exp is null":                    {change{"exp": nil}, fault.AuthTokenInvalid},
		"exp at the end of times":        {change{"exp": 253402300799}, fault.AuthTokenInvalid},
		"no exp":                         {change{"exp": absent}, fault.AuthTokenInvalid},
		"life of an hour":                {change{"iat": ago(0), "exp": ahead(time.Hour)}, ""},
		"life of an hour and a second":   {change{"iat": ago(0), "exp": ahead(time.Hour + time.Second)}, fault.AuthTokenInvalid},
		"life over an hour, mostly past": {change{"iat": ago(time.Hour), "exp": ahead(time.Second)}, fault.AuthTokenInvalid},
		"iat within skew":                {change{"iat": ahead(29 * time.Second)}, ""},
		"iat at skew":                    {change{"iat": ahead(30 * time.Second)}, ""},
		"iat beyond skew":                {change{"iat": ahead(31 * time.Second)}, fault.AuthTokenInvalid},
		"iat is text":                    {change{"iat": "2025"}, fault.AuthTokenInvalid},
		"iat at the beginning":           {change{"iat": 0}, fault.AuthTokenInvalid},
		"no iat":                         {change{"iat": absent}, fault.AuthTokenInvalid},
		"nbf past":                       {change{"nbf": ago(time.Second)}, ""},
		"nbf within skew":                {change{"nbf": ahead(29 * time.Second)}, ""},
		"not yet":                        {change{"nbf": ahead(31 * time.Second)}, fault.AuthTokenInvalid},

		"no sub":              {change{"sub": absent}, fault.AuthTokenInvalid},
		"empty sub":           {change{"sub": ""}, fault.AuthTokenInvalid},
		"sub is a number":     {change{"sub": 7}, fault.AuthTokenInvalid},
		"sub of 128 bytes":    {change{"sub": strings.Repeat("a", 128)}, ""},
		"sub of 129 bytes":    {change{"sub": strings.Repeat("a", 129)}, fault.AuthTokenInvalid},
		"no jti":              {change{"jti": absent}, fault.AuthTokenInvalid},
		"empty jti":           {change{"jti": ""}, fault.AuthTokenInvalid},
		"no tenant":           {change{"tenant_id": absent}, fault.AuthTokenInvalid},
		"tenant with a hash":  {change{"tenant_id": "acme#rate"}, fault.AuthTokenInvalid},
		"tenant with a slash": {change{"tenant_id": "acme/x"}, fault.AuthTokenInvalid},
		"tenant is an array":  {change{"tenant_id": []string{"acme"}}, fault.AuthTokenInvalid},

		"no principal type":       {change{"principal_type": absent}, fault.AuthTokenInvalid},
		"another principal type":  {change{"principal_type": "service"}, fault.AuthTokenInvalid},
		"principal in capitals":   {change{"principal_type": "Agent"}, fault.AuthTokenInvalid},
		"user":                    {change{"principal_type": "user"}, ""},
		"user without scope hash": {change{"principal_type": "user", "scope_hash": absent}, ""},

		"no scope hash":          {change{"scope_hash": absent}, fault.AuthTokenInvalid},
		"scope hash too short":   {change{"scope_hash": "0xe7f5"}, fault.AuthTokenInvalid},
		"scope hash without 0x":  {change{"scope_hash": scopeHash.String()[2:]}, fault.AuthTokenInvalid},
		"scope hash is a number": {change{"scope_hash": 0}, fault.AuthTokenInvalid},
		"scope hash in capitals": {change{"scope_hash": "0x" + strings.ToUpper(scopeHash.String()[2:])}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verify(t, es256(c.claims))
			if c.code == "" {
				noError(t, err)
				return
			}
			fails(t, err, c.code)
		})
	}
}

// A token that has expired and is wrong in any other way is invalid: a fresh
// one of the same kind would be too, and a client must not loop.
func TestExpiredAndWrong(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"audience":       {"aud": "https://other.example.com"},
		"issuer":         {"iss": "https://evil.example.com/"},
		"no subject":     {"sub": absent},
		"no iat":         {"iat": absent},
		"iat no number":  {"iat": "2025"},
		"not yet":        {"nbf": now.Add(time.Hour).Unix()},
		"unknown scope":  {"scopes": []string{"wiki:write"}},
		"scope hash":     {"scope_hash": "0x"},
		"principal type": {"principal_type": "service"},
		"life":           {"iat": now.Add(-3 * time.Hour).Unix()},
	} {
		t.Run(name, func(t *testing.T) {
			expired := map[string]any{"iat": now.Add(-40 * time.Minute).Unix(), "exp": now.Add(-time.Minute).Unix()}
			_, err := verify(t, es256(expired))
			fails(t, err, fault.AuthTokenExpired)
			maps.Copy(expired, change)
			_, err = verify(t, es256(expired))
			fails(t, err, fault.AuthTokenInvalid)
		})
	}
}

func TestScopeClaims(t *testing.T) {
	type change = map[string]any
	for name, c := range map[string]struct {
		claims change
		want   string // "!" refuses
	}{
		"scopes, an array":      {change{"scopes": []string{"wiki:read", "audit:read"}}, "audit:read wiki:read"},
		"scopes, a string":      {change{"scopes": "wiki:read audit:read"}, "audit:read wiki:read"},
		"scope, a string":       {change{"scope": "wiki:read  audit:read"}, "audit:read wiki:read"},
		"scp, an array":         {change{"scp": []string{"raw:read"}}, "raw:read"},
		"scp, a string":         {change{"scp": "raw:read"}, "raw:read"},
		"no scope at all":       {change{"scopes": []string{}}, ""},
		"empty string":          {change{"scope": ""}, ""},
		"twice the same":        {change{"scope": "raw:read raw:read"}, "raw:read"},
		"unknown":               {change{"scopes": []string{"wiki:read", "layer:admin"}}, "!"},
		"unknown in a string":   {change{"scope": "wiki:read openid"}, "!"},
		"joined as in the hash": {change{"scope": "ledger:read|wiki:read"}, "!"},
		"no string in an array": {change{"scopes": []any{"wiki:read", 1}}, "!"},
		"a number":              {change{"scopes": 1}, "!"},
		"null":                  {change{"scopes": nil}, "!"},
		"an object":             {change{"scopes": map[string]bool{"wiki:read": true}}, "!"},
		"none of the claims":    {change{}, "!"},
		"scopes and scope":      {change{"scopes": []string{"wiki:read"}, "scope": "wiki:read"}, "!"},
		"scopes and scp":        {change{"scopes": []string{"wiki:read"}, "scp": "wiki:read"}, "!"},
		"scope and scp":         {change{"scope": "wiki:read", "scp": "audit:read"}, "!"},
		"one of two is empty":   {change{"scopes": []string{}, "scope": "wiki:read"}, "!"},
	} {
		t.Run(name, func(t *testing.T) {
			token := map[string]any{"scopes": absent}
			maps.Copy(token, c.claims)
			got, err := verify(t, es256(token))
			if c.want == "!" {
				fails(t, err, fault.AuthTokenInvalid)
				return
			}
			noError(t, err)
			equal(t, "scopes", got.Scopes.String(), c.want)
		})
	}
}

func TestIssuerOutOfReach(t *testing.T) {
	_, err := verify(t, sign(jwt.SigningMethodES256, ecKey, kid("unreachable"), claims(nil)))
	fails(t, err, fault.DependencyUnavailable)
	if errors.Is(err, jwt.ErrTokenUnverifiable) {
		t.Errorf("the caller is told of the token: %v", err)
	}
}

// What the caller is told says what is wrong and quotes nothing of the token.
func TestMessages(t *testing.T) {
	const secret = "s3cret-subject"
	for name, change := range map[string]map[string]any{
		"audience": {"sub": secret, "aud": secret},
		"issuer":   {"sub": secret, "iss": secret},
		"expired":  {"sub": secret, "exp": now.Add(-time.Hour).Unix(), "iat": now.Add(-90 * time.Minute).Unix()},
		"jti":      {"sub": secret, "jti": strings.Repeat(secret, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verify(t, es256(change))
			message := fault.Of(err).Message
			if strings.Contains(message, secret) {
				t.Errorf("the message quotes the token: %s", message)
			}
			if len(message) < 20 {
				t.Errorf("the message says nothing: %q", message)
			}
		})
	}
}
