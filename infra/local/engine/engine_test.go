package engine_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine"
)

// installed is where `make run` has the engines too: one download for both.
const installed = "../../../.local/npm"

func binaries(t *testing.T) engine.Binaries {
	t.Helper()
	b, err := engine.Install(t.Context(), installed)
	must(t, err)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func saying(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v, want one that says %q", err, want)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: did not come to pass in 30 s", what)
		}
	}
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestInstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "npm")
	var all sync.WaitGroup
	for range 3 { // at once: one installs, the others wait for it
		all.Go(func() {
			b, err := engine.Install(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			for _, path := range []string{b.Dynoxide, b.Anvil} {
				if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
					t.Errorf("%s is no program: %v", path, err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}

	path := os.Getenv("PATH")
	t.Setenv("PATH", "") // without npm only what is there can be used
	b, err := engine.Install(t.Context(), dir)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, ".installed"), []byte("another lock file"), 0o644))
	_, err = engine.Install(t.Context(), dir)
	saying(t, err, "npm")

	t.Setenv("PATH", path)
	must(t, os.Remove(b.Anvil))
	_, err = engine.Install(t.Context(), dir)
	must(t, err)
	_, err = os.Stat(b.Anvil)
	must(t, err)
}

func TestInstallStopsWaiting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "npm")
	f, err := os.Create(dir + ".lock")
	must(t, err)
	defer f.Close()
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = engine.Install(ctx, dir)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that the time is over", err)
	}
}

// The lock file must name no host: the registry is the reader's own choice.
func TestLockFileNamesNoHost(t *testing.T) {
	raw, err := os.ReadFile("package-lock.json")
	must(t, err)
	for _, word := range []string{"http:", "https:", "resolved"} {
		if bytes.Contains(raw, []byte(word)) {
			t.Errorf("package-lock.json has %q: install with the .npmrc of this folder", word)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(`{"block":{}}`))
	_ = w.Close()
	f.Add("0x" + hex.EncodeToString(packed.Bytes()))
	f.Add("0x")
	f.Add("zz")
	f.Fuzz(func(t *testing.T, dump string) {
		if state, err := engine.Unpack(dump); err == nil && len(state) == 0 {
			t.Error("an empty state is no state")
		}
	})
}
