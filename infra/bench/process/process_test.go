package process_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/bench/process"
)

func build(t *testing.T, name string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-tags", "lambda.norpc", "-o", binary, "../functions/"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func TestAProcessAnswersOneEventAfterTheOther(t *testing.T) {
	binary := build(t, "echo")
	p, err := process.Start(t.Context(), binary, []string{"BENCH_BODY=hello"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Ready <= 0 {
		t.Errorf("ready after %s", p.Ready)
	}
	for range 3 {
		if body, err := p.Invoke([]byte(`{}`)); err != nil || !strings.Contains(string(body), `"body":"hello"`) {
			t.Fatalf("%v: %s", err, body)
		}
	}
	if rss, err := p.RSS(); err != nil || rss < 1<<20 || rss > 1<<30 {
		t.Errorf("RSS %v, error %v", rss, err)
	}
	env, err := process.Environment(binary)
	if err != nil || !slices.Contains(env, "BENCH_BODY=hello") || strings.Contains(strings.Join(env, " "), "RUNTIME_API") {
		t.Errorf("environment %v, error %v", env, err)
	}
	if _, err := process.Environment("/bin/false"); err == nil {
		t.Error("a program that does not run has an environment")
	}
}

func TestWhatFailsIsAnError(t *testing.T) {
	if _, err := process.Start(t.Context(), "/bin/false", nil); err == nil {
		t.Error("a program that ends at once has started")
	}
	p, err := process.Start(t.Context(), build(t, "clients"), []string{"AWS_REGION=us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if body, err := p.Invoke([]byte(`"no order"`)); err == nil {
		t.Errorf("an event that is no order is answered: %s", body)
	}
}
