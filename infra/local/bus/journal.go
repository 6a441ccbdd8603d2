package bus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// journal is the pair of files: accepted envelopes, and the ids of those whose
// delivery is over.
type journal struct {
	mu       sync.Mutex
	accepted *os.File
	settled  *os.File
	// size is where the next envelope goes; a failed write is cut off there.
	size int64
}

func openJournal(path string) (*journal, error) {
	j := &journal{}
	var err error
	if j.accepted, j.size, err = openLines(path); err != nil {
		return nil, err
	}
	if j.settled, _, err = openLines(path + ".settled"); err != nil {
		_ = j.accepted.Close()
		return nil, err
	}
	return j, nil
}

// openLines opens a file for appending and cuts off a last line that a killed
// run left unfinished: nobody was told that it was accepted.
func openLines(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("bus: open events: %w", err)
	}
	var whole, read int64
	buffer := make([]byte, 64<<10)
	for {
		n, err := f.Read(buffer)
		if i := bytes.LastIndexByte(buffer[:n], '\n'); i >= 0 {
			whole = read + int64(i) + 1
		}
		read += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			_ = f.Close()
			return nil, 0, fmt.Errorf("bus: read events: %w", err)
		}
	}
	if err := f.Truncate(whole); err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("bus: cut an unfinished event: %w", err)
	}
	return f, whole, nil
}

// append writes the envelopes of one call as a whole or not at all.
func (j *journal) append(envelopes []envelope) error {
	var lines []byte
	for _, e := range envelopes {
		lines = append(append(lines, e.line...), '\n')
	}
	if len(lines) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.accepted.Write(lines); err != nil {
		_ = j.accepted.Truncate(j.size)
		return fmt.Errorf("bus: write events: %w", err)
	}
	j.size += int64(len(lines))
	return nil
}

// settle notes that an event is delivered or given up everywhere.
func (j *journal) settle(id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.settled.WriteString(id + "\n"); err != nil {
		return fmt.Errorf("bus: note a settled event: %w", err)
	}
	return nil
}

// unsettled are the events of former runs that are not delivered, in order.
func (j *journal) unsettled() ([]envelope, error) {
	done := map[string]bool{}
	if err := eachLine(j.settled, func(line []byte) error { done[string(line)] = true; return nil }); err != nil {
		return nil, err
	}
	var open []envelope
	err := eachLine(j.accepted, func(line []byte) error {
		var head struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.ID == "" {
			return fmt.Errorf("bus: the events file has a line that is no event: %.80s", line)
		}
		if !done[head.ID] {
			e, err := readEnvelope(bytes.Clone(line))
			if err != nil {
				return err
			}
			open = append(open, e)
		}
		return nil
	})
	return open, err
}

func eachLine(f *os.File, visit func([]byte) error) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("bus: rewind events: %w", err)
	}
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		if err := visit(scanner.Bytes()); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("bus: read events: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := errors.Join(j.accepted.Close(), j.settled.Close())
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
