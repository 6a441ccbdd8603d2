package lambda

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is one running bootstrap with its own Runtime API.
type process struct {
	cmd    *exec.Cmd
	api    *runtimeAPI
	server *http.Server
	freeze bool
	// retire ends the process when it has been idle for long; it is set, under
	// the pool's lock, whenever the process lies among the idle ones.
	retire *time.Timer
	// exited is closed after the process was reaped and its listener closed.
	exited chan struct{}
	// state says how it ended; read it only after exited is closed.
	state string
}

// start launches the binary; it does not wait for it to become ready.
func start(f Function, stream string, log *lines) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("lambda: open a runtime API for %s: %w", f.Name, err)
	}
	p := &process{api: newRuntimeAPI(f.ARN()), freeze: f.Freeze, exited: make(chan struct{})}
	p.server = &http.Server{Handler: p.api.handler(), ReadHeaderTimeout: 10 * time.Second}
	p.cmd = exec.Command(f.Binary)
	p.cmd.Dir = filepath.Dir(f.Binary)
	p.cmd.Env = f.environment(listener.Addr().String(), stream)
	output := log.writer()
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = ownGroup()
	// A grandchild that holds the pipe open must not keep Wait from returning.
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("lambda: start %s: %w", f.Name, err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = p.server.Serve(listener) // returns when reap closes the server
	}()
	go p.reap(output, served)
	return p, nil
}

// reap waits for the end of the process and releases everything it had.
func (p *process) reap(output *lineWriter, served <-chan struct{}) {
	_ = p.cmd.Wait() // the state below says more than the error
	p.kill()         // whatever it left in its group
	p.state = p.cmd.ProcessState.String()
	close(p.api.gone)
	_ = p.server.Close()
	<-served
	output.flush()
	close(p.exited)
}

// kill ends the whole process group at once; it does not wait.
func (p *process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// idle stops the process until the next invocation, where that is wanted.
func (p *process) idle() {
	if p.freeze {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGSTOP)
	}
}

func (p *process) thaw() {
	if p.freeze {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGCONT)
	}
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// await waits for the start to end. It returns nil when the process asks for
// work, else what went wrong, with the process killed.
func (p *process) await(id string, limit time.Duration) *Result {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var failed Result
	select {
	case <-p.api.ready:
		return nil
	case body := <-p.api.initFailed:
		failed = Result{Payload: body, FunctionError: Unhandled}
	case <-p.exited:
		failed = exited(id, p.state)
		select { // it may have said why before it went
		case body := <-p.api.initFailed:
			failed = Result{Payload: body, FunctionError: Unhandled}
		default:
		}
	case <-timer.C:
		failed = timedOut(id, limit)
	}
	p.kill()
	<-p.exited
	return &failed
}

// serve hands inv over and waits for the end of it. The process is fit for
// another one afterwards only if it is still alive.
func (p *process) serve(inv *invocation, limit time.Duration) Result {
	timer := time.NewTimer(time.Until(inv.deadline))
	defer timer.Stop()
	p.thaw()
	select {
	case p.api.work <- inv:
	case <-p.exited:
		return exited(inv.id, p.state)
	case <-timer.C:
		return p.giveUp(inv, limit)
	}
	select {
	case <-inv.settled:
		p.idle()
		result, _ := p.api.outcome(inv)
		return result
	case <-p.exited:
		if result, ok := p.api.outcome(inv); ok {
			return result // answered and then exited, as after a panic
		}
		return exited(inv.id, p.state)
	case <-timer.C:
		return p.giveUp(inv, limit)
	}
}

// giveUp kills a process whose time is over; an answer it gave stays valid.
func (p *process) giveUp(inv *invocation, limit time.Duration) Result {
	p.kill()
	<-p.exited
	if result, ok := p.api.outcome(inv); ok {
		return result
	}
	return timedOut(inv.id, limit)
}
