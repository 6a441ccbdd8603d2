package jwks_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/platform/jwks"
)

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

type jwk = map[string]any

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// ec, rs and ed are good keys as an issuer publishes them.
func ec(curve elliptic.Curve, name, kid string) jwk {
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	public, err := k.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	size := (len(public) - 1) / 2
	return jwk{"kty": "EC", "crv": name, "kid": kid, "x": b64(public[1 : 1+size]), "y": b64(public[1+size:])}
}

func p256(kid string) jwk { return ec(elliptic.P256(), "P-256", kid) }

var rsaModulus = func() []byte {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k.N.Bytes()
}()

func rs(kid string) jwk { return jwk{"kty": "RSA", "kid": kid, "n": b64(rsaModulus), "e": "AQAB"} }

func ed(kid string) jwk {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return jwk{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": b64(public)}
}

// with is a key with members changed; nil takes one away.
func with(key jwk, name string, value any) jwk {
	changed := jwk{name: value}
	for n, v := range key {
		if n != name {
			changed[n] = v
		}
	}
	if value == nil {
		delete(changed, name)
	}
	return changed
}

func set(keys ...jwk) []byte {
	body, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		panic(err)
	}
	return body
}

func TestParseKinds(t *testing.T) {
	keys, err := jwks.Parse(set(p256("a"), rs("b"), ed("c")))
	noError(t, err)
	equal(t, "keys", len(keys), 3)
	equal(t, "P-256", keys["a"].Algorithm, "ES256")
	equal(t, "RSA", keys["b"].Algorithm, "RS256")
	equal(t, "Ed25519", keys["c"].Algorithm, "EdDSA")
	equal(t, "modulus", keys["b"].Public.(*rsa.PublicKey).N.Cmp(new(big.Int).SetBytes(rsaModulus)), 0)
	equal(t, "exponent", keys["b"].Public.(*rsa.PublicKey).E, 65537)
}

// TestParseKeys gives one key and says whether it is used.
func TestParseKeys(t *testing.T) {
	off := p256("k")
	off["y"] = p256("k")["y"] // a point of no curve
	for name, c := range map[string]struct {
		key  jwk
		good bool
	}{
		"for signatures":              {with(p256("k"), "use", "sig"), true},
		"for encryption":              {with(p256("k"), "use", "enc"), false},
		"alg of its own":              {with(p256("k"), "alg", "ES256"), true},
		"alg of another kind":         {with(p256("k"), "alg", "RS256"), false},
		"alg of another curve":        {with(p256("k"), "alg", "ES384"), false},
		"RSA for PSS":                 {with(rs("k"), "alg", "PS256"), false},
		"RSA as an HMAC secret":       {with(rs("k"), "alg", "HS256"), false},
		"no kid":                      {with(p256("k"), "kid", nil), false},
		"empty kid":                   {p256(""), false},
		"unknown kty":                 {with(p256("k"), "kty", "oct"), false},
		"secret":                      {jwk{"kty": "oct", "kid": "k", "k": b64(make([]byte, 32))}, false},
		"no kty":                      {with(p256("k"), "kty", nil), false},
		"EC called RSA":               {with(p256("k"), "kty", "RSA"), false},
		"RSA called EC":               {with(rs("k"), "kty", "EC"), false},
		"P-384":                       {ec(elliptic.P384(), "P-384", "k"), false},
		"P-384 called P-256":          {ec(elliptic.P384(), "P-256", "k"), false},
		"P-256 called P-384":          {with(p256("k"), "crv", "P-384"), false},
		"point off the curve":         {off, false},
		"point at infinity":           {jwk{"kty": "EC", "crv": "P-256", "kid": "k", "x": b64(make([]byte, 32)), "y": b64(make([]byte, 32))}, false},
		"x too short":                 {with(p256("k"), "x", b64(make([]byte, 31))), false},
		"no y":                        {with(p256("k"), "y", nil), false},
		"x with padding":              {with(p256("k"), "x", p256("k")["x"].(string)+"="), false},
		"Ed25519 of 31 bytes":         {with(ed("k"), "x", b64(make([]byte, 31))), false},
		"Ed25519 without x":           {with(ed("k"), "x", nil), false},
		"X25519":                      {with(ed("k"), "crv", "X25519"), false},
		"RSA of 1024 bits":            {with(rs("k"), "n", b64(append([]byte{0x80}, make([]byte, 127)...))), false},
		"RSA of 2047 bits":            {with(rs("k"), "n", b64(append([]byte{0x7f}, make([]byte, 255)...))), false},
		"RSA with leading zeros only": {with(rs("k"), "n", b64(make([]byte, 256))), false},
		"RSA of 8200 bits":            {with(rs("k"), "n", b64(append([]byte{0xff}, make([]byte, 1024)...))), false},
		"exponent 1":                  {with(rs("k"), "e", "AQ"), false},
		"exponent 3":                  {with(rs("k"), "e", "Aw"), true},
		"exponent even":               {with(rs("k"), "e", "BA"), false},
		"exponent of 40 bits":         {with(rs("k"), "e", b64([]byte{1, 0, 0, 0, 1})), false},
		"no exponent":                 {with(rs("k"), "e", nil), false},
		"no modulus":                  {with(rs("k"), "n", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			// A good key beside it is used whatever the other is like.
			keys, err := jwks.Parse(set(c.key, ed("beside")))
			noError(t, err)
			_, found := keys["k"]
			equal(t, "used", found, c.good)
			_, beside := keys["beside"]
			equal(t, "the one beside it used", beside, true)
			equal(t, "keys", len(keys), map[bool]int{true: 2, false: 1}[c.good])
		})
	}
}

func TestParseRefuses(t *testing.T) {
	many := make([]jwk, 101)
	for i := range many {
		many[i] = ed(fmt.Sprint(i))
	}
	for name, body := range map[string][]byte{
		"nothing":          {},
		"no JSON":          []byte("<html>"),
		"no object":        []byte(`[1]`),
		"keys no array":    []byte(`{"keys":{}}`),
		"kty a number":     []byte(`{"keys":[{"kty":1}]}`),
		"no keys":          []byte(`{}`),
		"null":             []byte(`null`),
		"empty":            set(),
		"none usable":      set(with(p256("k"), "use", "enc")),
		"101 keys":         set(many...),
		"cut in the midst": set(p256("k"))[:40],
		"two documents":    append(set(p256("k")), set(p256("l"))...),
	} {
		t.Run(name, func(t *testing.T) {
			if keys, err := jwks.Parse(body); err == nil {
				t.Errorf("%d keys", len(keys))
			}
		})
	}
	keys, err := jwks.Parse(set(many[:100]...))
	noError(t, err)
	equal(t, "keys", len(keys), 100)
}

// issuer is an authorization server over a real socket.
type issuer struct {
	*httptest.Server
	mu    sync.Mutex
	asked int
	reply func(w http.ResponseWriter, r *http.Request)
}

func newIssuer(t *testing.T, reply func(w http.ResponseWriter, r *http.Request)) *issuer {
	t.Helper()
	i := &issuer{reply: reply}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.asked++
		reply := i.reply
		i.mu.Unlock()
		reply(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) now(reply func(w http.ResponseWriter, r *http.Request)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reply = reply
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

func publishes(keys ...jwk) func(http.ResponseWriter, *http.Request) {
	body := set(keys...)
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
}

func fails(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusBadGateway) }

// clock is set by hand.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func (c *clock) pass(d time.Duration) { c.Time = c.Add(d) }

func started(t *testing.T, reply func(http.ResponseWriter, *http.Request)) (*issuer, *jwks.Keys, *clock) {
	t.Helper()
	i, c := newIssuer(t, reply), &clock{time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)}
	return i, jwks.New(i.URL, c.now, slog.New(slog.DiscardHandler)), c
}

// has asks for a key; want is yes, no or out of reach.
func has(t *testing.T, keys *jwks.Keys, kid, want string) {
	t.Helper()
	_, found, err := keys.Key(t.Context(), kid)
	got := map[bool]string{true: "yes", false: "no"}[found]
	if err != nil {
		got = "out of reach"
		if !fault.Is(err, fault.DependencyUnavailable) {
			t.Errorf("error = %v", err)
		}
	}
	if got != want {
		t.Errorf("key %s: %s (%v), want %s", kid, got, err, want)
	}
}

func TestFetchedOnDemand(t *testing.T) {
	i, keys, c := started(t, publishes(p256("a")))
	equal(t, "fetches before any token", i.count(), 0)
	has(t, keys, "a", "yes")
	has(t, keys, "a", "yes")
	equal(t, "fetches", i.count(), 1)
	c.pass(10*time.Minute - time.Second)
	has(t, keys, "a", "yes")
	equal(t, "fetches within ten minutes", i.count(), 1)
	c.pass(time.Second)
	has(t, keys, "a", "yes")
	equal(t, "fetches after ten minutes", i.count(), 2)
}

func TestRotation(t *testing.T) {
	i, keys, c := started(t, publishes(p256("old")))
	has(t, keys, "old", "yes")
	i.now(publishes(p256("new")))
	c.pass(time.Minute)
	has(t, keys, "new", "yes")
	has(t, keys, "old", "no")
	equal(t, "fetches", i.count(), 2)
}

// An unknown key id fetches at most once a minute, however many come.
func TestUnknownKey(t *testing.T) {
	i, keys, c := started(t, publishes(p256("a")))
	has(t, keys, "a", "yes")
	for n := range 50 {
		has(t, keys, fmt.Sprint("invented", n), "no")
	}
	equal(t, "fetches in the first minute", i.count(), 1)
	c.pass(59 * time.Second)
	has(t, keys, "invented", "no")
	equal(t, "fetches at 59 s", i.count(), 1)
	c.pass(time.Second)
	for n := range 50 {
		has(t, keys, fmt.Sprint("invented", n), "no")
	}
	equal(t, "fetches at 60 s", i.count(), 2)
	has(t, keys, "a", "yes")
}

// While the issuer is away its keys are used for up to an hour, and not asked
// for more than once a minute.
func TestStaleKeys(t *testing.T) {
	i, keys, c := started(t, publishes(p256("a")))
	has(t, keys, "a", "yes")
	i.now(fails)
	c.pass(10 * time.Minute)
	has(t, keys, "a", "yes")
	has(t, keys, "a", "yes")
	equal(t, "fetches", i.count(), 2)
	c.pass(50*time.Minute - time.Second)
	has(t, keys, "a", "yes")
	has(t, keys, "invented", "no")
	equal(t, "fetches", i.count(), 3)
	c.pass(time.Second)
	has(t, keys, "a", "out of reach")
	i.now(publishes(p256("a")))
	has(t, keys, "a", "yes")
}

// A clock that is set back makes no key younger: one that was withdrawn would be
// good until the clock is where it was.
func TestClockSetBack(t *testing.T) {
	i, keys, c := started(t, publishes(p256("a")))
	has(t, keys, "a", "yes")
	i.now(publishes(p256("b")))
	c.pass(-time.Hour)
	has(t, keys, "b", "yes")
	has(t, keys, "a", "no")
	i.now(fails)
	c.pass(-time.Second)
	has(t, keys, "b", "out of reach")
}

func TestColdFailure(t *testing.T) {
	i, keys, _ := started(t, fails)
	has(t, keys, "a", "out of reach")
	i.now(publishes(p256("a")))
	has(t, keys, "a", "yes") // the next request need not wait
}

// Whatever comes instead of keys neither lets anybody in nor takes away the
// keys that are known.
func TestBadAnswers(t *testing.T) {
	stranger := newIssuer(t, publishes(p256("stranger")))
	for name, reply := range map[string]func(http.ResponseWriter, *http.Request){
		"garbage":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\xff<html>")) },
		"no keys":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"server down": fails,
		"not found":   http.NotFound,
		"keys in an error": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			publishes(p256("stranger"))(w, r)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, stranger.URL, http.StatusFound)
		},
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Repeat(" ", 300<<10)))
			_, _ = w.Write(set(p256("stranger")))
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000")
			_, _ = w.Write(set(p256("stranger")))
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, cold, _ := started(t, reply)
			has(t, cold, "stranger", "out of reach")

			i, keys, c := started(t, publishes(p256("a")))
			has(t, keys, "a", "yes")
			i.now(reply)
			c.pass(11 * time.Minute)
			has(t, keys, "a", "yes")
			has(t, keys, "stranger", "no")
		})
	}
	equal(t, "requests that a redirect sent on", stranger.count(), 0)
}

func TestCallerLeaves(t *testing.T) {
	_, keys, _ := started(t, publishes(p256("a")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, found, err := keys.Key(ctx, "a")
	if found || !errors.Is(err, context.Canceled) || !fault.Is(err, fault.DependencyUnavailable) {
		t.Errorf("found %v, error %v", found, err)
	}
	has(t, keys, "a", "yes")
}

// Many cold callers at once cause one fetch.
func TestOneFetch(t *testing.T) {
	i, keys, _ := started(t, publishes(p256("a")))
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { has(t, keys, "a", "yes") })
	}
	all.Wait()
	equal(t, "fetches", i.count(), 1)
}
