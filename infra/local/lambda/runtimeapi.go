package lambda

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Headers and trailers of the Runtime API.
const (
	headerRequestID = "Lambda-Runtime-Aws-Request-Id"
	headerDeadline  = "Lambda-Runtime-Deadline-Ms"
	headerARN       = "Lambda-Runtime-Invoked-Function-Arn"
	headerTrace     = "Lambda-Runtime-Trace-Id"
	headerErrorType = "Lambda-Runtime-Function-Error-Type"
	headerErrorBody = "Lambda-Runtime-Function-Error-Body"
)

// invocation is one request on its way through one process.
type invocation struct {
	id, trace string
	payload   []byte
	deadline  time.Time
	// settled is closed when the process asks for more work after its answer.
	// Only then is it free: handing the answer out earlier would let the next
	// request find the process still busy and start, or be refused, another.
	settled chan struct{}
	// result is set once, under the owner's lock; answered tells whether.
	result   Result
	answered bool
}

// runtimeAPI serves the Runtime API to exactly one process.
type runtimeAPI struct {
	arn  string
	work chan *invocation
	// gone is closed when the process has ended; blocked calls return then.
	gone chan struct{}
	// ready is closed at the first call of next: the start is over.
	ready chan struct{}
	// initFailed carries the body of init/error.
	initFailed chan []byte

	mu      sync.Mutex
	current *invocation
	started bool
}

func newRuntimeAPI(arn string) *runtimeAPI {
	return &runtimeAPI{
		arn:        arn,
		work:       make(chan *invocation),
		gone:       make(chan struct{}),
		ready:      make(chan struct{}),
		initFailed: make(chan []byte, 1),
	}
}

func (a *runtimeAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", a.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", a.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", a.failure)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", a.initError)
	return mux
}

// next ends the invocation before, if any, and blocks until there is another.
func (a *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	if !a.park() {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "Transition from Running to Ready is not allowed")
		return
	}
	select {
	case inv := <-a.work:
		a.mu.Lock()
		a.current = inv
		a.mu.Unlock()
		h := w.Header()
		h.Set(headerRequestID, inv.id)
		h.Set(headerDeadline, strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		h.Set(headerARN, a.arn)
		h.Set(headerTrace, inv.trace)
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(inv.payload)))
		_, _ = w.Write(inv.payload) // a process that is gone is noticed by its exit
	case <-a.gone:
	case <-r.Context().Done():
	}
}

// park reports whether the process may ask for work: not while one is open.
func (a *runtimeAPI) park() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current != nil {
		if !a.current.answered {
			return false
		}
		close(a.current.settled)
		a.current = nil
	}
	if !a.started {
		a.started = true
		close(a.ready)
	}
	return true
}

func (a *runtimeAPI) response(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxResponseBytes+1))
	if err != nil {
		refuse(w, http.StatusBadRequest, "TruncatedHTTPRequest", "HTTP request detected as truncated")
		return
	}
	if len(body) > MaxResponseBytes {
		// The rest is read so that the client sees the status, not a reset.
		_, _ = io.Copy(io.Discard, r.Body)
		message := fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", MaxResponseBytes)
		if a.answer(w, r.PathValue("id"), platformError(TypeTooLarge, message)) {
			refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", message)
		}
		return
	}
	// A response that failed while it was streamed says so in its trailers.
	result := Result{Payload: body}
	if kind := r.Trailer.Get(headerErrorType); kind != "" {
		result = trailingError(kind, r.Trailer.Get(headerErrorBody))
	}
	if a.answer(w, r.PathValue("id"), result) {
		acknowledge(w)
	}
}

func trailingError(kind, encoded string) Result {
	if body, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(body) > 0 {
		return Result{Payload: body, FunctionError: Unhandled}
	}
	return platformError(kind, "The response ended with an error")
}

func (a *runtimeAPI) failure(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxResponseBytes))
	if err != nil {
		refuse(w, http.StatusBadRequest, "TruncatedHTTPRequest", "HTTP request detected as truncated")
		return
	}
	flag := Unhandled
	if r.Header.Get(headerErrorType) == Handled {
		flag = Handled
	}
	if a.answer(w, r.PathValue("id"), Result{Payload: body, FunctionError: flag}) {
		acknowledge(w)
	}
}

// answer records the result of the open invocation; where there is none of that
// id it refuses the call and returns false.
func (a *runtimeAPI) answer(w http.ResponseWriter, id string, result Result) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil || a.current.id != id {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return false
	}
	if a.current.answered {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "State transition is not allowed")
		return false
	}
	a.current.result, a.current.answered = result, true
	return true
}

// outcome is the recorded result of inv, if the process gave one.
func (a *runtimeAPI) outcome(inv *invocation) (Result, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return inv.result, inv.answered
}

func (a *runtimeAPI) initError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxResponseBytes))
	a.mu.Lock()
	started := a.started
	a.mu.Unlock()
	if err != nil || started {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "State transition is not allowed")
		return
	}
	select {
	case a.initFailed <- body:
		acknowledge(w)
	default:
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "State transition is not allowed")
	}
}

func acknowledge(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"errorType": kind, "errorMessage": message})
}
