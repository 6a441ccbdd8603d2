package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// node is an Ethereum node that is asked. It is trusted as far as whoever names
// it does.
type node struct {
	url    string
	client *http.Client
}

// patience bounds one question.
const patience = 20 * time.Second

// asks checks every anchor against the chain, each once.
func (r *Report) asks(ctx context.Context, url string, p claim.Proof) {
	n := &node{url, &http.Client{Timeout: patience}}
	tenant := keccak([]byte(p.TenantID))
	asked := map[claim.Anchor]record{}
	for _, e := range p.AuditEvents {
		if e.Anchor == nil {
			continue
		}
		kept, known := asked[*e.Anchor]
		if !known {
			var err error
			kept, err = n.anchored(ctx, tenant, *e.Anchor)
			r.add("on the chain", err, "root %s is published in block %d", e.Anchor.Root, e.Anchor.BlockNumber)
			if err != nil {
				return
			}
			asked[*e.Anchor] = kept
		}
		if err := n.holds(ctx, tenant, e, kept); err != nil {
			r.add("in the contract", fmt.Errorf("entry %d: %w", e.Seq, err), "")
			return
		}
	}
	detail := "nothing is anchored yet"
	if len(asked) > 0 {
		detail = "it finds every anchored entry under its root"
	}
	r.add("in the contract", nil, "%s", detail)
}

// chain checks which chain the node serves.
func (n *node) chain(ctx context.Context, want uint64) error {
	var text string
	if err := n.ask(ctx, &text, "eth_chainId"); err != nil {
		return err
	}
	if got, err := quantity(text); err != nil || got != want {
		return fmt.Errorf("the node serves chain %s, and the anchor is on %d", text, want)
	}
	return nil
}

func (n *node) finalized(ctx context.Context) (uint64, error) {
	var block *struct{ Number string }
	if err := n.ask(ctx, &block, "eth_getBlockByNumber", "finalized", false); err != nil {
		return 0, err
	}
	if block == nil {
		return 0, errors.New("the node knows no finalized block")
	}
	return quantity(block.Number)
}

// record is what the contract keeps of a root.
type record struct {
	root        word
	first, last uint64 // entries
	block       uint64
}

// anchored checks that a root is published where, when and by what the anchor
// says.
func (n *node) anchored(ctx context.Context, tenant word, a claim.Anchor) (record, error) {
	if err := n.chain(ctx, a.ChainID); err != nil {
		return record{}, err
	}
	finalized, err := n.finalized(ctx)
	if err != nil {
		return record{}, err
	}
	kept, err := n.record(ctx, tenant, a)
	if err != nil {
		return record{}, err
	}
	if kept.block != a.BlockNumber {
		return kept, fmt.Errorf("the contract has the root since block %d and the anchor says %d; a pending one can move, read the proof again", kept.block, a.BlockNumber)
	}
	if a.Status == claim.Final && a.BlockNumber > finalized {
		return kept, fmt.Errorf("the anchor says final, and the chain is final up to block %d only", finalized)
	}
	return kept, n.sent(ctx, a)
}

// sent checks that the anchor's transaction is the contract's, and in its block.
func (n *node) sent(ctx context.Context, a claim.Anchor) error {
	var receipt *struct{ Status, To, BlockNumber string }
	if err := n.ask(ctx, &receipt, "eth_getTransactionReceipt", a.TxHash); err != nil {
		return err
	}
	if receipt == nil {
		return fmt.Errorf("the node knows no transaction %s", a.TxHash)
	}
	block, err := quantity(receipt.BlockNumber)
	if err != nil || block != a.BlockNumber || receipt.Status != "0x1" || !strings.EqualFold(receipt.To, a.Contract) {
		return fmt.Errorf("transaction %s is not one that went through to the contract in block %d", a.TxHash, a.BlockNumber)
	}
	return nil
}

// record asks the contract for a root. An address without code answers nothing
// at all, and a node no error for it.
func (n *node) record(ctx context.Context, tenant word, a claim.Anchor) (record, error) {
	root, err := node32(a.Root)
	if err != nil {
		return record{}, err
	}
	published, err := n.call(ctx, a.Contract, 32, "isPublished(bytes32,bytes32)", tenant[:], root[:])
	if err != nil {
		return record{}, err
	}
	if !bytes.Equal(published, word{31: 1}.bytes()) {
		return record{}, fmt.Errorf("the contract %s has no root %s of the tenant", a.Contract, a.Root)
	}
	raw, err := n.call(ctx, a.Contract, 8*32, "anchorOf(bytes32,bytes32)", tenant[:], root[:])
	if err != nil {
		return record{}, err
	}
	field := func(i int) uint64 { return binary.BigEndian.Uint64(raw[i*32+24 : i*32+32]) }
	return record{word(raw[:32]), field(4), field(5), field(7)}, nil
}

func (w word) bytes() []byte { return w[:] }

// holds checks that the contract's record covers an entry, and has the contract
// climb the path itself.
func (n *node) holds(ctx context.Context, tenant word, e claim.Event, kept record) error {
	if uint64(e.Seq) < kept.first || uint64(e.Seq) > kept.last {
		return fmt.Errorf("the root is over the entries %d to %d", kept.first, kept.last)
	}
	leaf, err := node32(e.Leaf)
	if err != nil {
		return err
	}
	offset, length := word{31: 4 * 32}, word{}
	binary.BigEndian.PutUint64(length[24:], uint64(len(e.Path)))
	arguments := [][]byte{tenant[:], kept.root[:], leaf[:], offset[:], length[:]}
	for _, text := range e.Path {
		step, err := node32(text)
		if err != nil {
			return err
		}
		arguments = append(arguments, step[:])
	}
	in, err := n.call(ctx, e.Anchor.Contract, 32, "verifyInclusion(bytes32,bytes32,bytes32,bytes32[])", arguments...)
	if err == nil && !bytes.Equal(in, word{31: 1}.bytes()) {
		err = errors.New("the contract does not find it under the root")
	}
	return err
}

// call reads a function of the contract at the latest block.
func (n *node) call(ctx context.Context, to string, size int, signature string, arguments ...[]byte) ([]byte, error) {
	selector := keccak([]byte(signature))
	data := append(selector[:4:4], bytes.Join(arguments, nil)...)
	var text string
	if err := n.ask(ctx, &text, "eth_call", map[string]string{"to": to, "data": "0x" + hex.EncodeToString(data)}, "latest"); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(raw) != size {
		return nil, fmt.Errorf("%s returned %d bytes, want %d: is there a contract at %s?", signature, len(raw), size, to)
	}
	return raw, nil
}

// ask is one JSON-RPC request.
func (n *node) ask(ctx context.Context, out any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := n.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer res.Body.Close()
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 4<<20)).Decode(&answer); err != nil {
		return fmt.Errorf("%s: the node's answer cannot be read: %w", method, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: the node says %.200q", method, answer.Error.Message)
	}
	if err := json.Unmarshal(answer.Result, out); err != nil {
		return fmt.Errorf("%s: the node's answer cannot be read: %w", method, err)
	}
	return nil
}

// quantity reads 0x and hexadecimal digits.
func quantity(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%.40q is no number of a node", text)
	}
	return n, nil
}
