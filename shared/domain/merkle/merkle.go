// Package merkle builds the tree over a tenant's chain entries whose root the
// anchor contract keeps, and the paths that lead from an entry to it.
//
// A leaf's node is keccak256(0x00 ‖ leaf) and an inner node
// keccak256(0x01 ‖ min ‖ max) of the two below it, so that no inner node can be
// shown as a leaf. A node without a neighbour goes up as it is, which gives the
// shape of RFC 6962. The contract's verifyInclusion climbs the same way: another
// byte here and no root that is on the chain can be proved any more.
//
// Because pairs are sorted, a path does not tell at which place a leaf stands.
// What must be bound to a place has to have it inside the leaf.
package merkle

import (
	"bytes"
	"io"

	"golang.org/x/crypto/sha3"
)

// Size is the length of a leaf and of a node, in bytes.
const Size = 32

// Hash is a leaf or a node.
type Hash [Size]byte

// The first byte of what is hashed.
const (
	leafMark  = 0x00
	innerMark = 0x01
)

// Root is the root over the leaves in their order. Over no leaves it is zero,
// which the contract refuses and no leaf verifies against.
func Root(leaves []Hash) Hash {
	if len(leaves) == 0 {
		return Hash{}
	}
	h := newHasher()
	level := h.leaves(leaves)
	for len(level) > 1 {
		level = h.up(level, level[:0]) // a parent lies at or before its children
	}
	return level[0]
}

// Paths is the root over the leaves and, for each leaf, the nodes that lead from
// it to the root, lowest first. The paths share their memory: append to none.
func Paths(leaves []Hash) (Hash, [][]Hash) {
	if len(leaves) == 0 {
		return Hash{}, nil
	}
	h := newHasher()
	levels := [][]Hash{h.leaves(leaves)}
	for top := levels[0]; len(top) > 1; {
		top = h.up(top, make([]Hash, 0, (len(top)+1)/2))
		levels = append(levels, top)
	}
	levels, root := levels[:len(levels)-1], levels[len(levels)-1][0]
	nodes := make([]Hash, 0, len(leaves)*len(levels)) // never grows: the paths point into it
	paths := make([][]Hash, len(leaves))
	for i := range leaves {
		from, at := len(nodes), i
		for _, level := range levels {
			if beside := at ^ 1; beside < len(level) {
				nodes = append(nodes, level[beside])
			}
			at /= 2
		}
		paths[i] = nodes[from:len(nodes):len(nodes)]
	}
	return root, paths
}

// Verify says whether the path leads from the leaf to the root.
func Verify(leaf Hash, path []Hash, root Hash) bool {
	h := newHasher()
	node := h.leaf(leaf)
	for _, beside := range path {
		node = h.inner(node, beside)
	}
	return node == root
}

// hasher is one keccak state, used again for every node: a new one each would
// take longer than the hashing.
type hasher struct {
	state interface {
		io.ReadWriter
		Reset()
	}
	block [1 + 2*Size]byte
}

func newHasher() *hasher {
	// The state can also be read from, which spares the copy that Sum makes.
	return &hasher{state: sha3.NewLegacyKeccak256().(interface {
		io.ReadWriter
		Reset()
	})}
}

func (h *hasher) sum(block []byte) (node Hash) {
	h.state.Reset()
	_, _ = h.state.Write(block) // neither fails
	_, _ = h.state.Read(h.block[:Size])
	return Hash(h.block[:Size])
}

func (h *hasher) leaf(leaf Hash) Hash {
	h.block[0] = leafMark
	copy(h.block[1:], leaf[:])
	return h.sum(h.block[:1+Size])
}

func (h *hasher) inner(a, b Hash) Hash {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	h.block[0] = innerMark
	copy(h.block[1:], a[:])
	copy(h.block[1+Size:], b[:])
	return h.sum(h.block[:])
}

// leaves are the nodes of the lowest level.
func (h *hasher) leaves(leaves []Hash) []Hash {
	level := make([]Hash, len(leaves))
	for i, leaf := range leaves {
		level[i] = h.leaf(leaf)
	}
	return level
}

// up appends the level above to above and returns it.
func (h *hasher) up(level, above []Hash) []Hash {
	for i := 0; i+1 < len(level); i += 2 {
		above = append(above, h.inner(level[i], level[i+1]))
	}
	if len(level)%2 == 1 {
		above = append(above, level[len(level)-1])
	}
	return above
}
