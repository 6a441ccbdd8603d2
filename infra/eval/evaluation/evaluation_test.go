package evaluation_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/robotmoney/mcp/infra/eval/evaluation"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/platform/table"
)

var store *table.Table

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { store = e.Table() }))
}

// TestSet asks the whole set: what `make eval` prints must be good enough.
func TestSet(t *testing.T) {
	ask, err := evaluation.Company(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	questions, err := os.ReadFile("../questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	report, err := evaluation.Run(t.Context(), questions, ask)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report.Write(&out, true)
	t.Log(out.String())
	if !report.Passed() {
		t.Error("the answers are not good enough")
	}
	if with, without := report.Total(false).Asked, report.Total(true).Asked; with < 250 || without < 40 {
		t.Errorf("the set has %d questions with an answer and %d without, want at least 250 and 40", with, without)
	}
}
