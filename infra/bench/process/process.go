// Package process runs one function's program and watches it: how long it takes
// to ask for work, and how much memory it has. The local stack's own pool hides
// both, as Lambda does.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"github.com/robotmoney/mcp/infra/footprint"
)

// limit is how long a start or an answer may take before it is given up.
const limit = 30 * time.Second

// Process is one running program with a Runtime API of its own. It takes one
// event at a time.
type Process struct {
	Ready  time.Duration // from the start of the program to its first call of next
	cmd    *exec.Cmd
	server *http.Server
	output bytes.Buffer
	events chan []byte
	replys chan reply
	exited chan struct{}
}

type reply struct {
	body   []byte
	failed bool
}

// Start starts a program and waits until it asks for work. env is all it sees
// beside what Lambda sets.
func Start(ctx context.Context, binary string, env []string) (*Process, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Process{events: make(chan []byte), replys: make(chan reply), exited: make(chan struct{})}
	asked := make(chan time.Time, 1)
	p.server = &http.Server{Handler: p.api(asked), ReadHeaderTimeout: limit}
	go func() { _ = p.server.Serve(listener) }() // ends with Close
	p.cmd = exec.CommandContext(ctx, binary)
	p.cmd.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + listener.Addr().String(), "AWS_LAMBDA_FUNCTION_NAME=bench", "_HANDLER=bootstrap"}, env...)
	p.cmd.Stderr = &p.output // what it logs goes to its stdout, which nobody reads
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		_ = p.server.Close()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	select {
	case at := <-asked:
		p.Ready = at.Sub(began)
		return p, nil
	case <-p.exited:
		err = errors.New("it ended before it asked for work")
	case <-time.After(limit):
		err = errors.New("it does not ask for work")
	}
	p.Close()
	return nil, fmt.Errorf("start %s: %w: %s", binary, err, p.output.String())
}

// api is the Runtime API, as far as a function that behaves needs it.
func (p *Process) api(asked chan<- time.Time) http.Handler {
	const invocation = "/2018-06-01/runtime/invocation/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+invocation+"next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- time.Now():
		default: // only the first counts
		}
		select {
		case event := <-p.events:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "bench")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(limit).UnixMilli(), 10))
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:bench")
			_, _ = w.Write(event)
		case <-r.Context().Done():
		}
	})
	answered := func(failed bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusAccepted)
			p.replys <- reply{body, failed || err != nil}
		}
	}
	mux.HandleFunc("POST "+invocation+"{id}/response", answered(false))
	mux.HandleFunc("POST "+invocation+"{id}/error", answered(true))
	return mux
}

// Invoke hands over one event and returns the response.
func (p *Process) Invoke(event []byte) ([]byte, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case p.events <- event:
	case <-p.exited:
		return nil, errors.New("the function has ended")
	case <-timer.C:
		return nil, errors.New("the function takes no event")
	}
	select {
	case r := <-p.replys:
		if r.failed {
			return nil, fmt.Errorf("the function failed: %s", r.body)
		}
		return r.body, nil
	case <-p.exited:
		return nil, errors.New("the function ended in an event")
	case <-timer.C:
		return nil, errors.New("the function does not answer")
	}
}

// RSS is the memory the process has in use, in bytes.
func (p *Process) RSS() (float64, error) {
	bytes, err := footprint.Resident(strconv.Itoa(p.cmd.Process.Pid))
	return float64(bytes), err
}

// Close ends the process.
func (p *Process) Close() {
	_ = p.cmd.Process.Kill()
	<-p.exited
	_ = p.server.Close()
}
