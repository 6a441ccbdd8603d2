package id_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/robotmoney/mcp/shared/domain/id"
)

// noError stops the test when err is not nil.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// equal reports a difference.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// says reports an error whose message is not exactly the wanted one.
func says(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || err.Error() != message {
		t.Errorf("error = %v\n want %s", err, message)
	}
}

// rising reports ids of one prefix that are not strictly increasing as text,
// which is how stored keys compare.
func rising(t *testing.T, ids []string) {
	t.Helper()
	for i := 1; i < len(ids); i++ {
		if ids[i-1] >= ids[i] {
			t.Fatalf("id %d, %s, is not above %s", i, ids[i], ids[i-1])
		}
	}
}

// millisecond is the time of an id.
func millisecond(t *testing.T, text string) uint64 {
	t.Helper()
	_, name, _ := strings.Cut(text, "_")
	u, err := ulid.ParseStrict(name)
	noError(t, err)
	return u.Time()
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func still() time.Time { return noon }

func TestNew(t *testing.T) {
	got, err := id.New(id.Transaction, time.UnixMilli(1), bytes.NewReader([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 31}))
	noError(t, err)
	equal(t, "id", got, "tx_0000000001000000000000000Z")

	for prefix := range prefixes {
		got, err := id.New(prefix, noon, rand.Reader)
		noError(t, err)
		noError(t, id.Check(prefix, got))
		equal(t, "time", millisecond(t, got), uint64(noon.UnixMilli()))
	}
}

func TestNewRefuses(t *testing.T) {
	broken := errors.New("no entropy")
	for name, do := range map[string]func() (string, error){
		"unknown prefix":  func() (string, error) { return id.New("acc", noon, rand.Reader) },
		"no prefix":       func() (string, error) { return id.New("", noon, rand.Reader) },
		"before 1970":     func() (string, error) { return id.New(id.Event, time.UnixMilli(-1), rand.Reader) },
		"zero time":       func() (string, error) { return id.New(id.Event, time.Time{}, rand.Reader) },
		"far future":      func() (string, error) { return id.New(id.Event, time.UnixMilli(1<<48), rand.Reader) },
		"little entropy":  func() (string, error) { return id.New(id.Event, noon, strings.NewReader("nine char")) },
		"broken entropy":  func() (string, error) { return id.New(id.Event, noon, iotest.ErrReader(broken)) },
		"source, prefix":  func() (string, error) { return id.NewSource(still, rand.Reader).New("acc") },
		"source, entropy": func() (string, error) { return id.NewSource(still, iotest.ErrReader(broken)).New(id.Event) },
		"source, time": func() (string, error) {
			return id.NewSource(func() time.Time { return time.Time{} }, rand.Reader).New(id.Event)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := do(); err == nil || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestSourceInOneMillisecond(t *testing.T) {
	source := id.NewSource(still, rand.Reader)
	var ids []string
	for range 10_000 {
		next, err := source.New(id.Event)
		noError(t, err)
		noError(t, id.Check(id.Event, next))
		equal(t, "time", millisecond(t, next), uint64(noon.UnixMilli()))
		ids = append(ids, next)
	}
	rising(t, ids)
}

// TestSourceAcrossPrefixes: the order is one for all kinds.
func TestSourceAcrossPrefixes(t *testing.T) {
	source := id.NewSource(still, rand.Reader)
	var names []string
	for range 10 {
		for prefix := range prefixes {
			next, err := source.New(prefix)
			noError(t, err)
			names = append(names, strings.TrimPrefix(next, string(prefix)+"_"))
		}
	}
	rising(t, names)
}

func TestSourceClockStepsBack(t *testing.T) {
	now := noon
	source := id.NewSource(func() time.Time { return now }, rand.Reader)
	var ids []string
	for _, step := range []time.Duration{0, time.Hour, -2 * time.Hour, 0, time.Millisecond, -24 * time.Hour, 48 * time.Hour} {
		now = now.Add(step)
		next, err := source.New(id.Event)
		noError(t, err)
		ids = append(ids, next)
	}
	rising(t, ids)
	equal(t, "held at the last time", millisecond(t, ids[2]), uint64(noon.Add(time.Hour).UnixMilli()))
	equal(t, "back with the clock", millisecond(t, ids[6]), uint64(now.UnixMilli()))
}

// full is entropy that leaves no room in its millisecond, then a step of one.
func full() []byte {
	return append(bytes.Repeat([]byte{0xff}, 10), 1, 0, 0, 0)
}

func TestSourceMillisecondFull(t *testing.T) {
	entropy := append(full(), "fresh ten.\x01\x00\x00\x00"...)
	source := id.NewSource(still, bytes.NewReader(entropy))
	var ids []string
	for range 3 {
		next, err := source.New(id.Event)
		noError(t, err)
		ids = append(ids, next)
	}
	rising(t, ids)
	equal(t, "second id's time", millisecond(t, ids[1]), uint64(noon.UnixMilli())+1)
	equal(t, "third id's time", millisecond(t, ids[2]), uint64(noon.UnixMilli())+1)
}

// TestSourceAfterFailure: entropy that fails when a millisecond is full must not
// send the source back in it.
func TestSourceAfterFailure(t *testing.T) {
	entropy := &parts{parts: [][]byte{full(), nil, {1, 0, 0, 0}, []byte("fresh ten.")}}
	source := id.NewSource(still, entropy)
	first, err := source.New(id.Event)
	noError(t, err)
	if next, err := source.New(id.Event); err == nil {
		t.Fatalf("made %s without entropy", next)
	}
	second, err := source.New(id.Event)
	noError(t, err)
	rising(t, []string{first, second})
}

// TestSourceZeroEntropy: even a broken generator gives no id twice.
func TestSourceZeroEntropy(t *testing.T) {
	source := id.NewSource(still, bytes.NewReader(make([]byte, 1000)))
	var ids []string
	for range 20 {
		next, err := source.New(id.Event)
		noError(t, err)
		ids = append(ids, next)
	}
	rising(t, ids)
}

// parts is entropy that comes in pieces; an empty piece is a failure.
type parts struct{ parts [][]byte }

func (p *parts) Read(b []byte) (int, error) {
	if len(p.parts) == 0 {
		return 0, errors.New("no more parts")
	}
	part := p.parts[0]
	p.parts = p.parts[1:]
	if len(part) == 0 {
		return 0, errors.New("no entropy")
	}
	return copy(b, part), nil
}

func TestSourceConcurrently(t *testing.T) {
	const workers, each = 8, 500
	source := id.NewSource(time.Now, rand.Reader)
	made := make([][]string, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for range each {
				next, err := source.New(id.Event)
				if err != nil {
					t.Error(err)
					return
				}
				made[w] = append(made[w], next)
			}
		})
	}
	group.Wait()
	for _, ids := range made {
		rising(t, ids)
	}
	all := slices.Concat(made...)
	slices.Sort(all)
	equal(t, "different ids", len(slices.Compact(all)), workers*each)
}
