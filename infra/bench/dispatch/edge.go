package dispatch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/edge"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
)

const (
	endpoint = "https://mcp.example.com/v1/agents/mcp"
	issuer   = "https://login.example.com"
	agent    = "agt_bench"
	tenant   = "acme"
)

var granted = identity.Scopes{identity.LedgerRead}

// Edge is the function without what lies outside of it: an event in, a response
// out, and between them the token, the checks, the dispatcher, the audit event
// and the log line. The table, the chain and the bus answer at once.
type Edge struct {
	server   *edge.Server
	verifier *identity.Verifier
	public   *ecdsa.PublicKey
	token    string
}

// NewEdge makes it over the catalogue.
func NewEdge() (*Edge, error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	verifier := &identity.Verifier{Issuer: issuer, Audience: []string{endpoint}, Keys: keys{&signer.PublicKey}, Now: time.Now}
	door := access.New(verifier, store{}, registry{}, &access.Limiter{Counter: counter{}, Now: time.Now}, log, time.Now)
	var offered catalog.Catalog
	if err := offered.Mount(Provider()); err != nil {
		return nil, err
	}
	trail := &audit.Trail{Bus: bus{}, Store: store{}, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: log}
	surface, err := mcp.New(&offered, trail, log)
	if err != nil {
		return nil, err
	}
	server, err := edge.New(edge.Config{EndpointURL: endpoint, Issuer: issuer}, door, surface, time.Now, log)
	if err != nil {
		return nil, err
	}
	token, err := sign(signer)
	return &Edge{server, verifier, &signer.PublicKey, token}, err
}

func sign(signer *ecdsa.PrivateKey) (string, error) {
	now := time.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": issuer, "sub": agent, "aud": endpoint, "iat": now.Unix(), "exp": now.Add(50 * time.Minute).Unix(), "jti": "bench",
		"tenant_id": tenant, "principal_type": identity.Agent, "scopes": granted.Strings(), "scope_hash": granted.Hash().String(),
	})
	token.Header["kid"] = "bench"
	return token.SignedString(signer)
}

// Invoke answers one event.
func (e *Edge) Invoke(event []byte) ([]byte, error) {
	return e.server.Invoke(context.Background(), event)
}

// Verify checks the token.
func (e *Edge) Verify() error {
	_, err := e.verifier.Verify(context.Background(), e.token)
	return err
}

// VerifySignature returns the one thing a verification cannot do without: the
// check of the token's signature.
func (e *Edge) VerifySignature() (func() error, error) {
	at := strings.LastIndexByte(e.token, '.')
	method, text := jwt.SigningMethodES256, e.token[:at]
	signature, err := jwt.NewParser().DecodeSegment(e.token[at+1:])
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	if err := method.Verify(text, signature, e.public); err != nil {
		return nil, err
	}
	half := len(signature) / 2
	r, s := new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:])
	return func() error {
		if !ecdsa.Verify(e.public, sum[:], r, s) {
			return errors.New("the signature does not verify")
		}
		return nil
	}, nil
}

// Event is a request as the gateway hands it to the function.
func (e *Edge) Event(r Request) ([]byte, error) { return Event(endpoint, e.token, r) }

// Event is a request to an endpoint as the gateway hands it to the function.
func Event(url, token string, r Request) ([]byte, error) {
	req := httptest.NewRequest(http.MethodPost, url, strings.NewReader(r.Body))
	r.Headers(req.Header, token)
	return capture(req)
}

// Preflight is an OPTIONS request with a body: the edge reads the event and
// writes a response, and there is nothing else to do.
func Preflight(r Request) ([]byte, error) {
	req := httptest.NewRequest(http.MethodOptions, endpoint, strings.NewReader(r.Body))
	r.Headers(req.Header, "none")
	return capture(req)
}

// capture takes the event from the local gateway.
func capture(req *http.Request) ([]byte, error) {
	var taken invoker
	front, err := gateway.New(gateway.Config{Function: &taken})
	if err != nil {
		return nil, err
	}
	front.ServeHTTP(httptest.NewRecorder(), req)
	if !json.Valid(taken.event) {
		return nil, errors.New("the gateway made no event")
	}
	return taken.event, nil
}

type invoker struct{ event []byte }

func (i *invoker) Invoke(_ context.Context, event []byte) (lambda.Result, error) {
	i.event = event
	return lambda.Result{Payload: []byte(`{"statusCode":200}`)}, nil
}

type keys struct{ public *ecdsa.PublicKey }

func (k keys) Key(context.Context, string) (identity.Key, bool, error) {
	return identity.Key{Algorithm: "ES256", Public: k.public}, true, nil
}

type registry struct{}

func (registry) Registration(context.Context, identity.Hash) (identity.Registration, error) {
	return identity.Registration{TenantID: identity.TenantHash(tenant), ScopeHash: granted.Hash(), RegisteredAt: 1}, nil
}

type counter struct{}

func (counter) Lease(context.Context, identity.Tenant, time.Time, int) (used, limit int, err error) {
	return 0, math.MaxInt32, nil
}

func (counter) FirstRefusal(context.Context, identity.Tenant, time.Time) (bool, error) {
	return false, nil
}

type bus struct{}

func (bus) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// store holds the record of the one agent and takes everything else.
type store struct{}

var item = func() record.Item {
	body, err := json.Marshal(identity.AgentRecord{ID: agent, TenantID: tenant, Status: identity.Active, Scopes: granted})
	if err != nil {
		panic(err) // strings always marshal
	}
	return record.Item{Key: key.AgentRecord(agent), Version: 1, Body: body}
}()

func (store) Query(context.Context, record.Query) (record.Page, error) {
	return record.Page{Items: []record.Item{item}}, nil
}

func (store) Get(context.Context, key.Key) (record.Item, bool, error) {
	return record.Item{}, false, nil
}

func (store) GetMany(context.Context, []key.Key) (map[key.Key]record.Item, error) { return nil, nil }

func (store) Commit(context.Context, record.Change) error { return nil }
