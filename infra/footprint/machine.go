package footprint

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
)

// Machine describes this machine, for documents of what was measured on it,
// without naming it.
func Machine() (string, error) {
	cpu, err := firstMatch("/proc/cpuinfo", `(?m)^model name\s*:\s*(.+)$`)
	if err != nil {
		return "", err
	}
	memory, err := firstMatch("/proc/meminfo", `(?m)^MemTotal:\s*(\d+) kB$`)
	if err != nil {
		return "", err
	}
	kilobytes, err := strconv.Atoi(memory)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d cores of %s, %.0f GB RAM, %s %s/%s", runtime.NumCPU(), cpu, float64(kilobytes)/(1<<20),
		runtime.Version(), runtime.GOOS, runtime.GOARCH), nil
}

func firstMatch(path, pattern string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		return "", errors.New(path + " does not say: " + pattern)
	}
	return string(found[1]), nil
}
