package main

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Figures are what samples come to.
type Figures struct {
	Count            int
	Errors           map[string]int // by code
	P50, P90, P99    time.Duration
	P999, Max, Total time.Duration
}

// Of works the figures out, exactly: every sample is kept.
func Of(samples []Sample) Figures {
	f := Figures{Count: len(samples), Errors: map[string]int{}}
	took := make([]time.Duration, len(samples))
	for i, s := range samples {
		took[i] = s.Took
		f.Total += s.Took
		if s.Code != "" {
			f.Errors[s.Code]++
		}
	}
	slices.Sort(took)
	f.P50, f.P90, f.P99, f.P999, f.Max = rank(took, 500), rank(took, 900), rank(took, 990), rank(took, 999), rank(took, 1000)
	return f
}

// rank is the smallest sample that so many thousandths are not above; zero of
// none.
func rank(sorted []time.Duration, thousandths int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*thousandths+999)/1000-1)]
}

// only are the samples of a kind.
func only(samples []Sample, kind int) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Kind != kind })
}

// codes are the codes of errors, the most frequent first.
func codes(errors map[string]int) []string {
	return slices.SortedFunc(maps.Keys(errors), func(a, b string) int { return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b)) })
}
