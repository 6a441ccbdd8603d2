package journal_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/journal"
)

var errGone = errors.New("connection reset by peer")

// refuses drops the nth request before the engine has it.
func refuses(nth int32, calls *atomic.Int32) wire {
	return func(req *http.Request) (*http.Response, error) {
		if calls.Add(1) == nth {
			return nil, errGone
		}
		return enginetest.Connections.Do(req)
	}
}

// loses drops the answer to the nth request, which the engine has carried out.
func loses(nth int32, calls *atomic.Int32) wire {
	return func(req *http.Request) (*http.Response, error) {
		fails := calls.Add(1) == nth
		res, err := enginetest.Connections.Do(req)
		if err == nil && fails {
			_ = res.Body.Close()
			return nil, errGone
		}
		return res, err
	}
}

// Whichever call of an append of three transactions fails, whether the engine
// did what it was asked or not: appending again makes the chain whole, with
// nothing lost and nothing twice.
func TestAnyCallFails(t *testing.T) {
	const size, calls = 120, 5 // two reads and three transactions
	for what, fails := range map[string]func(int32, *atomic.Int32) wire{"refused": refuses, "lost reply": loses} {
		t.Run(what, func(t *testing.T) {
			for nth := int32(1); ; nth++ {
				of := tenant(t)
				all := events(t, of, 0, size)
				var made atomic.Int32
				j := &journal.Journal{Store: engine.Table(through(fails(nth, &made), 1))}
				first, err := j.Append(t.Context(), of, all)
				if made.Load() < nth { // there was no such call
					noError(t, err)
					equal(t, "calls", nth-1, int32(calls))
					return
				}
				if !fault.Is(err, fault.DependencyUnavailable) {
					t.Fatalf("call %d: error = %v", nth, err)
				}
				again, err := j.Append(t.Context(), of, all)
				noError(t, err)
				equal(t, "appended or known", again.Appended+again.Known, size)
				if again.Known < first.Appended {
					t.Errorf("call %d: %d appended, and then %d known", nth, first.Appended, again.Known)
				}
				for i, id := range sound(t, of, size) {
					equal(t, "id", id, name(i))
				}
			}
		})
	}
}

// The SDK tries again by itself. A transaction whose answer was lost is then
// made once and no error.
func TestAnyCallFailsAndIsTriedAgain(t *testing.T) {
	const size = 120
	for what, fails := range map[string]func(int32, *atomic.Int32) wire{"refused": refuses, "lost reply": loses} {
		t.Run(what, func(t *testing.T) {
			for nth := int32(1); nth <= 5; nth++ {
				of := tenant(t)
				var made atomic.Int32
				out := appends(t, engine.Table(through(fails(nth, &made), 3)), of, events(t, of, 0, size))
				equal(t, "calls", made.Load(), 6)
				equal(t, "appended", out.Appended, size)
				sound(t, of, size)
			}
		})
	}
}
