package identity

import (
	"context"
	"crypto"
	"crypto/sha256"
	"sync"
	"time"
)

// maxVerified bounds the memory that remembered tokens take.
const maxVerified = 1024

// verified remembers tokens whose signature and claims held. A client sends one
// token with every request of an hour, and checking its signature is most of
// what a request costs here. What can change is looked at every time: the clock,
// and whether the issuer still has the very key. Revocation is the door's to
// check, for a remembered token as for any.
type verified struct {
	mu     sync.Mutex
	tokens map[[sha256.Size]byte]remembered
}

type remembered struct {
	claims Claims
	kid    string
	key    crypto.PublicKey
}

func (m *verified) get(ctx context.Context, keys Keys, token string, now time.Time) (Claims, bool) {
	m.mu.Lock()
	known, ok := m.tokens[sha256.Sum256([]byte(token))]
	m.mu.Unlock()
	// At its last moments a token is judged anew, so that the words of a refusal
	// are the parser's.
	if !ok || !now.Before(known.claims.Expires) {
		return Claims{}, false
	}
	key, found, err := keys.Key(ctx, known.kid)
	same, comparable := known.key.(interface{ Equal(crypto.PublicKey) bool })
	return known.claims, err == nil && found && comparable && same.Equal(key.Public)
}

func (m *verified) keep(token string, kid string, key crypto.PublicKey, claims Claims) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens == nil || len(m.tokens) >= maxVerified {
		m.tokens = map[[sha256.Size]byte]remembered{}
	}
	m.tokens[sha256.Sum256([]byte(token))] = remembered{claims, kid, key}
}
