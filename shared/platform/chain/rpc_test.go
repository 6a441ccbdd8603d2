package chain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

var registryAddress = chain.Address{19: 0xaa}

const (
	brief   = 400 * time.Millisecond // for nodes that hang; the honest one must answer within it too
	patient = 5 * time.Second        // for everything else, so that a slow machine fails nothing
)

// hostile are nodes that must not be believed.
var hostile = []struct {
	name   string
	script func(n *node, w http.ResponseWriter, r *http.Request, q question)
}{
	{"lies about the chain", func(_ *node, w http.ResponseWriter, _ *http.Request, q question) {
		if q.Method == "eth_chainId" {
			result(w, q, `"0x1"`)
			return
		}
		result(w, q, `"`+chain.FormatData(encode(agent))+`"`)
	}},
	{"chain id is no string", func(_ *node, w http.ResponseWriter, _ *http.Request, q question) { result(w, q, `31337`) }},
	{"chain id is null", func(_ *node, w http.ResponseWriter, _ *http.Request, q question) { result(w, q, `null`) }},
	{"chain id is wider than 64 bits", func(_ *node, w http.ResponseWriter, _ *http.Request, q question) {
		result(w, q, `"0x10000000000007a69"`)
	}},
	{"hangs at once", func(_ *node, _ http.ResponseWriter, r *http.Request, _ question) { <-r.Context().Done() }},
	{"hangs later", onCall(func(_ http.ResponseWriter, r *http.Request, _ question) { <-r.Context().Done() })},
	{"hangs within the body", onCall(func(w http.ResponseWriter, r *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,`, q.ID)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})},
	{"dies within the body", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		w.Header().Set("Content-Length", "900")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"0x`, q.ID)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})},
	{"hangs up", onCall(func(http.ResponseWriter, *http.Request, question) { panic(http.ErrAbortHandler) })},
	{"garbage", onCall(raw(`<html>hello</html>`))},
	{"garbage behind the answer", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		answer(w, q)
		fmt.Fprint(w, `{}`)
	})},
	{"empty body", onCall(raw(``))},
	{"an array", onCall(raw(`[]`))},
	{"null", onCall(raw(`null`))},
	{"no address has code", onCall(value(`"0x"`))},
	{"223 bytes", onCall(value(`"` + chain.FormatData(encode(agent)[:223]) + `"`))},
	{"225 bytes", onCall(value(`"` + chain.FormatData(append(encode(agent), 0)) + `"`))},
	{"odd digits", onCall(value(`"` + chain.FormatData(encode(agent)) + `0"`))},
	{"no 0x", onCall(value(`"` + strings.TrimPrefix(chain.FormatData(encode(agent)), "0x") + `"`))},
	{"result is null", onCall(value(`null`))},
	{"result is a number", onCall(value(`7`))},
	{"another agent's record", onCall(value(`"` + chain.FormatData(encode(other)) + `"`))},
	{"no result", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s}`, q.ID)
	})},
	{"result and error", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q,"error":{"code":1,"message":"x"}}`, q.ID, chain.FormatData(encode(agent)))
	})},
	{"error is a string", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":"no"}`, q.ID)
	})},
	{"JSON-RPC error", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32005,"message":"limit of project %s"}}`, q.ID, key)
	})},
	{"another request's reply", onCall(func(w http.ResponseWriter, _ *http.Request, _ question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":987654,"result":%q}`, chain.FormatData(encode(agent)))
	})},
	{"JSON-RPC 1", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		fmt.Fprintf(w, `{"id":%s,"result":%q}`, q.ID, chain.FormatData(encode(agent)))
	})},
	{"500", onCall(status(http.StatusInternalServerError))},
	{"429", onCall(status(http.StatusTooManyRequests))},
	{"201", onCall(status(http.StatusCreated))},
	{"huge body", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q,"pad":"`, q.ID, chain.FormatData(encode(agent)))
		for range 64 {
			fmt.Fprint(w, strings.Repeat("x", 32<<10))
		}
		fmt.Fprint(w, `"}`)
	})},
	{"huge blank tail", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		answer(w, q)
		fmt.Fprint(w, strings.Repeat(" ", 1<<20))
	})},
	{"huge header", onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		w.Header().Set("X-Pad", strings.Repeat("x", 80<<10))
		answer(w, q)
	})},
}

func raw(body string) func(http.ResponseWriter, *http.Request, question) {
	return func(w http.ResponseWriter, _ *http.Request, _ question) { fmt.Fprint(w, body) }
}

func value(json string) func(http.ResponseWriter, *http.Request, question) {
	return func(w http.ResponseWriter, _ *http.Request, q question) { result(w, q, json) }
}

func status(code int) func(http.ResponseWriter, *http.Request, question) {
	return func(w http.ResponseWriter, _ *http.Request, q question) {
		w.WriteHeader(code)
		answer(w, q)
	}
}

func answer(w http.ResponseWriter, q question) {
	result(w, q, `"`+chain.FormatData(encode(agent))+`"`)
}

func timeoutFor(name string) time.Duration {
	if strings.HasPrefix(name, "hangs ") && name != "hangs up" {
		return brief
	}
	return patient
}

func TestHostileEndpointIsRefusedAndTheNextOneAsked(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			bad, good := newNode(t, h.script), newNode(t, honest)

			alone := chain.NewRegistry(client(t, newClock(), timeoutFor(h.name), bad), registryAddress)
			got, err := alone.Registration(t.Context(), agent.AgentID)
			if !fault.Is(err, fault.OnchainUnavailable) {
				t.Fatalf("alone: got %+v and error %v, want onchain_unavailable", got, err)
			}
			keepsSecrets(t, err)
			if strings.Contains(fault.Of(err).Message, "127.0.0.1") {
				t.Fatalf("the message for the caller names an endpoint: %s", fault.Of(err).Message)
			}

			both := chain.NewRegistry(client(t, newClock(), timeoutFor(h.name), bad, good), registryAddress)
			got, err = both.Registration(t.Context(), agent.AgentID)
			ok(t, err)
			equal(t, got, agent, "registration")
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	target := newNode(t, honest)
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		bad := newNode(t, onCall(func(w http.ResponseWriter, r *http.Request, _ question) {
			http.Redirect(w, r, target.url(), code)
		}))
		_, err := chain.NewRegistry(client(t, newClock(), patient, bad), registryAddress).Registration(t.Context(), agent.AgentID)
		if !fault.Is(err, fault.OnchainUnavailable) {
			t.Fatalf("status %d: got error %v, want onchain_unavailable", code, err)
		}
		keepsSecrets(t, err)
	}
	equal(t, target.connections(), 0, "connections to the redirect's target")
}

func TestErrorsNameEndpointsWithoutTheirURL(t *testing.T) {
	closed := newNode(t, honest)
	closed.Close()
	echo := newNode(t, onCall(func(w http.ResponseWriter, r *http.Request, q question) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no project %s"}}`, q.ID, strings.TrimPrefix(r.URL.Path, "/v3/"))
	}))
	err := client(t, newClock(), patient, closed, echo).Read(t.Context(), take, "eth_blockNumber")
	keepsSecrets(t, err)
	for _, want := range []string{"endpoint 0 (127.0.0.1)", "endpoint 1 (127.0.0.1)", "[redacted]"} {
		if !strings.Contains(err.Error(), want) {
			t.Fatalf("the error lacks %q: %v", want, err)
		}
	}
	var rpc *chain.RPCError
	if !errors.As(err, &rpc) || rpc.Code != -32000 {
		t.Fatalf("no JSON-RPC error -32000 in %v", err)
	}
}

func TestChainIDIsAskedOnce(t *testing.T) {
	n := newNode(t, honest)
	c, clock := newClientAndClock(t, n)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := c.Read(t.Context(), take, "eth_blockNumber"); err != nil {
				t.Errorf("read: %v", err)
			}
		})
	}
	group.Wait()
	clock.add(time.Hour)
	ok(t, c.Read(t.Context(), take, "eth_blockNumber"))
	equal(t, n.count("eth_chainId"), 1, "chain id checks")
	equal(t, n.count("eth_blockNumber"), 21, "reads")
}

func TestLyingEndpointIsAskedAgainAfterAMinute(t *testing.T) {
	lying := true
	n := newNode(t, func(n *node, w http.ResponseWriter, r *http.Request, q question) {
		n.mu.Lock()
		lie := lying
		n.mu.Unlock()
		if lie {
			result(w, q, `"0x1"`)
			return
		}
		honest(n, w, r, q)
	})
	c, clock := newClientAndClock(t, n)
	for _, wait := range []time.Duration{0, time.Second, 58 * time.Second} {
		clock.add(wait)
		if err := c.Read(t.Context(), take, "eth_blockNumber"); !fault.Is(err, fault.OnchainUnavailable) {
			t.Fatalf("got error %v, want onchain_unavailable", err)
		}
	}
	equal(t, n.count("eth_chainId"), 1, "checks within a minute")
	equal(t, n.count("eth_blockNumber"), 0, "reads from an endpoint of another chain")

	n.mu.Lock()
	lying = false
	n.mu.Unlock()
	clock.add(time.Second)
	ok(t, c.Read(t.Context(), take, "eth_blockNumber"))
	equal(t, n.count("eth_chainId"), 2, "checks")
}

func TestCallerThatGivesUpSaysNothingAboutTheEndpoint(t *testing.T) {
	arrived, hang := make(chan struct{}, 1), true
	n := newNode(t, func(n *node, w http.ResponseWriter, r *http.Request, q question) {
		n.mu.Lock()
		hanging := hang
		hang = false
		n.mu.Unlock()
		if hanging {
			arrived <- struct{}{}
			<-r.Context().Done()
			return
		}
		honest(n, w, r, q)
	})
	c, _ := newClientAndClock(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	err := c.Read(ctx, take, "eth_blockNumber")
	if !fault.Is(err, fault.OnchainUnavailable) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v, want onchain_unavailable because of the cancelled context", err)
	}
	ok(t, c.Read(t.Context(), take, "eth_blockNumber"))
}

func TestEndedContextAsksNobodyElse(t *testing.T) {
	first, second := newNode(t, honest), newNode(t, honest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := client(t, newClock(), patient, first, second).Read(ctx, take, "eth_blockNumber")
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "endpoint 1") {
		t.Fatalf("got error %v, want the first endpoint's cancelled request alone", err)
	}
	equal(t, second.connections(), 0, "connections to the second endpoint")
}

func TestNewRefuses(t *testing.T) {
	now := newClock().Now
	for _, test := range []struct {
		name   string
		config chain.Config
	}{
		{"no endpoint", chain.Config{ChainID: 1, Now: now}},
		{"chain id 0", chain.Config{Endpoints: []string{"http://x"}, Now: now}},
		{"no clock", chain.Config{Endpoints: []string{"http://x"}, ChainID: 1}},
		{"other scheme", chain.Config{Endpoints: []string{"ws://x/v3/" + key}, ChainID: 1, Now: now}},
		{"no host", chain.Config{Endpoints: []string{"http:///v3/" + key}, ChainID: 1, Now: now}},
		{"not a URL", chain.Config{Endpoints: []string{"http://x/v3/" + key + "\x7f"}, ChainID: 1, Now: now}},
		{"empty endpoint", chain.Config{Endpoints: []string{"http://x", ""}, ChainID: 1, Now: now}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := chain.New(test.config)
			if err == nil {
				t.Fatal("no error")
			}
			keepsSecrets(t, err)
		})
	}
}

func newClientAndClock(t *testing.T, nodes ...*node) (*chain.Client, *clock) {
	t.Helper()
	now := newClock()
	return client(t, now, patient, nodes...), now
}

func take(json.RawMessage) error { return nil }
