// Package evaluation asks the question set and counts what came back.
package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/robotmoney/mcp/infra/eval/books"
	"github.com/robotmoney/mcp/infra/eval/set"
	"github.com/robotmoney/mcp/infra/local/demo"
)

// AsOf is when the questions are asked: the last day of the demo's books.
var AsOf = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// Ask gives the answer to a question, and false with the reason where it has none.
type Ask func(ctx context.Context, text string, asOf time.Time) (answered bool, answer string, err error)

// Tally is how a family did.
type Tally struct {
	Family                      string
	Refused                     bool // its questions have no answer
	Asked, Right, Missed, Wrong int
}

// Failure is an answer that was not right.
type Failure struct {
	set.Question
	set.Verdict
	Why, Answer string
}

// Report is what an evaluation found, by family in the order of the set.
type Report struct {
	Tallies  []Tally
	Failures []Failure
}

// Run asks every question of a set. What the answers must hold is computed over
// the rows as they are exported.
func Run(ctx context.Context, questions []byte, ask Ask) (Report, error) {
	list, err := set.Parse(bytes.NewReader(questions), AsOf)
	if err != nil {
		return Report{}, fmt.Errorf("read the questions: %w", err)
	}
	exported, err := json.Marshal(demo.Data(demo.Acme))
	if err != nil {
		return Report{}, fmt.Errorf("export the rows: %w", err)
	}
	book, err := books.Read(bytes.NewReader(exported), AsOf.Format(time.DateOnly))
	if err != nil {
		return Report{}, err
	}
	var report Report
	for _, q := range list {
		var expected books.Expectation
		if !q.Refused() {
			if expected, err = book.Expect(q.Operation); err != nil {
				return report, fmt.Errorf("line %d: %w", q.Line, err)
			}
		}
		answered, answer, err := ask(ctx, q.Text, q.AsOf)
		if err != nil {
			return report, fmt.Errorf("ask %q: %w", q.Text, err)
		}
		verdict, why := set.Judge(q, expected, answered, answer)
		report.count(q, verdict)
		if verdict != set.Right {
			report.Failures = append(report.Failures, Failure{q, verdict, why, answer})
		}
	}
	return report, nil
}

func (r *Report) count(q set.Question, v set.Verdict) {
	at := slices.IndexFunc(r.Tallies, func(t Tally) bool { return t.Family == q.Family })
	if at < 0 {
		at = len(r.Tallies)
		r.Tallies = append(r.Tallies, Tally{Family: q.Family, Refused: q.Refused()})
	}
	t := &r.Tallies[at]
	t.Asked++
	switch v {
	case set.Right:
		t.Right++
	case set.Missed:
		t.Missed++
	case set.Wrong:
		t.Wrong++
	}
}

// Total adds up the families with answers, or those without.
func (r Report) Total(refused bool) Tally {
	total := Tally{Family: "all with an answer", Refused: refused}
	if refused {
		total.Family = "all without an answer"
	}
	for _, t := range r.Tallies {
		if t.Refused == refused {
			total.Asked += t.Asked
			total.Right += t.Right
			total.Missed += t.Missed
			total.Wrong += t.Wrong
		}
	}
	return total
}

// leastShare is how many of a hundred answerable questions must be right.
const leastShare = 95

// Passed says whether the answers are good enough: almost all right, none wrong,
// and everything refused that must be.
func (r Report) Passed() bool {
	with, without := r.Total(false), r.Total(true)
	return with.Right*100 >= leastShare*with.Asked && with.Wrong == 0 && without.Right == without.Asked
}

// Write prints the table, which is Markdown, and with all the answers that were
// not right.
func (r Report) Write(w io.Writer, all bool) {
	fmt.Fprintln(w, "| family | asked | right | not answered | wrong | share |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|")
	for _, t := range append(slices.Clone(r.Tallies), r.Total(false), r.Total(true)) {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %.1f %% |\n", t.Family, t.Asked, t.Right, t.Missed, t.Wrong, 100*float64(t.Right)/float64(max(1, t.Asked)))
	}
	if !all {
		return
	}
	for _, f := range r.Failures {
		word := "not answered"
		if f.Verdict == set.Wrong {
			word = "WRONG"
		}
		fmt.Fprintf(w, "\n%s, line %d: %s\n  %s\n  %.400s\n", word, f.Line, f.Text, f.Why, f.Answer)
	}
}
