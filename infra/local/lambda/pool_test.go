package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// binary is testdata/fn, built once: a real bootstrap.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lambda")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "bootstrap")
	build := exec.Command("go", "build", "-trimpath", "-tags", "lambda.norpc", "-o", binary, "./testdata/fn")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// pool starts a pool of the test function and checks that it leaves nothing.
func pool(t *testing.T, change func(*lambda.Function)) *lambda.Pool {
	t.Helper()
	f := lambda.Function{Name: "fn", Binary: binary, Timeout: 20 * time.Second}
	if change != nil {
		change(&f)
	}
	p, err := lambda.New(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if live, idle := p.Processes(); live != 0 || idle != 0 {
			t.Errorf("after Close %d live, %d idle", live, idle)
		}
	})
	return p
}

func invoke(t *testing.T, p *lambda.Pool, event string) lambda.Result {
	t.Helper()
	r, err := p.Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Fatalf("invoke %.80s: %v", event, err)
	}
	return r
}

type description struct {
	PID    int      `json:"pid"`
	Env    []string `json:"env"`
	LeftMS int64    `json:"left_ms"`
	Trace  string   `json:"trace"`
	ID     string   `json:"id"`
	ARN    string   `json:"arn"`
}

func describe(t *testing.T, p *lambda.Pool) (description, lambda.Result) {
	t.Helper()
	r := invoke(t, p, `{}`)
	var d description
	if err := json.Unmarshal(r.Payload, &d); err != nil || r.FunctionError != "" {
		t.Fatalf("describe: %v in %s", err, r.Payload)
	}
	return d, r
}

func TestWhatTheFunctionSees(t *testing.T) {
	t.Setenv("OUTSIDE", "must not get in")
	p := pool(t, func(f *lambda.Function) {
		f.Env = []string{"TABLE_NAME=main", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local"}
		f.Region, f.AccountID, f.MemoryMB = "eu-central-1", "123456789012", 512
	})
	d, r := describe(t, p)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(d.ID) || d.ID != r.RequestID {
		t.Errorf("request id %q, result has %q", d.ID, r.RequestID)
	}
	if d.ARN != "arn:aws:lambda:eu-central-1:123456789012:function:fn" {
		t.Errorf("arn %q", d.ARN)
	}
	if d.LeftMS < 15_000 || d.LeftMS > 20_000 {
		t.Errorf("%d ms left of 20 s", d.LeftMS)
	}
	if !strings.HasPrefix(d.Trace, "Root=1-") {
		t.Errorf("trace %q", d.Trace)
	}
	want := []string{
		"TABLE_NAME=main", "AWS_ACCESS_KEY_ID=local", "AWS_LAMBDA_FUNCTION_NAME=fn",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "AWS_REGION=eu-central-1",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/fn", "_HANDLER=bootstrap", "LAMBDA_TASK_ROOT=" + filepath.Dir(binary), "TZ=:UTC",
	}
	for _, w := range want {
		if !slices.Contains(d.Env, w) {
			t.Errorf("environment has no %s", w)
		}
	}
	if i := slices.IndexFunc(d.Env, func(s string) bool { return strings.HasPrefix(s, "OUTSIDE") || strings.HasPrefix(s, "HOME") }); i >= 0 {
		t.Errorf("environment leaks %s", d.Env[i])
	}
}

func TestWarmProcessIsReused(t *testing.T) {
	p := pool(t, func(f *lambda.Function) { f.MaxProcesses = 1 })
	first, r := describe(t, p)
	if !r.Cold {
		t.Error("the first invocation was not cold")
	}
	// A place must be free again the moment the answer is out.
	for range 200 {
		next, r := describe(t, p)
		if next.PID != first.PID || r.Cold {
			t.Fatalf("pid %d then %d, cold %v", first.PID, next.PID, r.Cold)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	const big = lambda.MaxResponseBytes
	for _, c := range []struct {
		name, event       string
		wantType, wantMsg string
		replaced          bool
	}{
		{"returned error", `{"do":"error","text":"no such row"}`, "errorString", "no such row", false},
		{"panic", `{"do":"panic","text":"boom"}`, "string", "boom", true},
		{"exit with a code", `{"do":"exit","n":7}`, lambda.TypeExit, "Runtime exited with error: exit status 7", true},
		{"exit without one", `{"do":"exit","n":0}`, lambda.TypeExit, "Runtime exited without providing a reason", true},
		{"too large", fmt.Sprintf(`{"do":"big","n":%d}`, big-1), lambda.TypeTooLarge, "6291556 bytes", true},
		{"far too large", `{"do":"big","n":20000000}`, lambda.TypeTooLarge, "6291556 bytes", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			log := &buffer{}
			p := pool(t, func(f *lambda.Function) { f.Log = log })
			before, _ := describe(t, p)
			r := invoke(t, p, c.event)
			wantError(t, r, c.wantType, c.wantMsg)
			if after, _ := describe(t, p); (after.PID != before.PID) != c.replaced {
				t.Errorf("pid %d then %d, want replaced %v", before.PID, after.PID, c.replaced)
			}
			if !strings.Contains(log.String(), r.RequestID) {
				t.Errorf("the log says nothing of %s:\n%s", r.RequestID, log)
			}
		})
	}
}

func wantError(t *testing.T, r lambda.Result, kind, message string) {
	t.Helper()
	var e struct {
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}
	if err := json.Unmarshal(r.Payload, &e); err != nil {
		t.Fatalf("error payload %.200s: %v", r.Payload, err)
	}
	if r.FunctionError != lambda.Unhandled || e.Type != kind || !strings.Contains(e.Message, message) {
		t.Errorf("got %q %s: %s, want %s: %s", r.FunctionError, e.Type, e.Message, kind, message)
	}
}

func TestPanicHasAStackTrace(t *testing.T) {
	r := invoke(t, pool(t, nil), `{"do":"panic","text":"boom"}`)
	if !bytes.Contains(r.Payload, []byte(`"stackTrace":[{"path":`)) {
		t.Errorf("payload %s", r.Payload)
	}
}

func TestLargestResponsePasses(t *testing.T) {
	r := invoke(t, pool(t, nil), fmt.Sprintf(`{"do":"big","n":%d}`, lambda.MaxResponseBytes-2))
	if r.FunctionError != "" || len(r.Payload) != lambda.MaxResponseBytes {
		t.Errorf("%s, %d bytes", r.FunctionError, len(r.Payload))
	}
}

func TestTimeoutKillsAndReplaces(t *testing.T) {
	p := pool(t, func(f *lambda.Function) { f.Timeout = 400 * time.Millisecond })
	before, _ := describe(t, p)
	r := invoke(t, p, `{"do":"hang"}`)
	wantError(t, r, lambda.TypeTimeout, "Task timed out after 0.40 seconds")
	if r.Duration < 400*time.Millisecond || r.Duration > 3*time.Second {
		t.Errorf("took %s", r.Duration)
	}
	if err := syscall.Kill(before.PID, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d still there: %v", before.PID, err)
	}
	if after, _ := describe(t, p); after.PID == before.PID {
		t.Error("not replaced")
	}
}

// What is in the middle of a call is killed before what is idle, and the next
// call finds a new process.
func TestKill(t *testing.T) {
	p, g := pool(t, nil), newGate(t)
	before, _ := describe(t, p)
	ended := make(chan lambda.Result, 2)
	for range 2 {
		go func() {
			r, _ := p.Invoke(context.Background(), g.event("call"))
			ended <- r
		}()
	}
	g.await(t, 2)
	between, _ := describe(t, p) // a third one, idle now
	if busy := p.Kill(1); busy != 1 {
		t.Errorf("killed %d in the middle of a call, want 1", busy)
	}
	wantError(t, <-ended, lambda.TypeExit, "signal: killed")
	if after, _ := describe(t, p); after.PID != between.PID {
		t.Error("the idle one was killed")
	}
	if busy := p.Kill(2); busy != 1 {
		t.Errorf("killed %d in the middle of a call, want the one that is left", busy)
	}
	wantError(t, <-ended, lambda.TypeExit, "signal: killed")
	if after, _ := describe(t, p); after.PID == between.PID || after.PID == before.PID {
		t.Error("an idle process that was to be killed still serves")
	}
}

func TestRefusedPayloads(t *testing.T) {
	p := pool(t, nil)
	for _, c := range []struct {
		name    string
		payload []byte
		status  int
		code    string
	}{
		{"too large", slices.Concat([]byte(`"`), bytes.Repeat([]byte("x"), lambda.MaxRequestBytes-1), []byte(`"`)), 413, "RequestTooLargeException"},
		{"no JSON", []byte(`{`), 400, "InvalidRequestContentException"},
		{"empty", nil, 400, "InvalidRequestContentException"},
	} {
		_, err := p.Invoke(t.Context(), c.payload)
		var service *lambda.ServiceError
		if !errors.As(err, &service) || service.Status != c.status || service.Code != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if live, _ := p.Processes(); live != 0 {
		t.Errorf("%d processes started for refused payloads", live)
	}
	r := invoke(t, p, `{"do":"print","text":"`+strings.Repeat("x", lambda.MaxRequestBytes-40)+`"}`)
	if r.FunctionError != "" {
		t.Errorf("a payload of nearly 6 MB: %.200s", r.Payload)
	}
}

func TestFailingStart(t *testing.T) {
	for _, c := range []struct{ name, init, kind, message string }{
		{"says why", "error", "Config.Missing", "no table"},
		{"exits", "exit", lambda.TypeExit, "exit status 3"},
		{"hangs", "hang", lambda.TypeTimeout, "Task timed out after 0.50 seconds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := pool(t, func(f *lambda.Function) {
				f.Env = []string{"INIT=" + c.init}
				if c.init == "hang" {
					f.InitTimeout, f.Timeout = 300*time.Millisecond, 500*time.Millisecond
				}
			})
			wantError(t, invoke(t, p, `{}`), c.kind, c.message)
			if live, idle := p.Processes(); idle != 0 {
				t.Errorf("%d live, %d idle", live, idle)
			}
		})
	}
}

// A start that fails once is repeated inside the same invocation.
func TestStartIsRepeatedOnce(t *testing.T) {
	for _, kind := range []string{"exit", "hang", "error"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "mark")
			p := pool(t, func(f *lambda.Function) {
				f.Env = []string{"INIT=" + kind + ":" + mark}
				if kind == "hang" {
					f.InitTimeout = time.Second
				}
			})
			d, r := describe(t, p)
			if !r.Cold || d.LeftMS > 20_000 {
				t.Errorf("cold %v, %d ms left", r.Cold, d.LeftMS)
			}
		})
	}
}

func TestMissingBinary(t *testing.T) {
	p := pool(t, func(f *lambda.Function) { f.Binary, f.MaxProcesses = "testdata/none", 1 })
	for range 2 { // the second shows that the place was given back
		if _, err := p.Invoke(t.Context(), []byte(`{}`)); err == nil || lambda.Throttled(err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestBadConfiguration(t *testing.T) {
	for _, f := range []lambda.Function{
		{Binary: binary}, {Name: "fn"},
		{Name: "fn", Binary: binary, Env: []string{"AWS_LAMBDA_RUNTIME_API=x"}},
		{Name: "fn", Binary: binary, Env: []string{"AWS_REGION=x"}},
		{Name: "fn", Binary: binary, Env: []string{"NOVALUE"}},
	} {
		if _, err := lambda.New(t.Context(), f); err == nil {
			t.Errorf("accepted %+v", f)
		}
	}
}

func TestOutOfOrderNextIsRefused(t *testing.T) {
	if r := invoke(t, pool(t, nil), `{"do":"next"}`); string(r.Payload) != "403" {
		t.Errorf("status %s", r.Payload)
	}
}

// settle waits for a condition that holds soon.
func settle(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
