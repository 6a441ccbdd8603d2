package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// gate is a server that the function calls and that answers when it is opened,
// so a test knows how many invocations run at once.
type gate struct {
	url     string
	arrived chan struct{}
	open    func()
}

func newGate(t *testing.T) *gate {
	t.Helper()
	hold := make(chan struct{})
	g := &gate{arrived: make(chan struct{}, 100), open: sync.OnceFunc(func() { close(hold) })}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		g.arrived <- struct{}{}
		<-hold
	}))
	g.url = s.URL
	t.Cleanup(func() { g.open(); s.Close() })
	return g
}

func (g *gate) event(kind string) []byte {
	return []byte(`{"do":"` + kind + `","text":"` + g.url + `"}`)
}

func (g *gate) await(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		select {
		case <-g.arrived:
		case <-time.After(20 * time.Second):
			t.Fatalf("%d of %d arrived", i, n)
		}
	}
}

func TestTwentyOverlapping(t *testing.T) {
	const n = 20
	p, g := pool(t, func(f *lambda.Function) { f.MaxProcesses = n }), newGate(t)
	ids, wg := make(chan string, n), sync.WaitGroup{}
	for range n {
		wg.Go(func() {
			r, err := p.Invoke(t.Context(), g.event("call"))
			if err != nil || r.FunctionError != "" {
				t.Errorf("%v %s", err, r.Payload)
			}
			ids <- r.RequestID
		})
	}
	g.await(t, n)
	if _, err := p.Invoke(t.Context(), []byte(`{}`)); !lambda.Throttled(err) {
		t.Errorf("one more than reserved: %v", err)
	}
	g.open()
	wg.Wait()
	close(ids)
	seen := map[string]bool{}
	for id := range ids {
		seen[id] = true
	}
	if live, idle := p.Processes(); live != n || idle != n || len(seen) != n {
		t.Errorf("%d live, %d idle, %d request ids, want %d", live, idle, len(seen), n)
	}
	// The last one used is the first one taken.
	first, _ := describe(t, p)
	if second, r := describe(t, p); second.PID != first.PID || r.Cold {
		t.Errorf("pids %d and %d, cold %v", first.PID, second.PID, r.Cold)
	}
}

// Many callers over few processes: each gets its own answer, none is lost.
func TestAnswersAreNotMixed(t *testing.T) {
	p, wg := pool(t, nil), sync.WaitGroup{}
	for range 8 {
		wg.Go(func() {
			for range 50 {
				r, err := p.Invoke(t.Context(), []byte(`{}`))
				var d description
				if err != nil || json.Unmarshal(r.Payload, &d) != nil || d.ID != r.RequestID {
					t.Errorf("%v: asked as %s, answered %s", err, r.RequestID, d.ID)
				}
			}
		})
	}
	wg.Wait()
	if live, _ := p.Processes(); live > 8 {
		t.Errorf("%d processes for 8 callers", live)
	}
}

func TestCallerLeavesFunctionGoesOn(t *testing.T) {
	p, g := pool(t, func(f *lambda.Function) { f.MaxProcesses = 1 }), newGate(t)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { _, err := p.Invoke(ctx, g.event("call")); left <- err }()
	g.await(t, 1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Invoke(t.Context(), []byte(`{}`)); !lambda.Throttled(err) {
		t.Errorf("the place is free although the function runs: %v", err)
	}
	g.open()
	settle(t, "the process never became idle", func() bool { _, idle := p.Processes(); return idle == 1 })
	if _, r := describe(t, p); r.Cold {
		t.Error("the process was not kept")
	}
}

func TestQuiet(t *testing.T) {
	p, g := pool(t, nil), newGate(t)
	if err := p.Quiet(t.Context()); err != nil {
		t.Error(err)
	}
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			if _, err := p.Invoke(context.Background(), g.event("call")); err != nil {
				t.Error(err)
			}
		})
	}
	g.await(t, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.Quiet(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("quiet while two run: %v", err)
	}
	g.open()
	if err := p.Quiet(t.Context()); err != nil {
		t.Error(err)
	}
	if live, idle := p.Processes(); live != 2 || idle != 2 {
		t.Errorf("%d live and %d idle, want both idle", live, idle)
	}
	callers.Wait()
}

// A process that is not needed ends after a while, and the next request starts
// another.
func TestIdleProcessEnds(t *testing.T) {
	p := pool(t, func(f *lambda.Function) { f.IdleTimeout = 50 * time.Millisecond })
	first, _ := describe(t, p)
	settle(t, "the idle process goes on", func() bool { live, _ := p.Processes(); return live == 0 })
	next, r := describe(t, p)
	if next.PID == first.PID || !r.Cold || r.FunctionError != "" {
		t.Errorf("pid %d then %d, %+v", first.PID, next.PID, r)
	}
}

func TestCloseEndsOpenInvocations(t *testing.T) {
	for _, how := range []string{"Close", "context"} {
		t.Run(how, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := lambda.New(ctx, lambda.Function{Name: "fn", Binary: binary, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			// The idle process has a child of its own, which must go too.
			child := invoke(t, p, `{"do":"child"}`)
			var pid int
			if err := json.Unmarshal(child.Payload, &pid); err != nil || syscall.Kill(pid, 0) != nil {
				t.Fatalf("no child: %s", child.Payload)
			}
			g := newGate(t)
			ended := make(chan error, 2)
			for range 2 {
				go func() { _, err := p.Invoke(context.Background(), g.event("call")); ended <- err }()
			}
			g.await(t, 2)
			if how == "Close" {
				p.Close()
			} else {
				cancel()
			}
			for range 2 {
				if err := <-ended; !errors.Is(err, lambda.ErrClosed) {
					t.Errorf("open invocation: %v", err)
				}
			}
			if _, err := p.Invoke(t.Context(), []byte(`{}`)); !errors.Is(err, lambda.ErrClosed) {
				t.Errorf("after the end: %v", err)
			}
			p.Close()
			settle(t, "the child lives on", func() bool { return gone(pid) })
			g.open()
			http.DefaultClient.CloseIdleConnections()
			settle(t, "goroutines leak", func() bool { return runtime.NumGoroutine() <= before+4 })
		})
	}
}

// gone tells that a process does not run any more; nobody here can reap it.
func gone(pid int) bool {
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid)
}

func TestLinesAreNotMixed(t *testing.T) {
	log, wg := &buffer{}, sync.WaitGroup{}
	p := pool(t, func(f *lambda.Function) { f.Log = log })
	line := strings.Repeat("0123456789", 900)
	for range 4 {
		wg.Go(func() {
			for range 10 {
				_, _ = p.Invoke(t.Context(), []byte(`{"do":"print","text":"`+line+`"}`))
			}
		})
	}
	wg.Wait()
	p.Close()
	got := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(got) != 40 {
		t.Errorf("%d lines, want 40", len(got))
	}
	for _, l := range got {
		if l != line {
			t.Fatalf("a line of %d characters, want %d", len(l), len(line))
		}
	}
}
