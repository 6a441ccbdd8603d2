package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

//go:embed package.json
var packageJSON []byte

//go:embed package-lock.json
var packageLock []byte

//go:embed .npmrc
var npmrc []byte

// Binaries are the paths of the engines.
type Binaries struct{ Dynoxide, Anvil string }

// ErrNoBinary says that an engine's publisher has none for this platform.
var ErrNoBinary = errors.New("no binary of this engine for this platform")

// stampFile tells what was installed. It is written last, so a broken install
// is done again.
const stampFile = ".installed"

// lockPoll is how often an install that waits for another one looks again.
const lockPoll = 50 * time.Millisecond

// Install puts the engines into a folder, usually .local/npm, and returns where
// they are. It runs npm only when they are missing or the lock file changed;
// several processes may call it at once. The error wraps ErrNoBinary where a
// platform has no package: DYNAMODB_ENDPOINT can then name another engine.
func Install(ctx context.Context, dir string) (Binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Binaries{}, fmt.Errorf("install engines: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Binaries{}, fmt.Errorf("install engines: %w", err)
	}
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return Binaries{}, fmt.Errorf("install engines: %w", err)
	}
	defer unlock()
	found, missing := locate(dir)
	stamp, _ := os.ReadFile(filepath.Join(dir, stampFile))
	if missing == nil && string(stamp) == digest() {
		return found, nil
	}
	if err := npm(ctx, dir); err != nil {
		return Binaries{}, fmt.Errorf("install engines: %w", err)
	}
	found, missing = locate(dir)
	if missing != nil {
		return found, missing
	}
	if err := os.WriteFile(filepath.Join(dir, stampFile), []byte(digest()), 0o644); err != nil {
		return Binaries{}, fmt.Errorf("install engines: %w", err)
	}
	return found, nil
}

// digest is of all that decides what npm installs.
func digest() string {
	sum := sha256.New()
	for _, part := range [][]byte{packageJSON, packageLock, npmrc, []byte(runtime.GOOS), []byte(runtime.GOARCH)} {
		fmt.Fprintf(sum, "%d ", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// npm installs exactly what the lock file says. Scripts of packages do not run:
// ours need none.
func npm(ctx context.Context, dir string) error {
	for name, content := range map[string][]byte{"package.json": packageJSON, "package-lock.json": packageLock, ".npmrc": npmrc} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// locate finds the binaries of this platform. npm installed nothing for a
// platform that has no package.
func locate(dir string) (Binaries, error) {
	dynoxideArch := map[string]string{"amd64": "x64"}
	modules := filepath.Join(dir, "node_modules")
	b := Binaries{
		Dynoxide: filepath.Join(modules, "@dynoxide", runtime.GOOS+"-"+dynoxideArch[runtime.GOARCH], "dynoxide"),
		Anvil:    filepath.Join(modules, "@foundry-rs", "anvil-"+runtime.GOOS+"-"+runtime.GOARCH, "bin", "anvil"),
	}
	var errs []error
	for name, path := range map[string]*string{"dynoxide": &b.Dynoxide, "anvil": &b.Anvil} {
		if info, err := os.Stat(*path); err != nil || info.Mode()&0o111 == 0 {
			*path = ""
			errs = append(errs, fmt.Errorf("%s on %s/%s: %w", name, runtime.GOOS, runtime.GOARCH, ErrNoBinary))
		}
	}
	return b, errors.Join(errs...)
}

// lock holds a file lock until unlock is called or this process ends, however
// it ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("wait for another install: %w", context.Cause(ctx))
		}
	}
}
