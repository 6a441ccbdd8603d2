// Package set reads the questions of the evaluation and judges answers to them.
package set

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/eval/books"
)

// Question is a wording and what its answer must hold.
type Question struct {
	Family, Text string
	AsOf         time.Time
	Operation    string // for books.Book.Expect, or a refusal
	Line         int
}

// The operations of what has no answer: a request to act, which is refused with
// the tool that proposes, and what the ledger does not say.
const (
	RefusedAct   = "refused act"
	RefusedOther = "refused other"
)

// Refused says whether the question must not be answered.
func (q Question) Refused() bool { return q.Operation == RefusedAct || q.Operation == RefusedOther }

// Parse reads a question file: "## family", "== operation", and below it the
// wordings, each asked as of a moment of its own after "@".
func Parse(r io.Reader, asOf time.Time) ([]Question, error) {
	var list []Question
	var family, operation string
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "## "):
			family, operation = line[len("## "):], ""
		case line == "", strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "== "):
			operation = line[len("== "):]
		case family == "" || operation == "":
			return nil, fmt.Errorf("line %d: a question without a family or an expectation", n)
		default:
			q := Question{Family: family, Text: line, AsOf: asOf, Operation: operation, Line: n}
			if rest, own := strings.CutPrefix(line, "@"); own {
				moment, text, _ := strings.Cut(rest, " ")
				at, err := time.Parse(time.RFC3339, moment)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", n, err)
				}
				q.AsOf, q.Text = at, text
			}
			list = append(list, q)
		}
	}
	return list, lines.Err()
}

// Verdict is how an answer did.
type Verdict int

// The verdicts. Wrong is the one there must be none of: a number that is given as
// an answer and is not the right one, or an answer to what has none.
const (
	Right Verdict = iota
	Missed
	Wrong
)

// amountForm is an amount as answers write it. It needs a sign or a code, so that
// dates and counts are none.
var amountForm = regexp.MustCompile(`-?\$[\d,]+(?:\.\d+)?|-?\d[\d,]*(?:\.\d+)? [A-Z]{3,4}\b`)

// Judge holds an answer against what it must hold, and says what is not so.
func Judge(q Question, e books.Expectation, answered bool, text string) (Verdict, string) {
	if q.Refused() {
		switch {
		case answered:
			return Wrong, "it was answered"
		case q.Operation == RefusedAct && !strings.Contains(text, "payment_intent.propose"):
			return Missed, "the refusal does not name the tool that proposes"
		}
		return Right, ""
	}
	if !answered {
		return Missed, "it was not answered"
	}
	if !strings.HasPrefix(text, e.Start) {
		return Wrong, fmt.Sprintf("it does not begin with %q", e.Start)
	}
	amounts := amountForm.FindAllString(text, len(e.Lead))
	slices.Sort(amounts)
	want := slices.Clone(e.Lead)
	slices.Sort(want)
	if !slices.Equal(amounts, want) {
		return Wrong, fmt.Sprintf("its first amounts are %v, want %v", amounts, want)
	}
	rest := text
	for _, part := range e.Must {
		at := strings.Index(rest, part)
		if at < 0 {
			return Wrong, fmt.Sprintf("%q is not in it, or not in its place", part)
		}
		if e.Ordered {
			rest = rest[at:]
		}
	}
	return Right, ""
}
