package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmoney/mcp/infra/local/bus"
)

// letter is a line of a dead-letter file: what was given up, and why.
type letter struct {
	Time     time.Time       `json:"time"`
	From     string          `json:"from"`
	Attempts int             `json:"attempts"`
	Reason   string          `json:"reason"`
	Body     json.RawMessage `json:"body"`
}

// letterPath is the file of a dead-letter queue.
func (s *Stack) letterPath(queue string) string {
	return s.path(filepath.Join(logs, "dlq-"+queue+".jsonl"))
}

// bury puts what the bus gave up into the file of its dead-letter queue. What
// has none is in the bus's log alone, as AWS drops it.
func (s *Stack) bury(d bus.DeadLetter) {
	if d.Queue == "" {
		return
	}
	if err := s.keep(d); err != nil {
		slog.Error("a dead letter could not be kept", "queue", d.Queue, "error", err)
	}
}

func (s *Stack) keep(d bus.DeadLetter) error {
	line, err := json.Marshal(letter{time.Now().UTC(), d.From, d.Attempts, d.Reason, d.Body})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	s.letters.Lock()
	defer s.letters.Unlock()
	file, err := os.OpenFile(s.letterPath(d.Queue), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
