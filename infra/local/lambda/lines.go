package lambda

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// maxLine bounds what is held back while waiting for the end of a line.
const maxLine = 256 << 10

// lines shares one writer among processes, whole lines at a time: two JSON logs
// written at once would otherwise mix into text that nothing parses.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(p) // a log that cannot be written must not fail a request
}

func (l *lines) writer() *lineWriter { return &lineWriter{to: l} }

// failure logs what happened to an invocation that the function could not log
// itself, in the shape of Lambda's own JSON log lines.
func (l *lines) failure(function string, result Result) {
	line, err := json.Marshal(map[string]any{
		"time": time.Now().UTC().Format(time.RFC3339Nano),
		"type": "platform.runtimeDone",
		"record": map[string]any{
			"function": function, "requestId": result.RequestID, "status": "error",
			"durationMs": result.Duration.Milliseconds(), "error": json.RawMessage(result.Payload),
		},
	})
	if err != nil { // the function's error object was no JSON
		line = []byte(`{"type":"platform.runtimeDone","record":{"requestId":"` + result.RequestID + `","status":"error"}}`)
	}
	l.write(append(line, '\n'))
}

// lineWriter cuts one process's output into lines.
type lineWriter struct {
	to   *lines
	mu   sync.Mutex
	held []byte
}

// Write never fails: the process must not notice its log.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, p...)
	end := bytes.LastIndexByte(w.held, '\n') + 1
	if end == 0 && len(w.held) > maxLine {
		end = len(w.held)
	}
	if end > 0 {
		w.to.write(w.held[:end])
		w.held = append(w.held[:0], w.held[end:]...)
	}
	return len(p), nil
}

// flush ends a last line that had no newline.
func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) > 0 {
		w.to.write(append(w.held, '\n'))
		w.held = nil
	}
}
