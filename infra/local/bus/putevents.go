package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"
)

// Limits of one PutEvents call. They are EventBridge's numbers.
const (
	// MaxEntries of one call.
	MaxEntries = 10
	// MaxBytes of all entries together, counted as source, detail type, detail, resources
	// and 14 for a time.
	MaxBytes = 1 << 20
	// maxDepth of a detail's nesting.
	maxDepth = 1000
	// maxRequest bounds the HTTP body: a detail may be escaped six-fold.
	maxRequest = 16 << 20
)

// entry is one PutEventsRequestEntry.
type entry struct {
	Source       string
	DetailType   string
	Detail       string
	EventBusName string
	Resources    []string
	// Time in seconds since 1970, with a fraction.
	Time *float64
}

// result is one PutEventsResultEntry.
type result struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

// apiError is an error of a whole call.
type apiError struct {
	status        int
	code, message string
}

// ServeHTTP answers the AWS JSON 1.1 protocol: one operation, PutEvents.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("x-amzn-RequestId", newID())
	// The body comes first: net/http notices that a caller has left only once
	// its request is read.
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if err != nil || !b.faults.pause(r.Context()) {
		return // nobody is there to be told
	}
	results, failure := b.serve(r, body)
	if failure == nil && b.faults.lost() {
		panic(http.ErrAbortHandler) // cuts the connection without a word
	}
	if failure != nil {
		w.Header().Set("x-amzn-ErrorType", failure.code)
		reply(w, failure.status, map[string]string{"__type": failure.code, "message": failure.message})
		return
	}
	failed := 0
	for _, e := range results {
		if e.ErrorCode != "" {
			failed++
		}
	}
	reply(w, http.StatusOK, map[string]any{"FailedEntryCount": failed, "Entries": results})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away needs no reply
}

// serve checks the call as a whole, then takes its entries.
func (b *Bus) serve(r *http.Request, body []byte) ([]result, *apiError) {
	if r.Method != http.MethodPost || r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" {
		return nil, &apiError{http.StatusBadRequest, "UnknownOperationException", ""}
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") {
		return nil, &apiError{http.StatusBadRequest, "MissingAuthenticationTokenException", "Missing Authentication Token"}
	}
	if b.faults.refused() {
		return nil, &apiError{http.StatusBadRequest, "ThrottlingException", "Rate exceeded"}
	}
	if len(body) > maxRequest {
		return nil, &apiError{http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException", "the request is too large"}
	}
	var call struct{ Entries []entry }
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, &apiError{http.StatusBadRequest, "SerializationException", err.Error()}
	}
	if failure := checkCall(call.Entries); failure != nil {
		return nil, failure
	}
	results, err := b.accept(call.Entries)
	if err != nil {
		b.config.Log.Error("events were not accepted", "error", err)
		return nil, &apiError{http.StatusInternalServerError, "InternalException", "the events could not be written"}
	}
	return results, nil
}

func checkCall(entries []entry) *apiError {
	invalid := func(format string, a ...any) *apiError {
		return &apiError{http.StatusBadRequest, "ValidationException", fmt.Sprintf(format, a...)}
	}
	const constraint = "1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length %s than or equal to %d"
	switch {
	case len(entries) == 0:
		return invalid(constraint, "greater", 1)
	case len(entries) > MaxEntries:
		return invalid(constraint, "less", MaxEntries)
	}
	total := 0
	for _, e := range entries {
		total += e.size()
	}
	if total > MaxBytes {
		return invalid("Total size of the entries in the request is over the limit.")
	}
	return nil
}

// size counts as EventBridge does: 14 for a time, and the UTF-8 of the rest.
// The name of the bus is free.
func (e entry) size() int {
	n := len(e.Source) + len(e.DetailType) + len(e.Detail)
	if e.Time != nil {
		n += 14
	}
	for _, r := range e.Resources {
		n += len(r)
	}
	return n
}

// refusal is the error of a single entry, or nothing.
func (e entry) refusal() *result {
	required := func(name string) *result {
		return &result{ErrorCode: "InvalidArgument", ErrorMessage: fmt.Sprintf("Parameter %s is not valid. Reason: %s is a required argument.", name, name)}
	}
	switch {
	case e.Source == "":
		return required("Source")
	case e.DetailType == "":
		return required("DetailType")
	case e.Detail == "":
		return required("Detail")
	case len(e.DetailType) > 128:
		return &result{ErrorCode: "InvalidArgument", ErrorMessage: "Parameter DetailType is not valid. Reason: it is longer than 128 characters."}
	case strings.HasPrefix(e.Source, "aws."):
		return &result{ErrorCode: "NotAuthorizedForSourceException", ErrorMessage: "Not authorized for the source."}
	case e.Time != nil && math.Abs(*e.Time) > 1e11:
		return &result{ErrorCode: "InvalidArgument", ErrorMessage: "Parameter Time is not valid."}
	}
	if detail := strings.TrimLeft(e.Detail, " \t\r\n"); detail == "" || detail[0] != '{' || !json.Valid([]byte(detail)) || depth(detail) > maxDepth {
		return &result{ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed."}
	}
	return nil
}

// depth of nesting of a valid JSON text.
func depth(text string) (deepest int) {
	level, inString, escaped := 0, false, false
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// accept writes the good entries to the file and then puts them on their way.
func (b *Bus) accept(entries []entry) ([]result, error) {
	results := make([]result, len(entries))
	var accepted []envelope
	for i, e := range entries {
		if bad := e.refusal(); bad != nil {
			results[i] = *bad
			continue
		}
		if b.faults.failsEntry() {
			results[i] = result{ErrorCode: "InternalFailure", ErrorMessage: "Internal Service Failure"}
			continue
		}
		built := b.envelope(e)
		results[i] = result{EventID: built.id}
		if busName(e.EventBusName) == b.config.Name {
			accepted = append(accepted, built)
		}
	}
	b.accepting.Lock()
	defer b.accepting.Unlock()
	if err := b.journal.append(accepted); err != nil {
		return nil, err
	}
	for _, e := range accepted {
		// It is in the file: from here on a failure only delays it.
		if err := b.deliver(e); err != nil {
			b.config.Log.Error("an event will be delivered again", "id", e.id, "error", err)
		}
	}
	return results, nil
}

// busName takes a name or an ARN; none means the account's default bus.
func busName(s string) string {
	if _, name, ok := strings.Cut(s, ":event-bus/"); ok {
		return name
	}
	if s == "" {
		return "default"
	}
	return s
}

// envelope is an accepted event as its targets see it.
type envelope struct {
	id   string
	line []byte // JSON without a newline
	// fields is line decoded, numbers as written, for the patterns.
	fields map[string]any
}

func (b *Bus) envelope(e entry) envelope {
	at := b.config.Now()
	if e.Time != nil {
		seconds, fraction := math.Modf(*e.Time)
		at = time.Unix(int64(seconds), int64(fraction*1e9))
	}
	resources := e.Resources
	if resources == nil {
		resources = []string{}
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // the detail leaves as it came
	id := newID()
	err := encoder.Encode(struct {
		Version    string          `json:"version"`
		ID         string          `json:"id"`
		DetailType string          `json:"detail-type"`
		Source     string          `json:"source"`
		Account    string          `json:"account"`
		Time       string          `json:"time"`
		Region     string          `json:"region"`
		Resources  []string        `json:"resources"`
		Detail     json.RawMessage `json:"detail"`
	}{"0", id, e.DetailType, e.Source, b.config.AccountID, at.UTC().Format("2006-01-02T15:04:05Z"), b.config.Region, resources, json.RawMessage(e.Detail)})
	if err == nil {
		var built envelope
		if built, err = readEnvelope(bytes.TrimSuffix(line.Bytes(), []byte("\n"))); err == nil {
			return built
		}
	}
	panic(fmt.Sprintf("bus: envelope of a checked entry: %v", err)) // refusal let only valid JSON through
}

func readEnvelope(line []byte) (envelope, error) {
	e := envelope{line: line}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&e.fields); err != nil {
		return e, fmt.Errorf("bus: read an event: %w", err)
	}
	id, ok := e.fields["id"].(string)
	if !ok {
		return e, errors.New("bus: read an event: it has no id")
	}
	e.id = id
	return e, nil
}
