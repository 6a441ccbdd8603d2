package measure_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/bench/measure"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{7}, 7}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 100, 2}, 3}} {
		before := slices.Clone(c.values)
		if got := measure.Median(c.values); got != c.want || !slices.Equal(before, c.values) {
			t.Errorf("median of %v is %v", before, got)
		}
	}
}

func TestTurnsAlternate(t *testing.T) {
	var order []int
	side := func(n int) func() (float64, error) {
		return func() (float64, error) { order = append(order, n); return float64(10*n + len(order)), nil }
	}
	figures, err := measure.Turns(2, side(1), side(2))
	if err != nil || !slices.Equal(order, []int{1, 2, 1, 2}) || !slices.Equal(figures[0], []float64{11, 13}) || !slices.Equal(figures[1], []float64{22, 24}) {
		t.Errorf("order %v, figures %v, error %v", order, figures, err)
	}
	broken := errors.New("broken")
	if _, err := measure.Turns(2, side(1), func() (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

var kept []byte

func TestCostsCountBytes(t *testing.T) {
	costs, err := measure.Costs(1, func() error { kept = make([]byte, 1024); return nil }, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if b := costs[0].Bytes; b < 1024 || b > 1100 {
		t.Errorf("1024 bytes are counted as %v", b)
	}
	if costs[0].Nanoseconds <= costs[1].Nanoseconds {
		t.Errorf("%+v", costs)
	}
}

func TestCallIsNotMovedByAPause(t *testing.T) {
	calls := 0
	took, err := measure.Call(101, func() error {
		if calls++; calls%10 == 0 {
			time.Sleep(2 * time.Millisecond)
		}
		return nil
	})
	if err != nil || calls != 101 || took > 1e6 {
		t.Errorf("%v ns after %d calls, error %v", took, calls, err)
	}
}

// What a call waits is not what it works.
func TestWorkIsNotMovedByAWait(t *testing.T) {
	sum := 0
	waits, err := measure.Work(5, func() error { time.Sleep(5 * time.Millisecond); return nil })
	if err != nil {
		t.Fatal(err)
	}
	works, err := measure.Work(5, func() error {
		for i := range 20_000_000 {
			sum += i ^ sum
		}
		return nil
	})
	if err != nil || waits > 2e6 || works < 2e6 {
		t.Errorf("%v ns of waiting and %v ns of work, error %v (%d)", waits, works, err, sum)
	}
	broken := errors.New("broken")
	if _, err := measure.Work(5, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
