package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Environment is that of a running process of this program's own, by the path
// of its executable: what the local stack gave the function, and not what a
// second list of it says. The Runtime API is left out, since it belongs to that
// process alone.
func Environment(binary string) ([]string, error) {
	binary, err := filepath.EvalSymlinks(binary)
	if err != nil {
		return nil, err
	}
	running, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return nil, err
	}
	parent := fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())
	for _, exe := range running {
		folder := filepath.Dir(exe)
		// Another stack may have built the program anew since.
		if path, err := os.Readlink(exe); err != nil || strings.TrimSuffix(path, " (deleted)") != binary {
			continue
		}
		if status, err := os.ReadFile(filepath.Join(folder, "status")); err != nil || !strings.Contains(string(status), parent) {
			continue // another run's
		}
		text, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil {
			return nil, err
		}
		var env []string
		for entry := range strings.SplitSeq(string(text), "\x00") {
			if entry != "" && !strings.HasPrefix(entry, "AWS_LAMBDA_RUNTIME_API=") {
				env = append(env, entry)
			}
		}
		return env, nil
	}
	return nil, fmt.Errorf("no process of ours runs %s", filepath.Base(binary))
}
