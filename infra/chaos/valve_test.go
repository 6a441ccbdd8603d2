package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/tap"
)

// through sends calls through what a valve does, and says of each what came of it:
// p passed, l passed and its reply lost, r refused, c cut.
func through(t *testing.T, does tap.Between, calls ...tap.Call) string {
	t.Helper()
	v := &valve{}
	v.set(does)
	var all strings.Builder
	for _, call := range calls {
		passed := false
		answer, err := v.between(t.Context(), call, func() (tap.Answer, error) {
			passed = true
			return tap.Answer{Status: http.StatusOK, Body: []byte(`{"FailedEntryCount":` + call.Path + `}`)}, nil
		})
		switch {
		case passed && err == nil:
			all.WriteString("p")
		case passed:
			all.WriteString("l")
		case err == nil && answer.Status >= 500:
			all.WriteString("r")
		default:
			all.WriteString("c")
		}
	}
	return all.String()
}

func TestValves(t *testing.T) {
	operation := func(name string) tap.Call {
		return tap.Call{Method: http.MethodPost, Header: http.Header{"X-Amz-Target": {"DynamoDB_20120810." + name}}, Path: "0"}
	}
	get, put := operation("GetItem"), operation("TransactWriteItems")
	store, fetch := tap.Call{Method: http.MethodPut, Path: "0"}, tap.Call{Method: http.MethodGet, Path: "0"}
	whole, half := tap.Call{Path: "0"}, tap.Call{Path: "1"}
	for name, c := range map[string]struct {
		does  func(*counter) tap.Between
		calls []tap.Call
		want  string
		hits  int64
	}{
		"open":            {func(*counter) tap.Between { return nil }, []tap.Call{get, put}, "pp", 0},
		"no call":         {func(n *counter) tap.Between { return n.cut }, []tap.Call{get, put}, "cc", 2},
		"writes' replies": {func(n *counter) tap.Between { return n.loseEvery(1, writes) }, []tap.Call{get, put, get, put}, "plpl", 2},
		"every other":     {func(n *counter) tap.Between { return n.loseEvery(2, every) }, []tap.Call{get, put, get, put}, "plpl", 2},
		"refused":         {func(n *counter) tap.Between { return n.refuse(500, "{}") }, []tap.Call{get, put}, "rr", 2},
		"full":            {func(n *counter) tap.Between { return n.full() }, []tap.Call{store, fetch, store}, "rpr", 2},
		"within a burst":  {func(n *counter) tap.Between { return inBursts(n.cut) }, []tap.Call{get}, "c", 1},
		"slow":            {func(*counter) tap.Between { return slow }, []tap.Call{get}, "p", 0},
		"watched":         {func(n *counter) tap.Between { return n.watch }, []tap.Call{whole, half}, "pp", 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := &counter{}
			if got := through(t, c.does(n), c.calls...); got != c.want {
				t.Errorf("calls: %s, want %s", got, c.want)
			}
			if got := n.n.Load(); got != c.hits {
				t.Errorf("counted %d, want %d", got, c.hits)
			}
		})
	}
}

// A full store says both of its ways to be full.
func TestFull(t *testing.T) {
	does, said := (&counter{}).full(), ""
	for range 2 {
		answer, err := does(context.Background(), tap.Call{Method: http.MethodPut}, nil)
		if err != nil {
			t.Fatal(err)
		}
		said += string(answer.Body)
	}
	if !strings.Contains(said, "InsufficientStorage") || !strings.Contains(said, "SlowDown") {
		t.Error(said)
	}
}
