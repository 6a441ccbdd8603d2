package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/footprint"
	"github.com/robotmoney/mcp/infra/local/traffic"
	"github.com/robotmoney/mcp/shared/domain/fault"
)

// The targets.
const (
	besideBound = 1.5 // others' p99 beside a flood, in that of quiet
	errorShare  = 0.001
)

// limited is the code of a refusal for too many requests.
const limited = string(fault.RateLimited)

// passed says whether the run has met its targets.
func (r *result) passed() bool {
	return len(r.faults) == 0 && r.floodRatio() <= besideBound && r.errorRate() <= errorShare
}

// floodRatio is the ratio of all pairs together.
func (r *result) floodRatio() float64 { return all(r.pairs).ratio() }

// errorRate is the share of the mixed traffic that was not answered as it should
// be.
func (r *result) errorRate() float64 {
	wrong := 0
	for _, n := range Of(r.samples).Errors {
		wrong += n
	}
	return float64(wrong) / float64(max(1, len(r.samples)))
}

// print writes the figures.
func (r *result) print(w io.Writer) error {
	var b bytes.Buffer
	r.traffic(&b)
	r.processes(&b)
	r.floods(&b)
	r.books(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func (r *result) traffic(b *bytes.Buffer) {
	all := Of(r.samples)
	fmt.Fprintf(b, "## Mixed traffic\n\n%d requests in %s: %.1f a second were due, %.1f a second answered. Not answered as they should be: %s (%.3f %%; at most %.1f %%: %s).\n\n",
		all.Count, r.length.Round(time.Second), r.rate, float64(all.Count)/r.length.Seconds(), counts(all.Errors), 100*r.errorRate(), 100*errorShare, verdict(r.errorRate() <= errorShare))
	b.WriteString("| request | share | count | p50 | p90 | p99 | p99.9 | longest | errors |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n")
	row := func(name, share string, f Figures) {
		fmt.Fprintf(b, "| %s | %s | %d | %s | %s | %s | %s | %s | %s |\n", name, share, f.Count, ms(f.P50), ms(f.P90), ms(f.P99), ms(f.P999), ms(f.Max), counts(f.Errors))
	}
	for i, k := range traffic.Mix {
		row(k.Name, fmt.Sprintf("%d %%", k.Weight), Of(only(r.samples, i)))
	}
	row("all", "100 %", all)
	fmt.Fprintf(b, "\nA payment that a person decides about is two requests, one after the other. Everything that was begun was done %s after the last answer of the run.\n\n", r.rest.Round(time.Second/10))
}

func (r *result) processes(b *bytes.Buffer) {
	b.WriteString("## Processes and memory\n\n| function | processes, at most | resident at first | after a quarter | at most | at the end | largest process |\n|---|---:|---:|---:|---:|---:|---:|\n")
	names := map[string]bool{}
	for _, m := range r.memory {
		for name := range m {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var most Held
		for _, m := range r.memory {
			most.Processes, most.Bytes, most.Largest = max(most.Processes, m[name].Processes), max(most.Bytes, m[name].Bytes), max(most.Largest, m[name].Largest)
		}
		first, quarter, last := r.memory[0][name], r.memory[len(r.memory)/4][name], r.memory[len(r.memory)-1][name]
		fmt.Fprintf(b, "| `%s` | %d | %s | %s | %s | %s | %s |\n", name, most.Processes, mb(first.Bytes), mb(quarter.Bytes), mb(most.Bytes), mb(last.Bytes), mb(most.Largest))
	}
	b.WriteString("\n")
}

func (r *result) floods(b *bytes.Buffer) {
	fmt.Fprintf(b, "## A company that floods\n\n| pair | others, quiet: p50 | p99 | beside the flood: p50 | p99 | ratio of p99 | their errors | the flood | refused for its rate | p50 of the refusals |\n|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|\n")
	row := func(name string, p pair) {
		quiet, beside := Of(p.quiet), Of(p.beside)
		refused := Of(slices.DeleteFunc(slices.Clone(p.flood), func(s Sample) bool { return s.Code != limited }))
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %.2f | %s | %d | %d | %s |\n", name, ms(quiet.P50), ms(quiet.P99), ms(beside.P50), ms(beside.P99), p.ratio(),
			counts(beside.Errors), len(p.flood), refused.Count, ms(refused.P50))
	}
	for i, p := range r.pairs {
		row(fmt.Sprint(i+1), p)
	}
	row("all", all(r.pairs))
	fmt.Fprintf(b, "\nOf all pairs together: %.2f (at most %.1f: %s).\n\n", r.floodRatio(), besideBound, verdict(r.floodRatio() <= besideBound))
}

func (r *result) books(b *bytes.Buffer) {
	fmt.Fprintf(b, "## The books afterwards\n\n")
	if len(r.faults) == 0 {
		fmt.Fprintf(b, "The journals of all %d companies, %d entries, have no gap and no wrong hash, and every rollup is the sum of its rows.\n", r.size.Companies, r.entries)
	}
	for _, fault := range r.faults {
		fmt.Fprintf(b, "- FAULT: %s\n", fault)
	}
}

// document writes the report with what it takes to read it.
func (r *result) document(path string) error {
	machine, err := footprint.Machine()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Load

Written by %s on %s. Run it again to get the figures of your machine; a missed target makes it fail.

Machine: %s. Everything shares it: the table engine, the chain, the bus, the gateway, every function process and
the callers. On AWS each function process has a share of a processor of its own and the table is not on them: these figures say how the system behaves under load, and
not how fast it is there.

## What is sent

%d companies with %d agents each, of one stack: real function processes over the Runtime API, one for each request at one time, the table engine with its
file on disk, the chain. Requests come at times fixed beforehand, as from independent callers (exponential gaps, seed %d), and how long one took counts
from when it was due: a server that stands still cannot hide. 16 callers that ask one request after the other are served %.0f a second here, until all they began is done;
the mixed traffic is %.0f a second.
A payment that needs no person goes all the way: executed, settled, in the journal, on its wiki page; a contributed file becomes ledger rows.

`, "`make load WRITE=1`", time.Now().Format(time.DateOnly), machine, r.size.Companies, r.size.Agents, seed, r.most, r.rate)
	if err := r.print(&b); err != nil {
		return err
	}
	fmt.Fprintf(&b, `
## How the flood is measured

The other %d companies' traffic, a quarter of what saturates the machine, is measured alone and beside the flood, 28 s each within one minute, in turns
with which comes first. The flood is %.0f reads a second of one company, whose rate allows ten: it is served six hundred and then answered 429, before the chain or a
row is asked. What it is entitled to takes the machine's two cores from the others here, which it could not on AWS; what is above costs a
verified token and a process that knows the minute to be used up.
`, r.size.Companies-1, r.flood)
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

func mb(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20)) }

func counts(errors map[string]int) string {
	var list []string
	for _, code := range codes(errors) {
		list = append(list, fmt.Sprintf("%d %s", errors[code], code))
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

func verdict(ok bool) string {
	if ok {
		return "met"
	}
	return "MISSED"
}
