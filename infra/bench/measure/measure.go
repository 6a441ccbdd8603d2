// Package measure runs things against each other: in turn, round after round,
// so that what else the machine does falls on all of them alike.
package measure

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Median is the middle value, of an even number the mean of the middle two. It
// leaves values in their order.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Turns calls every side once a round and returns each side's figures.
func Turns(rounds int, sides ...func() (float64, error)) ([][]float64, error) {
	figures := make([][]float64, len(sides))
	for range rounds {
		for i, side := range sides {
			figure, err := side()
			if err != nil {
				return nil, err
			}
			figures[i] = append(figures[i], figure)
		}
	}
	return figures, nil
}

// Cost is what one operation takes.
type Cost struct {
	Nanoseconds float64 // of the median round
	Bytes       float64 // allocated
}

// slice is how long one side runs in one round: short, so that the sides share
// every moment of the machine, and long beside what a collection leaves behind.
const slice = 40 * time.Millisecond

// Costs measures operations against each other in this process.
func Costs(rounds int, operations ...func() error) ([]Cost, error) {
	costs := make([]Cost, len(operations))
	sides := make([]func() (float64, error), len(operations))
	for i, operation := range operations {
		n, err := calibrate(operation)
		if err != nil {
			return nil, err
		}
		sides[i] = func() (float64, error) {
			took, allocated, err := repeat(n, operation)
			costs[i].Bytes = allocated / float64(n) // the same in every round
			return took / float64(n), err
		}
	}
	figures, err := Turns(rounds, sides...)
	if err != nil {
		return nil, err
	}
	for i, times := range figures {
		costs[i].Nanoseconds = Median(times)
	}
	return costs, nil
}

// calibrate returns how many operations fill a slice. It also warms up what is
// made once.
func calibrate(operation func() error) (int, error) {
	for n := 1; ; n *= 2 {
		took, _, err := repeat(n, operation)
		if err != nil {
			return 0, err
		}
		if took > float64(slice)/8 {
			return max(1, int(float64(n)*float64(slice)/took)), nil
		}
	}
}

// repeat returns how many nanoseconds n operations took and how many bytes they
// allocated. The garbage of the side before is collected first, and a few
// operations go before the clock starts: fresh memory is slow.
func repeat(n int, operation func() error) (took, allocated float64, err error) {
	var before, after runtime.MemStats
	runtime.GC()
	for range n/8 + 1 {
		if err := operation(); err != nil {
			return 0, 0, fmt.Errorf("warm up: %w", err)
		}
	}
	runtime.ReadMemStats(&before)
	began := time.Now()
	for range n {
		if err := operation(); err != nil {
			return 0, 0, fmt.Errorf("measured operation: %w", err)
		}
	}
	took = float64(time.Since(began))
	runtime.ReadMemStats(&after)
	return took, float64(after.TotalAlloc - before.TotalAlloc), nil
}

// Call returns how many nanoseconds the median of n single calls took. Where a
// machine is busy most calls still run through undisturbed, so this is what one
// call takes; what collecting its garbage costs later is not in it.
func Call(n int, operation func() error) (float64, error) {
	times := make([]float64, n)
	for i := range times {
		began := time.Now()
		if err := operation(); err != nil {
			return 0, err
		}
		times[i] = float64(time.Since(began))
	}
	return Median(times), nil
}

// Work returns how many nanoseconds of a processor the median of n single calls
// took on their thread. Of a call that is longer than the slices a busy machine
// deals out the clock tells what else ran; this tells what the clock would on an
// idle one. It is for what computes and does not wait.
func Work(n int, operation func() error) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	times := make([]float64, n)
	for i := range times {
		before, err := worked()
		if err != nil {
			return 0, err
		}
		if err := operation(); err != nil {
			return 0, err
		}
		after, err := worked()
		if err != nil {
			return 0, err
		}
		times[i] = float64(after - before)
	}
	return Median(times), nil
}

// worked is how long this thread has had a processor.
func worked() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		return 0, fmt.Errorf("ask for the thread's time: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
