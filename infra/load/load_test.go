package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotmoney/mcp/infra/local/crowd"
	"github.com/robotmoney/mcp/infra/local/traffic"
)

func companies(n, agents int) []crowd.Company {
	list := make([]crowd.Company, n)
	for i := range list {
		list[i].Agents = make([]crowd.Holder, agents)
	}
	return list
}

// A server that stands still is seen by everybody who came meanwhile, also by
// those it would have answered at once.
func TestLatencyCountsFromWhenItWasDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var plan []Arrival
		for i := range 10 {
			plan = append(plan, Arrival{After: time.Duration(i) * time.Second})
		}
		begin := time.Now()
		stood := begin.Add(6 * time.Second) // until then it answers nobody
		samples := Run(t.Context(), plan, func(context.Context, Arrival) string {
			time.Sleep(max(0, time.Until(stood)) + time.Millisecond)
			return ""
		})
		for i, s := range samples {
			if want := max(0, 6-time.Duration(i))*time.Second + time.Millisecond; s.Took != want {
				t.Errorf("request %d took %s, want %s", i, s.Took, want)
			}
		}
	})
}

// Nobody waits for anybody: all of a second are under way at one time.
func TestArrivalsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		samples := Run(t.Context(), make([]Arrival, 50), func(context.Context, Arrival) string { time.Sleep(time.Second); return "late" })
		if took := time.Since(begin); took != time.Second || len(samples) != 50 || samples[49].Code != "late" {
			t.Errorf("%d took %s", len(samples), took)
		}
	})
}

func TestPlan(t *testing.T) {
	crowd := companies(4, 5)
	plan := Plan(10*time.Minute, 20, crowd, weights(), 7)
	if n := len(plan); n < 11_500 || n > 12_500 {
		t.Errorf("%d arrivals in ten minutes at 20 a second", n)
	}
	kinds, agents := make([]int, len(traffic.Mix)), map[string]int{}
	for i, a := range plan {
		if i > 0 && a.After < plan[i-1].After || a.After >= 10*time.Minute {
			t.Fatalf("arrival %d comes at %s", i, a.After)
		}
		kinds[a.Kind]++
		agents[fmt.Sprint(a.Company, a.Agent)]++
	}
	total := 0
	for i, k := range traffic.Mix {
		total += k.Weight
		if share := 100 * float64(kinds[i]) / float64(len(plan)); share < float64(k.Weight)*0.8 || share > float64(k.Weight)*1.2 {
			t.Errorf("%s comes %.1f times in a hundred, want %d", k.Name, share, k.Weight)
		}
	}
	if total != 100 {
		t.Errorf("the mix adds up to %d, want 100", total)
	}
	if len(agents) != 20 {
		t.Errorf("%d agents call, want all 20", len(agents))
	}
	if !slices.Equal(plan, Plan(10*time.Minute, 20, crowd, weights(), 7)) || slices.Equal(plan, Plan(10*time.Minute, 20, crowd, weights(), 8)) {
		t.Error("the same seed must make the same arrivals, another one others")
	}
}

func TestFigures(t *testing.T) {
	var samples []Sample
	for i := range 1000 {
		samples = append(samples, Sample{Kind: i % 2, Took: time.Duration(1000-i) * time.Millisecond})
	}
	samples[3].Code, samples[5].Code, samples[8].Code = "a", "b", "b"
	f := Of(samples)
	for what, c := range map[string][2]time.Duration{
		"p50": {f.P50, 500}, "p90": {f.P90, 900}, "p99": {f.P99, 990}, "p99.9": {f.P999, 999}, "longest": {f.Max, 1000},
	} {
		if c[0] != c[1]*time.Millisecond {
			t.Errorf("%s is %s, want %d ms", what, c[0], c[1])
		}
	}
	if got := counts(f.Errors); got != "2 b, 1 a" {
		t.Errorf("errors %s", got)
	}
	if f := Of(samples[:1]); f.P50 != time.Second || f.P999 != time.Second {
		t.Errorf("of one sample: %+v", f)
	}
	if f := Of(nil); f.Count != 0 || f.P99 != 0 {
		t.Errorf("of none: %+v", f)
	}
	if n := len(only(samples, 1)); n != 500 || len(samples) != 1000 {
		t.Errorf("%d of a kind", n)
	}
}

func wait(took time.Duration) []Sample { return slices.Repeat([]Sample{{Took: took}}, 200) }

// Each target that is missed fails the run. Of the floods all pairs together count.
func TestTargets(t *testing.T) {
	good := func() *result {
		return &result{samples: make([]Sample, 1000), pairs: []pair{{quiet: wait(100), beside: wait(150)}, {quiet: wait(100), beside: wait(90)}}}
	}
	if !good().passed() {
		t.Error("a run that meets its targets is not passed")
	}
	for name, spoil := range map[string]func(*result){
		"a flood that others feel": func(r *result) { r.pairs[0].beside = wait(151) },
		"errors":                   func(r *result) { r.samples[0].Code, r.samples[1].Code = "x", "x" },
		"books that do not add up": func(r *result) { r.faults = []string{"x"} },
	} {
		r := good()
		if spoil(r); r.passed() {
			t.Errorf("%s: the run is passed", name)
		}
	}
}
