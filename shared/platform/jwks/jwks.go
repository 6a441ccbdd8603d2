// Package jwks holds the issuer's public keys, fetched when a token needs them:
// a frozen function has no background to refresh anything in.
package jwks

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

const (
	// fresh is how long keys are used without asking again; usable how long they
	// are when the issuer cannot be asked. A key the issuer withdrew is good for
	// no longer.
	fresh  = 10 * time.Minute
	usable = time.Hour
	// between is the least time between two fetches that an unknown key causes:
	// a stranger with invented key ids must not make us call the issuer.
	between = time.Minute
	timeout = 3 * time.Second
	maxBody = 256 << 10
	maxKeys = 100
	// minRSA is the smallest modulus that is accepted.
	minRSA = 2048
)

// Keys are an issuer's keys. Make them with New.
type Keys struct {
	url    string
	client *http.Client
	now    func() time.Time
	log    *slog.Logger

	mu      sync.Mutex // held while fetching: those who wait want its answer
	keys    map[string]identity.Key
	fetched time.Time // when keys were last got
	tried   time.Time // when they were last asked for
}

// New makes the keys of an issuer's JWKS URL. Redirects are not followed.
func New(url string, now func() time.Time, log *slog.Logger) *Keys {
	client := &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Keys{url: url, client: client, now: now, log: log}
}

// Key returns the key of an id and whether the issuer has it. Its error has the
// code dependency_unavailable.
func (k *Keys) Key(ctx context.Context, kid string) (identity.Key, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// The wall clock alone: the monotonic one may stand still while a function is
	// frozen, and a withdrawn key would live on.
	now := k.now().Round(0)
	if now.Before(k.tried) {
		k.keys = nil // the clock was set back: nobody can say how old they are
	}
	key, known := k.keys[kid]
	age := now.Sub(k.fetched)
	if known && age < fresh {
		return key, true, nil
	}
	if k.keys == nil || age >= usable || now.Sub(k.tried) >= between {
		if err := k.fetch(ctx, now); err != nil {
			k.log.WarnContext(ctx, "issuer's keys could not be fetched", "error", err)
			if k.keys == nil || age >= usable {
				return identity.Key{}, false, fault.Because(err, fault.DependencyUnavailable, "The authorization server's keys cannot be had. Try again.")
			}
		}
		key, known = k.keys[kid]
	}
	return key, known, nil
}

func (k *Keys) fetch(ctx context.Context, now time.Time) error {
	k.tried = now
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return err
	}
	res, err := k.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	keys, err := Parse(body)
	if err != nil {
		return err
	}
	k.keys, k.fetched = keys, now
	return nil
}

type jwk struct {
	Kty, Kid, Use, Alg, Crv, N, E, X, Y string
}

// Parse reads a JWKS. Keys that are not for signatures, of an unknown kind or
// not well formed are left out: an issuer may have others. A set without any
// usable key is an error.
func Parse(body []byte) (map[string]identity.Key, error) {
	var set struct{ Keys []jwk }
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("decode key set: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("key set of %d keys: want at most %d", len(set.Keys), maxKeys)
	}
	keys := map[string]identity.Key{}
	for _, j := range set.Keys {
		key, err := j.key()
		if err != nil || j.Kid == "" || (j.Use != "" && j.Use != "sig") || (j.Alg != "" && j.Alg != key.Algorithm) {
			continue
		}
		keys[j.Kid] = key
	}
	if len(keys) == 0 {
		return nil, errors.New("key set without a usable key")
	}
	return keys, nil
}

// key reads one key and binds it to the one algorithm it is for.
func (j jwk) key() (identity.Key, error) {
	switch {
	case j.Kty == "EC" && j.Crv == "P-256":
		x, y := bytesOf(j.X), bytesOf(j.Y)
		if len(x) != 32 || len(y) != 32 {
			return identity.Key{}, errors.New("coordinates are not 32 bytes")
		}
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		return identity.Key{Algorithm: "ES256", Public: public}, err
	case j.Kty == "RSA":
		n, e := new(big.Int).SetBytes(bytesOf(j.N)), new(big.Int).SetBytes(bytesOf(j.E))
		if n.BitLen() < minRSA || n.BitLen() > 8192 || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 || e.Bit(0) == 0 {
			return identity.Key{}, errors.New("modulus or exponent out of bounds")
		}
		return identity.Key{Algorithm: "RS256", Public: &rsa.PublicKey{N: n, E: int(e.Int64())}}, nil
	case j.Kty == "OKP" && j.Crv == "Ed25519":
		x := bytesOf(j.X)
		if len(x) != ed25519.PublicKeySize {
			return identity.Key{}, errors.New("key is not 32 bytes")
		}
		return identity.Key{Algorithm: "EdDSA", Public: ed25519.PublicKey(x)}, nil
	}
	return identity.Key{}, errors.New("unknown kind")
}

func bytesOf(text string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}
