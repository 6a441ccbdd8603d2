package clock_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program prints its time as the functions tell it.
const program = `package main

import "github.com/robotmoney/mcp/shared/platform/clock"

func main() { println(clock.Now().Unix()) }
`

// variable is what the wrong clock reads.
const variable = "CHAOS_CLOCK_FILE"

// build compiles the program as the functions are, or with one tag more.
func build(t *testing.T, tags string) string {
	t.Helper()
	folder := t.TempDir()
	source, binary := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-trimpath", "-tags", tags, "-ldflags", "-s -w", "-o", binary, source).CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// wrong runs the program and returns by how much its clock is wrong.
func wrong(t *testing.T, binary, file string) time.Duration {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = []string{variable + "=" + file}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Until(time.Unix(seconds, 0)).Round(time.Minute)
}

func offsetFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "offset")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is deployed has the machine's clock: the name of the variable is not in
// it, and a file changes nothing.
func TestDeployed(t *testing.T) {
	binary := build(t, "lambda.norpc")
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(variable)) {
		t.Error("the binary knows the variable of the wrong clock")
	}
	if d := wrong(t, binary, offsetFile(t, "3h")); d != 0 {
		t.Errorf("the clock is wrong by %s", d)
	}
}

func TestWrong(t *testing.T) {
	binary := build(t, "lambda.norpc,chaos")
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(variable)) {
		t.Error("the binary does not hold what the other test looks for")
	}
	for text, want := range map[string]time.Duration{"3h": 3 * time.Hour, "-45m\n": -45 * time.Minute, "0s": 0} {
		if d := wrong(t, binary, offsetFile(t, text)); d != want {
			t.Errorf("%q: wrong by %s", text, d)
		}
	}
	if d := wrong(t, binary, filepath.Join(t.TempDir(), "none")); d != 0 {
		t.Errorf("no file: wrong by %s", d)
	}
	cmd := exec.Command(binary)
	cmd.Env = []string{variable + "=" + offsetFile(t, "soon")}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "want a duration") {
		t.Errorf("a file that is no duration: %v\n%s", err, out)
	}
}
