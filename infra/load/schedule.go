package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/robotmoney/mcp/infra/local/crowd"
)

// Arrival is a request that comes at a time fixed beforehand, whatever became of
// those before it: callers do not wait for each other. How long it took counts
// from then, so that a server that stood still shows.
type Arrival struct {
	After   time.Duration // since the phase began
	Company int
	Agent   int
	Kind    int
}

// Plan spreads arrivals at random over a phase, as independent callers would: so
// many a second, over companies and agents alike, of kinds by their weights. The
// seed makes it the same each time.
func Plan(length time.Duration, rate float64, companies []crowd.Company, weights []int, seed uint64) []Arrival {
	random := rand.New(rand.NewPCG(seed, 1))
	var all []Arrival
	for at := time.Duration(0); ; {
		at += time.Duration(random.ExpFloat64() / rate * float64(time.Second))
		if at >= length {
			return all
		}
		a := Arrival{After: at, Company: random.IntN(len(companies)), Kind: pick(random, weights)}
		a.Agent = random.IntN(len(companies[a.Company].Agents))
		all = append(all, a)
	}
}

func pick(random *rand.Rand, weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	n := random.IntN(total)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// Sample is what became of an arrival.
type Sample struct {
	Kind int
	Took time.Duration // since it was due
	Code string        // empty for what was answered as it should be
}

// Run sends each arrival when it is due and returns when all have been answered.
func Run(ctx context.Context, plan []Arrival, send func(context.Context, Arrival) (code string)) []Sample {
	samples := make([]Sample, len(plan))
	var sending sync.WaitGroup
	began := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i, a := range plan {
		timer.Reset(a.After - time.Since(began))
		select {
		case <-timer.C:
		case <-ctx.Done():
			sending.Wait()
			return samples[:i]
		}
		sending.Go(func() {
			code := send(ctx, a)
			samples[i] = Sample{a.Kind, time.Since(began) - a.After, code}
		})
	}
	sending.Wait()
	return samples
}
