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
	memory, err := firstBytes("/proc/meminfo", "MemTotal")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d cores of %s, %.0f GB RAM, %s %s/%s", runtime.NumCPU(), cpu, float64(memory)/(1<<30),
		runtime.Version(), runtime.GOOS, runtime.GOARCH), nil
}

// Resident is the memory that a process has in use, in bytes, as Linux counts it.
func Resident(pid string) (int64, error) {
	return firstBytes("/proc/"+pid+"/status", "VmRSS")
}

// firstBytes reads a size that Linux says in kB.
func firstBytes(path, name string) (int64, error) {
	text, err := firstMatch(path, `(?m)^`+name+`:\s*(\d+) kB$`)
	if err != nil {
		return 0, err
	}
	kilobytes, err := strconv.ParseInt(text, 10, 64)
	return kilobytes << 10, err
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
