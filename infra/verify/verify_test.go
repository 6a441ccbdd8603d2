package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func TestExitCodes(t *testing.T) {
	preimage := `{"event":{"after_state":{"id":"pi_1","status":"approved"},"id":"evt_1","tenant_id":"acme"},"prev_hash":"` + strings.Repeat("0", 64) + `","seq":0}`
	p, err := claim.Build("pi_1", []claim.Link{{Preimage: preimage}})
	noError(t, err)
	raw, err := p.Encode()
	noError(t, err)
	good, bad := filepath.Join(t.TempDir(), "good.json"), filepath.Join(t.TempDir(), "bad.json")
	noError(t, os.WriteFile(good, raw, 0o600))
	noError(t, os.WriteFile(bad, bytes.Replace(raw, []byte("approved"), []byte("executed"), 1), 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{good}, 0, "The proof holds: pi_1 is approved."},
		{[]string{bad}, 1, "The proof does not hold"},
		{[]string{good + "x"}, 1, "no such file"},
		{[]string{"--rpc", "http://127.0.0.1:1", good}, 0, "nothing is anchored yet"},
		{nil, 2, "FILE"},
		{[]string{good, bad}, 2, "FILE"},
		{[]string{"--nonsense", good}, 2, "not defined"},
	} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), c.args, &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.says) {
			t.Errorf("%v: exit %d, want %d and %q: %s%s", c.args, code, c.code, c.says, &out, &errs)
		}
	}
}

// A public library in another language builds the same trees and the same paths.
func TestSecondOpinion(t *testing.T) {
	type tree struct {
		Leaves []identity.Hash   `json:"leaves"`
		Root   identity.Hash     `json:"root"`
		Paths  [][]identity.Hash `json:"paths"`
	}
	var trees []tree
	want := 0
	for size := 1; size <= 40; size++ {
		var leaves []merkle.Hash
		for i := range size {
			leaves = append(leaves, sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(1000*size+i))))
		}
		root, paths := merkle.Paths(leaves)
		made := tree{Root: identity.Hash(root)}
		for i, leaf := range leaves {
			steps := []identity.Hash{}
			for _, step := range paths[i] {
				steps = append(steps, identity.Hash(step))
			}
			made.Leaves, made.Paths = append(made.Leaves, identity.Hash(leaf)), append(made.Paths, steps)
			want++
		}
		trees = append(trees, made)
	}
	judge := func() (string, error) {
		raw, err := json.Marshal(trees)
		noError(t, err)
		cmd := exec.Command("node", filepath.Join("js", "check.mjs"), packages(t))
		cmd.Stdin = bytes.NewReader(raw)
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	said, err := judge()
	if err != nil || said != "820" || want != 820 {
		t.Errorf("it agrees with %s of %d paths: %v", said, want, err)
	}
	trees[20].Paths[3][1][0] ^= 1
	if said, err := judge(); err == nil || !strings.Contains(said, "path 3 of 21") {
		t.Errorf("it agrees with a wrong path: %s", said)
	}
}

// packages installs what the lock file says and returns where it is.
func packages(t *testing.T) string {
	t.Helper()
	to, err := filepath.Abs(filepath.Join("..", "..", ".local", "verify"))
	noError(t, err)
	noError(t, os.MkdirAll(to, 0o755))
	fresh := true
	for _, name := range []string{"package.json", ".npmrc", "package-lock.json"} {
		want, err := os.ReadFile(filepath.Join("js", name))
		noError(t, err)
		got, err := os.ReadFile(filepath.Join(to, name))
		fresh = fresh && err == nil && bytes.Equal(got, want)
		noError(t, os.WriteFile(filepath.Join(to, name), want, 0o600))
	}
	// npm writes the hidden lock file last: without it an install was cut short.
	if _, err := os.Stat(filepath.Join(to, "node_modules", ".package-lock.json")); err != nil || !fresh {
		cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-progress", "--loglevel=error")
		cmd.Dir = to
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
	}
	return to
}
