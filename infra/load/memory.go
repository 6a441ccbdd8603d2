package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/footprint"
	"github.com/robotmoney/mcp/infra/local/stack"
)

// Memory is what processes hold at a moment, by the folder of the function, or by
// what else they are.
type Memory map[string]Held

// Held is how many processes a function has and what they hold together.
type Held struct {
	Processes int
	Bytes     int64 // resident
	Largest   int64 // the process that holds most
}

// held looks at every process that runs a function's program from under a
// repository.
func held(repo string) Memory {
	m := Memory{}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		path, err := os.Readlink(link)
		if err != nil {
			continue
		}
		pid, name := filepath.Base(filepath.Dir(link)), filepath.Base(filepath.Dir(path))
		switch base := filepath.Base(path); {
		case pid == strconv.Itoa(os.Getpid()):
			name = "callers, gateway, bus"
		case base == "dynoxide":
			name = "table engine"
		case base != "bootstrap" || !strings.HasPrefix(path, repo+string(filepath.Separator)):
			continue
		}
		resident, err := footprint.Resident(pid)
		if err != nil {
			continue // it has just ended
		}
		h := m[name]
		h.Processes++
		h.Bytes += resident
		h.Largest = max(h.Largest, resident)
		m[name] = h
	}
	return m
}

// watch looks at the memory every so often until stop is called, which returns
// what it saw, in order.
func watch(ctx context.Context, every time.Duration, look func() Memory) (stop func() []Memory) {
	ctx, cancel := context.WithCancel(ctx)
	seen, done := []Memory{look()}, make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				seen = append(seen, look())
			}
		}
	}()
	return func() []Memory {
		cancel()
		<-done
		return append(seen, look())
	}
}

// rested waits until the stack has done everything that was begun, and says how
// long that took.
func rested(ctx context.Context, s *stack.Stack) (time.Duration, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	err := s.Bus().Settle(ctx)
	return time.Since(began), err
}
