package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What may come next is a command's next word, one of its flags, or nothing where
// only the one who types knows.
func TestCandidates(t *testing.T) {
	for line, want := range map[string]string{
		"po":                "policy",
		"agent re":          "register revoke",
		"agent":             "agent",
		"agent  ":           "", // a word that is empty and not the last
		"completion ":       "bash fish zsh",
		"audit check --":    "--file --help --json --tenant",
		"audit check --te":  "--tenant",
		"audit check T":     "",
		"nothing of ours ":  "",
		"proof verify --rp": "--rpc",
	} {
		got := candidates(t.Context(), strings.Split(line, " "))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Every command names its flags before it does anything, so that asking for them
// is harmless, also where no stack runs.
func TestEveryCommandHasItsFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, cmd := range commands() {
		if flags := flagsOf(t.Context(), cmd); !slices.Contains(flags, "--json") {
			t.Errorf("%s: %v", cmd.name, flags)
		}
		for _, flag := range strings.Fields(cmd.args) {
			if name := strings.Trim(flag, "[]."); strings.HasPrefix(name, "--") && !slices.Contains(flagsOf(t.Context(), cmd), name) {
				t.Errorf("%s: its help speaks of %s, which it does not take", cmd.name, name)
			}
		}
	}
}

// The scripts are tried in the shells there are.
func TestCompletionInShells(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "robotmoney"), "github.com/robotmoney/mcp/infra/robotmoney")
	_, here, _, _ := runtime.Caller(0) // the tests run in their stack's folder
	build.Dir = filepath.Dir(here)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for shell, script := range map[string]string{
		"bash": `source <(robotmoney completion bash); COMP_WORDS=(robotmoney agent q); COMP_CWORD=2; _robotmoney; echo "${COMPREPLY[@]}"`,
		"fish": `robotmoney completion fish | source; complete -C "robotmoney agent q"`,
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s on this machine", shell)
			continue
		}
		command := exec.Command(path, "-c", script)
		command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := command.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "quarantine" {
			t.Errorf("%s: %v %s", shell, err, out)
		}
	}
	for _, shell := range shells {
		if !strings.Contains(scripts[shell], "robotmoney complete ") {
			t.Errorf("%s does not ask the program", shell)
		}
	}
}
