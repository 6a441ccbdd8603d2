package lambda_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// state is the letter of /proc/PID/stat: T stopped, Z ended but not reaped.
func state(pid int) string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	return after[:1]
}

func zombie(pid int) bool { return state(pid) == "Z" }

func TestFrozenBetweenInvocations(t *testing.T) {
	log := &buffer{}
	p := pool(t, func(f *lambda.Function) { f.Freeze, f.MaxProcesses, f.Log = true, 1, log })
	first, _ := describe(t, p)
	settle(t, "the idle process is not stopped", func() bool { return state(first.PID) == "T" })
	for range 20 {
		if next, _ := describe(t, p); next.PID != first.PID {
			t.Fatalf("pid %d then %d", first.PID, next.PID)
		}
	}
}
