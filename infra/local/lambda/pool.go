package lambda

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Pool keeps the processes of one function. It is safe for concurrent use.
type Pool struct {
	function Function
	log      *lines
	// stop is closed by Close; detach ends the watch on the caller's context.
	stop   chan struct{}
	detach func() bool
	// running counts invocations, which outlive the caller that started them.
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	live   map[*process]bool // every process that may still run
	idle   []*process        // warm and free, the last used at the end
	busy   int               // places taken by an invocation
	quiet  chan struct{}     // closed when busy falls to 0; nil while nobody waits
	served int               // invocations that ran to an answer
	took   time.Duration     // all of them together
}

// New prepares a pool; processes start with the first requests. When ctx ends
// the pool closes itself.
func New(ctx context.Context, f Function) (*Pool, error) {
	f, err := f.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{
		function: f,
		log:      &lines{out: f.Log},
		stop:     make(chan struct{}),
		live:     map[*process]bool{},
	}
	p.mu.Lock() // where ctx has ended already, Close runs at once
	defer p.mu.Unlock()
	p.detach = context.AfterFunc(ctx, p.Close)
	return p, nil
}

// Function returns the configuration with its defaults filled in.
func (p *Pool) Function() Function { return p.function }

// Invoke runs the function once with a JSON payload and waits for its answer.
// A failure of the function is a Result with FunctionError set; an error means
// that it did not run (*ServiceError, ErrClosed) or that ctx ended first. In
// the last case the function goes on until it is done or out of time, as on
// AWS: a caller that leaves cancels nothing.
func (p *Pool) Invoke(ctx context.Context, payload []byte) (Result, error) {
	if err := checkPayload(payload); err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("lambda: invoke %s: %w", p.function.Name, err)
	}
	warm, err := p.acquire()
	if err != nil {
		return Result{}, err
	}
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		defer p.running.Done()
		result, err := p.run(warm, payload)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("lambda: wait for %s: %w", p.function.Name, ctx.Err())
	}
}

// Processes reports how many processes exist and how many of them are idle.
func (p *Pool) Processes() (live, idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live), len(p.idle)
}

// Served says how many invocations there were so far and how long they took
// together, from hand-over to answer: what AWS would bill, but for the speed of the
// machine.
func (p *Pool) Served() (invocations int, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.served, p.took
}

// Quiet waits until no invocation runs, also none whose caller has left.
func (p *Pool) Quiet(ctx context.Context) error {
	p.mu.Lock()
	if p.busy == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.quiet == nil {
		p.quiet = make(chan struct{})
	}
	quiet := p.quiet
	p.mu.Unlock()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("lambda: wait for %s to be idle: %w", p.function.Name, ctx.Err())
	}
}

// Kill kills up to n processes, those in the middle of an invocation first, waits
// for their end and says how many of these it met. Their invocations end as those
// of a process that crashed; the next ones find new processes.
func (p *Pool) Kill(n int) (busy int) {
	p.mu.Lock()
	victims := slices.DeleteFunc(slices.Collect(maps.Keys(p.live)), func(one *process) bool { return slices.Contains(p.idle, one) })
	busy = min(n, len(victims))
	victims = append(victims, p.idle...)
	victims = victims[:min(n, len(victims))]
	for _, victim := range victims {
		victim.kill()
	}
	p.mu.Unlock()
	for _, victim := range victims {
		<-victim.exited
	}
	return busy
}

// Close kills every process with all its children and waits until they are
// gone. Open invocations end with ErrClosed. It may be called more than once.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.detach()
		close(p.stop)
	}
	processes := make([]*process, 0, len(p.live))
	for process := range p.live {
		process.kill()
		processes = append(processes, process)
	}
	p.mu.Unlock()
	p.running.Wait()
	for _, process := range processes {
		<-process.exited
	}
}

// acquire takes a place for one invocation, with a warm process if there is
// one. Every acquire is followed by one running.Done.
func (p *Pool) acquire() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if p.busy >= p.function.MaxProcesses {
		return nil, errThrottled
	}
	p.busy++
	p.running.Add(1)
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		last.retire.Stop()
		if last.alive() {
			return last, nil
		}
	}
	return nil, nil
}

// run does one invocation on warm, or on a new process where warm is nil.
func (p *Pool) run(warm *process, payload []byte) (Result, error) {
	inv := &invocation{id: requestID(), trace: traceID(), payload: payload, settled: make(chan struct{})}
	process, failed := warm, (*Result)(nil)
	if warm == nil {
		var err error
		if process, failed, err = p.coldStart(inv); err != nil {
			p.release(nil)
			return Result{}, err
		}
	}
	begin := time.Now()
	var result Result
	if failed != nil {
		result = *failed
	} else {
		if inv.deadline.IsZero() {
			inv.deadline = begin.Add(p.function.Timeout)
		}
		result = process.serve(inv, p.function.Timeout)
	}
	p.mu.Lock()
	p.served, p.took = p.served+1, p.took+time.Since(begin)
	p.mu.Unlock()
	p.release(process)
	if p.isClosed() && result.FunctionError != "" {
		return Result{}, ErrClosed // killed by Close, not by its own fault
	}
	result.RequestID, result.Cold, result.Duration = inv.id, warm == nil, time.Since(begin)
	if result.FunctionError != "" {
		p.log.failure(p.function.Name, result)
	}
	return result, nil
}

// coldStart brings up a process. Where the start fails or takes too long,
// Lambda repeats it once inside the invocation, on the function's own time; so
// a slow start shows up as a timeout of the first request.
func (p *Pool) coldStart(inv *invocation) (*process, *Result, error) {
	process, failed, err := p.launch(inv.id, p.function.InitTimeout)
	if err != nil || failed == nil {
		return process, nil, err
	}
	p.log.failure(p.function.Name, withID(*failed, inv.id))
	if p.isClosed() {
		return nil, nil, ErrClosed
	}
	inv.deadline = time.Now().Add(p.function.Timeout)
	return p.launch(inv.id, p.function.Timeout)
}

func (p *Pool) launch(id string, limit time.Duration) (*process, *Result, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil, ErrClosed
	}
	// Started under the lock: Close must not miss a process that is just
	// coming up.
	process, err := start(p.function, logStream(), p.log)
	if err != nil {
		p.mu.Unlock()
		return nil, nil, err
	}
	p.live[process] = true
	p.mu.Unlock()
	p.running.Go(func() { // forgets it whenever and however it ends
		<-process.exited
		p.forget(process)
	})
	return process, process.await(id, limit), nil
}

// release gives the place back and keeps the process if it can serve again.
func (p *Pool) release(process *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.busy == 0 && p.quiet != nil {
		close(p.quiet)
		p.quiet = nil
	}
	if process != nil && process.alive() && !p.closed {
		process.retire = time.AfterFunc(p.function.IdleTimeout, func() { p.retire(process) })
		p.idle = append(p.idle, process)
	}
}

// retire ends a process that nobody has needed for long. One that was taken and
// given back while the timer fired is ended too early, which costs a start.
func (p *Pool) retire(process *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, process); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		process.kill()
	}
}

func (p *Pool) forget(process *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, process)
	if i := slices.Index(p.idle, process); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		process.retire.Stop()
	}
}

func (p *Pool) isClosed() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

func withID(r Result, id string) Result {
	r.RequestID = id
	return r
}

// requestID is a random UUID, the form Lambda gives.
func requestID() string {
	b := random(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// traceID is an X-Ray header of an unsampled trace.
func traceID() string {
	return fmt.Sprintf("Root=1-%08x-%x;Parent=%x;Sampled=0", time.Now().Unix(), random(12), random(8))
}

func logStream() string {
	return time.Now().UTC().Format("2006/01/02") + "/[$LATEST]" + hex.EncodeToString(random(16))
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it crashes the program instead
	return b
}
