package outbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// What one call of the bus takes. They are EventBridge's numbers: a call with
// more is refused as a whole.
const (
	batchEntries = 10
	batchBytes   = 1 << 20
	// entryOverhead is more than what a source and a time count for.
	entryOverhead = 64
	maxAction     = 128 // characters of a detail-type
)

// waiting is an event in the outbox.
type waiting struct {
	key   key.Key
	entry audit.Entry
}

// size bounds what the event counts for in a call.
func (w waiting) size() int { return len(w.entry.Detail) + len(w.entry.Type) + entryOverhead }

// read tells the event that an item holds. What the bus would refuse with the
// whole call, or would take as something that it is not, is an error: an event
// under another's key, or one from a source that this one does not speak for.
// The detail stays as it was stored, byte for byte.
func read(item record.Item) (waiting, error) {
	var event struct {
		ID     string `json:"id"`
		Source string `json:"source"`
		Type   string `json:"type"`
		Time   string `json:"time"`
	}
	if err := json.Unmarshal(item.Body, &event); err != nil {
		return waiting{}, fmt.Errorf("decode: %w", err)
	}
	at, err := time.Parse(audit.TimeForm, event.Time)
	switch {
	case err != nil:
		return waiting{}, fmt.Errorf("time: %w", err)
	case event.ID == "" || key.Outbox(event.ID, at) != item.Key:
		return waiting{}, fmt.Errorf("the event %q of %s lies under another's key", event.ID, event.Time)
	case event.Source != audit.Source:
		return waiting{}, fmt.Errorf("the source %q is another's", event.Source)
	case event.Type == "" || len(event.Type) > maxAction:
		return waiting{}, fmt.Errorf("a type of %d bytes", len(event.Type))
	}
	w := waiting{item.Key, audit.Entry{ID: event.ID, Type: event.Type, At: at, Detail: item.Body}}
	if n := w.size(); n > batchBytes {
		return waiting{}, fmt.Errorf("%d bytes are more than the bus takes", n)
	}
	return w, nil
}

// since is when the event under a key happened, as the key says.
func since(k key.Key) (time.Time, bool) {
	text, _, _ := strings.Cut(k.SK, "#")
	at, err := time.Parse(audit.TimeForm, text)
	return at, err == nil
}

// batches groups events into calls of the bus, in their order. A batch is of one
// action: what a role does not name fails with the whole call, and must not take
// others with it.
func batches(all []waiting) [][]waiting {
	var out [][]waiting
	open := map[string]int{} // action to its last batch in out
	size := map[string]int{}
	for _, w := range all {
		action := w.entry.Type
		i, known := open[action]
		if !known || len(out[i]) == batchEntries || size[action]+w.size() > batchBytes {
			i = len(out)
			out = append(out, nil)
			open[action], size[action] = i, 0
		}
		out[i] = append(out[i], w)
		size[action] += w.size()
	}
	return out
}
