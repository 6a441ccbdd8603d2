// Package issuer is the authorization server of the local stack, as far as the
// endpoint needs one: a key, its JWKS, and tokens by command. It is never
// deployed.
package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// KeyFile is where the key lies in the stack's state folder.
const KeyFile = "issuer.pem"

// Issuer signs tokens.
type Issuer struct {
	key *ecdsa.PrivateKey
	kid string
}

// Open reads the key in a folder, or makes one there.
func Open(folder string) (*Issuer, error) {
	path := filepath.Join(folder, KeyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = create(path)
	}
	if err != nil {
		return nil, fmt.Errorf("issuer key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("issuer key %s: no PEM block", path)
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("issuer key %s: %w", path, err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("issuer key %s: %w", path, err)
	}
	sum := sha256.Sum256(public)
	return &Issuer{key: key, kid: base64.RawURLEncoding.EncodeToString(sum[:8])}, nil
}

func create(path string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return text, os.WriteFile(path, text, 0o600)
}

// ServeHTTP answers the JWKS.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	public, err := i.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		http.Error(w, "no key", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": i.kid,
		"x": base64.RawURLEncoding.EncodeToString(public[1:33]), "y": base64.RawURLEncoding.EncodeToString(public[33:]),
	}}})
}

// Grant is what a token says.
type Grant struct {
	Issuer, Audience string
	Kind             identity.Kind
	Subject, Tenant  string
	Scopes           identity.Scopes
	ScopeHash        identity.Hash // agents only: of the whole grant, however few scopes the token has
	Now              time.Time
	Life             time.Duration // at most an hour is accepted by the endpoint
}

// Token signs a token with a fresh id.
func (i *Issuer) Token(g Grant) (string, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", fmt.Errorf("token id: %w", err)
	}
	claims := jwt.MapClaims{
		"iss": g.Issuer, "aud": g.Audience, "sub": g.Subject, "jti": base64.RawURLEncoding.EncodeToString(id[:]),
		"iat": g.Now.Unix(), "exp": g.Now.Add(g.Life).Unix(),
		"tenant_id": g.Tenant, "principal_type": g.Kind, "scopes": g.Scopes.Strings(),
	}
	if g.Kind == identity.Agent {
		claims["scope_hash"] = g.ScopeHash.String()
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = i.kid
	signed, err := token.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}
