package merkle_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/robotmoney/mcp/shared/domain/merkle"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// leaves are n leaves, each another one.
func leaves(n int) []merkle.Hash {
	all := make([]merkle.Hash, n)
	for i := range all {
		binary.BigEndian.PutUint64(all[i][:], uint64(i))
		all[i] = keccak(all[i][:])
	}
	return all
}

func keccak(parts ...[]byte) merkle.Hash {
	state := sha3.NewLegacyKeccak256()
	state.Write(bytes.Join(parts, nil))
	return merkle.Hash(state.Sum(nil))
}

// divided is the root as RFC 6962 states it: the tree is divided at the largest
// power of two below the number of leaves.
func divided(leaves []merkle.Hash) merkle.Hash {
	if len(leaves) == 1 {
		return keccak([]byte{0}, leaves[0][:])
	}
	half := 1
	for half*2 < len(leaves) {
		half *= 2
	}
	pair := []merkle.Hash{divided(leaves[:half]), divided(leaves[half:])}
	slices.SortFunc(pair, func(a, b merkle.Hash) int { return bytes.Compare(a[:], b[:]) })
	return keccak([]byte{1}, pair[0][:], pair[1][:])
}

// Roots pinned as hexadecimal, so that tree and test cannot change together:
// what is on the chain stays what it is.
func TestRoots(t *testing.T) {
	for n, want := range map[int]string{
		0: "0000000000000000000000000000000000000000000000000000000000000000",
		1: "f39a869f62e75cf5f0bf914688a6b289caf2049435d8e68c5c5e6d05e44913f3",
		2: "1d178264424b1389f0584589f83a882ee2fc5129582794c8d56480e2d7808763",
		3: "4a343af32ecc501fdd2bfef02b21cd296f74c0b031cc9ec2de4979de3703a40b",
		7: "95c95684bc7a6a3dee1004d4cef01895636b2bcc0c8bd4cbc6093a707e1b213c",
	} {
		counted := make([]merkle.Hash, n) // 0x00…00, 0x00…01, and so on
		for i := range counted {
			counted[i][31] = byte(i)
		}
		root := merkle.Root(counted)
		equal(t, "root", hex.EncodeToString(root[:]), want)
	}
}

func TestShape(t *testing.T) {
	all := leaves(300)
	for n := 1; n <= len(all); n++ {
		before := slices.Clone(all[:n])
		root := merkle.Root(all[:n])
		equal(t, "root", root, divided(all[:n]))
		same, paths := merkle.Paths(all[:n])
		equal(t, "root beside the paths", same, root)
		equal(t, "paths", len(paths), n)
		equal(t, "the leaves are as before", slices.Equal(all[:n], before), true)
		for i, path := range paths {
			if !merkle.Verify(all[i], path, root) {
				t.Errorf("leaf %d of %d does not verify", i, n)
			}
		}
	}
}

// A path leads from its own leaf to its own root and from nothing else.
func TestWhatDoesNotVerify(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8, 13} {
		all := leaves(n)
		root, paths := merkle.Paths(all)
		for i, path := range paths {
			for at := range merkle.Size {
				leaf, other := all[i], root
				leaf[at] ^= 1
				other[at] ^= 0x80
				if merkle.Verify(leaf, path, root) || merkle.Verify(all[i], path, other) {
					t.Fatalf("leaf %d of %d verifies with byte %d flipped", i, n, at)
				}
				for step := range path {
					bent := slices.Clone(path)
					bent[step][at] ^= 4
					if merkle.Verify(all[i], bent, root) {
						t.Fatalf("leaf %d of %d verifies with byte %d of step %d flipped", i, n, at, step)
					}
				}
			}
			if merkle.Verify(all[i], append(slices.Clone(path), all[i]), root) || len(path) > 0 && merkle.Verify(all[i], path[1:], root) {
				t.Errorf("leaf %d of %d verifies with another length of path", i, n)
			}
			if n > 1 && merkle.Verify(all[(i+1)%n], paths[i], root) {
				t.Errorf("leaf %d of %d verifies by its neighbour's path", i, n)
			}
		}
	}
	equal(t, "a leaf of no leaves", merkle.Verify(leaves(1)[0], nil, merkle.Root(nil)), false)
}

// An inner node shown as a leaf does not verify, nor does a leaf's node.
func TestNodesAreNoLeaves(t *testing.T) {
	all := leaves(4)
	root := merkle.Root(all)
	left, right := merkle.Root(all[:2]), merkle.Root(all[2:])
	equal(t, "an inner node", merkle.Verify(left, []merkle.Hash{right}, root), false)
	equal(t, "the root itself", merkle.Verify(root, nil, root), false)
	_, paths := merkle.Paths(all)
	equal(t, "a leaf's node", merkle.Verify(merkle.Root(all[:1]), paths[0], root), false)
}

// Order is bound by the shape alone: neighbours may swap, others may not.
func TestOrder(t *testing.T) {
	all := leaves(4)
	equal(t, "neighbours swapped", merkle.Root([]merkle.Hash{all[1], all[0], all[2], all[3]}), merkle.Root(all))
	equal(t, "others swapped", merkle.Root([]merkle.Hash{all[2], all[1], all[0], all[3]}) == merkle.Root(all), false)
	equal(t, "the last one twice", merkle.Root(append(slices.Clone(all[:3]), all[2])) == merkle.Root(all[:3]), false)
}

// FuzzTree: whatever the leaves, each verifies, and no more once a bit of it, of
// its path or of the root is another.
func FuzzTree(f *testing.F) {
	f.Add([]byte("a"), uint16(0), uint16(0))
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), 20), uint16(3), uint16(777))
	f.Add(make([]byte, 33), uint16(1), uint16(255))
	f.Fuzz(func(t *testing.T, raw []byte, which, bit uint16) {
		all := make([]merkle.Hash, len(raw)/merkle.Size+1)
		for i := range all {
			copy(all[i][:], raw[min(len(raw), i*merkle.Size):])
		}
		root, paths := merkle.Paths(all)
		equal(t, "root", root, divided(all))
		i := int(which) % len(all)
		leaf, path := all[i], slices.Clone(paths[i])
		if !merkle.Verify(leaf, path, root) {
			t.Fatalf("leaf %d of %d does not verify", i, len(all))
		}
		parts := []*merkle.Hash{&leaf, &root}
		for step := range path {
			parts = append(parts, &path[step])
		}
		flip := int(bit) % (len(parts) * merkle.Size * 8)
		parts[flip/(merkle.Size*8)][flip/8%merkle.Size] ^= 1 << (flip % 8)
		if merkle.Verify(leaf, path, root) {
			t.Fatalf("leaf %d of %d verifies with bit %d flipped", i, len(all), flip)
		}
	})
}

// The anchor has to make the tree of a busy period within its time: a hundred
// thousand leaves in at most 150 ms.
func BenchmarkRoot(b *testing.B) {
	all := leaves(100_000)
	b.ReportAllocs()
	for b.Loop() {
		merkle.Root(all)
	}
}

func BenchmarkPaths(b *testing.B) {
	all := leaves(100_000)
	b.ReportAllocs()
	for b.Loop() {
		merkle.Paths(all)
	}
}

func BenchmarkVerify(b *testing.B) {
	all := leaves(100_000)
	root, paths := merkle.Paths(all)
	b.ReportAllocs()
	for b.Loop() {
		if !merkle.Verify(all[4711], paths[4711], root) {
			b.Fatal("a leaf does not verify")
		}
	}
}
