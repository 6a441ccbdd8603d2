package identity

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

const (
	// skew is how far the issuer's clock and ours may be apart.
	skew = 30 * time.Second
	// maxLife is the longest a token may live from iat to exp. A longer one is
	// refused: revocation lists are kept for no longer than this.
	maxLife = time.Hour
	// maxToken bounds what is parsed before anything is known of the sender.
	maxToken = 8 << 10
)

// Key is a public key of the issuer, with the one algorithm it may be used for.
// Binding the two is what stops a public RSA key from being used as an HMAC
// secret, or one curve's key for another's signatures.
type Key struct {
	Algorithm string // ES256, RS256 or EdDSA
	Public    crypto.PublicKey
}

// Keys resolves the issuer's keys by their id. It returns false for a key the
// issuer does not have, and dependency_unavailable when the issuer cannot be
// asked.
type Keys interface {
	Key(ctx context.Context, kid string) (Key, bool, error)
}

// Claims is what a verified token says. Nothing in it has been checked against
// the tenant's records or the chain yet.
type Claims struct {
	Kind      Kind
	Subject   string
	Tenant    Tenant
	Scopes    Scopes
	ScopeHash Hash // agents only
	TokenID   string
	Expires   time.Time
}

// Verifier checks tokens against an issuer, an audience and a clock.
type Verifier struct {
	Issuer   string
	Audience []string // a token must name one of them, with or without a trailing slash
	Keys     Keys
	Now      func() time.Time

	verified verified
}

var algorithms = []string{"ES256", "RS256", "EdDSA"}

// Verify returns the claims of a token whose signature and claims hold. The
// error has the code auth_token_expired when expiry is the only thing wrong,
// dependency_unavailable when the issuer's keys cannot be had, and
// auth_token_invalid otherwise.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	if len(token) > maxToken {
		return Claims{}, invalid(nil, "it is longer than %d bytes", maxToken)
	}
	if claims, known := v.verified.get(ctx, v.Keys, token, v.Now()); known {
		return claims, nil
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods(algorithms),
		jwt.WithIssuer(v.Issuer),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(skew),
		jwt.WithTimeFunc(v.Now),
		jwt.WithStrictDecoding(),
	)
	claims := jwt.MapClaims{}
	var kid string
	var used any
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (key any, err error) {
		kid, _ = t.Header["kid"].(string)
		used, err = v.key(ctx, t)
		return used, err
	})
	switch {
	case fault.Is(err, fault.DependencyUnavailable):
		return Claims{}, fault.Of(err)
	case errors.Is(err, jwt.ErrTokenExpired) && onlyExpired(err):
		if _, other := v.read(claims); other != nil {
			return Claims{}, other
		}
		return Claims{}, fault.Because(err, fault.AuthTokenExpired, "The access token has expired. Get a new one from the authorization server.")
	case err != nil:
		return Claims{}, invalid(err, "%s", reason(err))
	}
	out, err := v.read(claims)
	if err == nil {
		v.verified.keep(token, kid, used, out)
	}
	return out, err
}

// key finds the key a token names and refuses it for any algorithm but its own.
func (v *Verifier) key(ctx context.Context, t *jwt.Token) (any, error) {
	if _, critical := t.Header["crit"]; critical {
		return nil, errors.New("a crit header: it must be understood, and none is here")
	}
	kid, _ := t.Header["kid"].(string)
	if kid == "" {
		return nil, errors.New("no kid")
	}
	key, found, err := v.Keys.Key(ctx, kid)
	if err != nil {
		return nil, err
	}
	if !found || key.Algorithm != t.Method.Alg() {
		return nil, errors.New("no such key for this algorithm")
	}
	return key.Public, nil
}

// onlyExpired says that nothing the parser looks at failed beside exp: a token
// that is expired and also wrong is invalid, not due for a refresh. What the
// parser does not look at, the audience among it, is read's to judge.
func onlyExpired(err error) bool {
	for _, other := range []error{jwt.ErrTokenInvalidIssuer, jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenNotValidYet, jwt.ErrTokenRequiredClaimMissing, jwt.ErrInvalidType} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// reasons says in the caller's terms what a parser error means, without the
// text of the library, which may quote the token.
var reasons = []struct {
	err  error
	text string
}{
	{jwt.ErrTokenMalformed, "it is not a signed JWT"},
	{jwt.ErrTokenUnverifiable, "it names no key of the issuer for its algorithm"},
	{jwt.ErrTokenSignatureInvalid, "its signature does not verify, or its algorithm is none of ES256, RS256 and EdDSA"},
	{jwt.ErrTokenInvalidIssuer, "its issuer is not the one this server trusts"},
	{jwt.ErrTokenUsedBeforeIssued, "its iat lies in the future"},
	{jwt.ErrTokenNotValidYet, "its nbf lies in the future"},
	{jwt.ErrTokenRequiredClaimMissing, "it lacks a required claim"},
}

func reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.text
		}
	}
	return "its claims do not hold"
}

// read takes our claims out of a token whose signature, issuer and times hold.
func (v *Verifier) read(claims jwt.MapClaims) (Claims, error) {
	audience, err := claims.GetAudience()
	if err != nil || !v.meant(audience) {
		return Claims{}, invalid(err, "its aud does not contain this endpoint's URL")
	}
	issued, err := claims.GetIssuedAt()
	if err != nil || issued == nil {
		return Claims{}, invalid(err, "it has no iat")
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires.Sub(issued.Time) > maxLife {
		return Claims{}, invalid(err, "it lives longer than %s from iat to exp", maxLife)
	}
	text := map[string]string{}
	for _, name := range []string{"sub", "jti", "tenant_id", "principal_type"} {
		value, _ := claims[name].(string)
		if value == "" || len(value) > 128 {
			return Claims{}, invalid(nil, "its claim %s is missing, no string or longer than 128 bytes", name)
		}
		text[name] = value
	}
	tenant, err := newTenant(text["tenant_id"])
	if err != nil {
		return Claims{}, invalid(err, "its tenant_id is no tenant's id")
	}
	scopes, err := scopesOf(claims)
	if err != nil {
		return Claims{}, invalid(err, "its scopes cannot be read: %v", err)
	}
	out := Claims{
		Kind: Kind(text["principal_type"]), Subject: text["sub"], Tenant: tenant, Scopes: scopes,
		TokenID: text["jti"], Expires: expires.Time,
	}
	switch out.Kind {
	case User:
		return out, nil
	case Agent:
		hash, _ := claims["scope_hash"].(string)
		if out.ScopeHash, err = ParseHash(hash); err != nil {
			return Claims{}, invalid(err, "its scope_hash is not 0x and 64 hexadecimal digits")
		}
		return out, nil
	}
	return Claims{}, invalid(nil, "its principal_type is neither agent nor user")
}

func (v *Verifier) meant(audience []string) bool {
	return slices.ContainsFunc(audience, func(named string) bool {
		return slices.ContainsFunc(v.Audience, func(own string) bool {
			return strings.TrimSuffix(named, "/") == strings.TrimSuffix(own, "/")
		})
	})
}

// scopesOf reads the scopes in whichever of the three customary claims holds
// them; two of them at once are refused, for nobody could say which counts.
func scopesOf(claims jwt.MapClaims) (Scopes, error) {
	var names []string
	found := 0
	for _, claim := range []string{"scopes", "scope", "scp"} {
		value, ok := claims[claim]
		if !ok {
			continue
		}
		found++
		switch value := value.(type) {
		case string:
			names = append(names, strings.Fields(value)...)
		case []any:
			for _, v := range value {
				name, ok := v.(string)
				if !ok {
					return nil, fmt.Errorf("claim %s holds something that is no string", claim)
				}
				names = append(names, name)
			}
		default:
			return nil, fmt.Errorf("claim %s is neither a string nor an array", claim)
		}
	}
	if found != 1 {
		return nil, fmt.Errorf("want exactly one of scopes, scope and scp, found %d", found)
	}
	return ParseScopes(names)
}

func invalid(cause error, format string, args ...any) error {
	return fault.Because(cause, fault.AuthTokenInvalid, "The access token is not accepted: %s.", fmt.Sprintf(format, args...))
}
