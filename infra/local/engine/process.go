package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// readyLimit is how long an engine may take to answer. Both need well under
	// a second on an idle machine.
	readyLimit = 30 * time.Second
	// readyPoll is how often it is asked meanwhile.
	readyPoll = 10 * time.Millisecond
	// stopLimit is how long an engine may take to end by itself.
	stopLimit = 5 * time.Second
	// portTries is how often a free port is looked for: another program may
	// take it between our look and the engine's start.
	portTries = 3
	// tailBytes of the log are shown when an engine does not come up.
	tailBytes = 2000
)

// process is an engine that runs.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
	err  error         // how; read after done
	stop sync.Once
}

// run starts a program with some variables more than ours. Its output goes to a
// file, which starts anew, or nowhere if log is empty.
func run(name, log string, env []string, binary string, args ...string) (*process, error) {
	if log == "" {
		log = os.DevNull
	} else if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close()
	p := &process{name: name, cmd: exec.Command(binary, args...), log: log, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = out, out, ownGroup()
	p.cmd.Env = append(os.Environ(), env...)
	started := make(chan error)
	go p.hold(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// hold starts the process and stays on its thread until it has ended. The
// kernel ties the child to the thread that forked it, not to the program: on a
// thread that Go gave up the engine would be killed out of the blue.
func (p *process) hold(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	// What it may have started goes with it.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	close(p.done)
}

// close ends the process: first it is asked, so that it can put its files in
// order, then it is killed. SIGTERM and not SIGINT: a program started in a
// shell's background inherits that SIGINT is ignored. Safe to call again.
func (p *process) close() {
	p.stop.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(stopLimit):
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		}
	})
	<-p.done
}

// kill ends the process at once and waits for its end.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// ready waits until ask succeeds. When the process ends instead, or the time or
// ctx runs out, the error has the end of its log and the process is gone.
func (p *process) ready(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		err := ask(ctx)
		select {
		case <-p.done: // also if something answered: it was another program
			return fmt.Errorf("%s ended before it was ready: %w\n%s", p.name, p.failure(), p.tail())
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.done:
		case <-ctx.Done():
			p.close()
			return fmt.Errorf("%s does not answer: %w (%w)\n%s", p.name, err, context.Cause(ctx), p.tail())
		}
	}
}

// failure is how the process ended; that it ended at all is one.
func (p *process) failure() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}

func (p *process) tail() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(raw[max(0, len(raw)-tailBytes):]))
}

// onPort starts an engine on a port of the loopback interface: the one given,
// which must be free, or for 0 any free one.
func onPort(given int, start func(port int) error) error {
	for try := 1; ; try++ {
		port, err := freePort(given)
		if err != nil {
			return err
		}
		err = start(port)
		var exit *exec.ExitError
		if err == nil || given != 0 || try == portTries || !errors.As(err, &exit) {
			return err
		}
	}
}

// freePort returns a port that was free just now. Asking first matters for a
// given port: something old may listen there and would answer in our engine's
// place.
func freePort(given int) (int, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", given))
	if err != nil {
		return 0, fmt.Errorf("port %d is not free: %w", given, err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// drain reads a body to its end, so that the connection can be used again.
func drain(body io.ReadCloser) {
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 1<<20))
	_ = body.Close()
}
