package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/lambda"
)

// server is the whole way: HTTP, gateway, Runtime API, a real bootstrap.
func server(t *testing.T, change func(*lambda.Function)) *httptest.Server {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, "../lambda/testdata/fn")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f := lambda.Function{Name: "fn", Binary: binary, Timeout: 20 * time.Second}
	if change != nil {
		change(&f)
	}
	pool, err := lambda.New(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler(t, pool, nil))
	t.Cleanup(func() { s.Close(); pool.Close() })
	return s
}

func post(t *testing.T, url, text string) (*http.Response, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(raw)
}

func TestRealFunction(t *testing.T) {
	s := server(t, nil)
	for _, c := range []struct {
		name, event string
		status      int
		body        string
	}{
		{"answer", `{"do":"return","then":{"statusCode":401,"headers":{"X-RM-Challenge":"Bearer","Content-Type":"application/json"},"body":"{}"}}`, 401, `{}`},
		{"error", `{"do":"error","text":"secret detail"}`, 500, `{"message":"Internal Server Error"}`},
		{"panic", `{"do":"panic","text":"secret detail"}`, 500, `{"message":"Internal Server Error"}`},
		{"exit", `{"do":"exit","n":2}`, 500, `{"message":"Internal Server Error"}`},
		{"over 6 MB", `{"do":"big","n":7000000}`, 500, `{"message":"Internal Server Error"}`},
		{"still there", `{"do":"return","then":{"statusCode":200,"body":"ok"}}`, 200, `ok`},
	} {
		res, got := post(t, s.URL, c.event)
		if res.StatusCode != c.status || got != c.body {
			t.Errorf("%s: %d %s", c.name, res.StatusCode, got)
		}
		if c.status == 401 && res.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: headers %v", c.name, res.Header)
		}
	}
}

func TestRealBodyBetweenTheLimits(t *testing.T) {
	// The gateway takes it, but as an event it is over Lambda's 6 MB.
	if res, got := post(t, server(t, nil).URL, `"`+strings.Repeat("x", 7<<20)+`"`); res.StatusCode != 413 {
		t.Errorf("%d %.100s", res.StatusCode, got)
	}
}

func TestRealTimeout(t *testing.T) {
	s := server(t, func(f *lambda.Function) { f.Timeout = 300 * time.Millisecond })
	if res, got := post(t, s.URL, `{"do":"hang"}`); res.StatusCode != 500 || got != `{"message":"Internal Server Error"}` {
		t.Errorf("%d %s", res.StatusCode, got)
	}
}

func TestRealOverlap(t *testing.T) {
	arrived, open := make(chan struct{}, 20), make(chan struct{})
	gate := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-open }))
	defer gate.Close()
	s, wg := server(t, func(f *lambda.Function) { f.MaxProcesses = 20 }), sync.WaitGroup{}
	for range 20 {
		wg.Go(func() {
			if res, got := post(t, s.URL, `{"do":"call","text":"`+gate.URL+`"}`); res.StatusCode != 200 {
				t.Errorf("%d %s", res.StatusCode, got)
			}
		})
	}
	for range 20 {
		<-arrived
	}
	if res, got := post(t, s.URL, `{}`); res.StatusCode != 503 || got != `{"message":"Service Unavailable"}` {
		t.Errorf("one too many: %d %s", res.StatusCode, got)
	}
	close(open)
	wg.Wait()
}

func BenchmarkRoundTrip(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "bootstrap")
	if out, err := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, "../lambda/testdata/fn").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	pool, err := lambda.New(b.Context(), lambda.Function{Name: "fn", Binary: binary, Timeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	g, err := gateway.New(gateway.Config{Function: pool})
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(g)
	defer s.Close()
	for b.Loop() {
		res, err := http.Post(s.URL, "application/json", strings.NewReader(`{"do":"return","then":{"statusCode":200,"body":"ok"}}`))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}
