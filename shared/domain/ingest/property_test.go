package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Whatever parts of a year come, whole days each, however they overlap and in
// whichever order: the rows are those of the year, each once.
func TestAnyPartsMakeTheWhole(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			const days = 12
			var byDay [days][]entry
			for day := range byDay {
				for range random.IntN(5) {
					e := entry{date: fmt.Sprintf("2025-04-%02d", day+1), amount: fmt.Sprintf("-%d.00", 1+random.IntN(2)), name: "Cafe Noir", memo: "Coffee"}
					if random.IntN(2) == 0 {
						e.ref = fmt.Sprintf("F%d", random.IntN(3)) // banks use them again
					}
					byDay[day] = append(byDay[day], e)
				}
			}
			w := newWorld(t)
			parts := [][2]int{{0, days}}
			for range 4 {
				from := random.IntN(days)
				parts = append(parts, [2]int{from, from + 1 + random.IntN(days-from)})
			}
			random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			for i, part := range parts {
				entries := slices.Concat(byDay[part[0]:part[1]]...)
				if random.IntN(2) == 0 {
					slices.Reverse(entries)
				}
				// A blank at the end makes it another artifact.
				w.load(t, ofx("", entries...)+strings.Repeat(" ", i))
			}
			var want []string
			for _, e := range slices.Concat(byDay[:]...) {
				want = append(want, fmt.Sprintf("%s Account …7890/EUR outflow %s EUR posted [cafe noir] Coffee", e.date, strings.TrimPrefix(e.amount, "-")))
			}
			slices.Sort(want)
			equal(t, "facts", w.facts(t), strings.Join(want, "\n"))
			w.sound(t, len(want))
		})
	}
}
