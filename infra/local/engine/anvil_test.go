package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine"
)

func chainConfig(t *testing.T, dir string) engine.AnvilConfig {
	t.Helper()
	return engine.AnvilConfig{
		Binary:    binaries(t).Anvil,
		State:     filepath.Join(dir, "state", "anvil.json"),
		Log:       filepath.Join(dir, "log", "anvil.log"),
		SaveEvery: 50 * time.Millisecond,
	}
}

func startChain(t *testing.T, c engine.AnvilConfig) *engine.Chain {
	t.Helper()
	began := time.Now()
	chain, err := engine.Anvil(t.Context(), c)
	must(t, err)
	t.Logf("anvil was ready in %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		_ = chain.Close()
		if !gone(chain.PID()) {
			t.Errorf("anvil %d is still there", chain.PID())
		}
	})
	return chain
}

func ask[T any](t *testing.T, c *engine.Chain, method string, params ...any) T {
	t.Helper()
	var out T
	must(t, engine.Call(c, t.Context(), &out, method, params...))
	return out
}

func height(t *testing.T, c *engine.Chain) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(ask[string](t, c, "eth_blockNumber")[2:], 16, 64)
	must(t, err)
	return n
}

const receiver = "0x00000000000000000000000000000000000000aa"

// send moves one wei and waits until it is in a block.
func send(t *testing.T, c *engine.Chain) (hash string) {
	t.Helper()
	from := ask[[]string](t, c, "eth_accounts")[0]
	hash = ask[string](t, c, "eth_sendTransaction", map[string]string{"from": from, "to": receiver, "value": "0x1"})
	until(t, "transaction mined", func() bool { return mined(t, c, hash) })
	return hash
}

func mined(t *testing.T, c *engine.Chain, hash string) bool {
	t.Helper()
	return ask[*struct{ Status string }](t, c, "eth_getTransactionReceipt", hash) != nil
}

func balance(t *testing.T, c *engine.Chain) string {
	t.Helper()
	return ask[string](t, c, "eth_getBalance", receiver, "latest")
}

func equals(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s %s, want %s", what, got, want)
	}
}

func TestChainGoesOnAfterARestart(t *testing.T) {
	c := chainConfig(t, t.TempDir())
	chain := startChain(t, c)
	equals(t, "chain id", ask[string](t, chain, "eth_chainId"), "0x7a69")
	hash, before := send(t, chain), height(t, chain)
	must(t, chain.Close())

	chain = startChain(t, c)
	equals(t, "balance", balance(t, chain), "0x1")
	if after := height(t, chain); after < before {
		t.Errorf("height %d, it was %d", after, before)
	}
	if !mined(t, chain, hash) {
		t.Error("the receipt is gone")
	}
	// A second transaction needs the account's next nonce: it is kept too.
	send(t, chain)
	equals(t, "balance", balance(t, chain), "0x2")
}

// A killed anvil loses nothing that was saved, and its file is never torn.
func TestChainSurvivesAKill(t *testing.T) {
	c := chainConfig(t, t.TempDir())
	for n := range 3 {
		chain := startChain(t, c)
		hash := send(t, chain)
		if n == 2 { // on demand; else by itself
			must(t, chain.Save(t.Context()))
		}
		until(t, "transaction saved", func() bool {
			state, err := os.ReadFile(c.State)
			return err == nil && bytes.Contains(state, []byte(hash[2:]))
		})
		must(t, syscall.Kill(chain.PID(), syscall.SIGKILL))
		<-chain.Done()

		again := startChain(t, c)
		equals(t, "balance", balance(t, again), "0x"+strconv.Itoa(n+1))
		if !mined(t, again, hash) {
			t.Error("the receipt is gone")
		}
		must(t, again.Close())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(c.State), "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFinalizedMoves(t *testing.T) {
	chain := startChain(t, chainConfig(t, t.TempDir()))
	until(t, "a finalized block after the first", func() bool {
		return ask[struct{ Number string }](t, chain, "eth_getBlockByNumber", "finalized", false).Number > "0x0"
	})
}

// Old states would pile up, in memory and then in the home folder, 0.35 MB a
// block: none may be kept. What is not a state stays readable.
func TestOldStatesAreNotKept(t *testing.T) {
	chain := startChain(t, chainConfig(t, t.TempDir()))
	hash := send(t, chain)
	ask[any](t, chain, "anvil_mine", "0x64", "0x1")
	if !mined(t, chain, hash) {
		t.Error("an old receipt is gone")
	}
	equals(t, "block", ask[struct{ Number string }](t, chain, "eth_getBlockByNumber", "0x1", false).Number, "0x1")
	equals(t, "balance now", balance(t, chain), "0x1")
	var then string
	if err := engine.Call(chain, t.Context(), &then, "eth_getBalance", receiver, "0x10"); err == nil {
		t.Errorf("block 16 still has a state: the balance was %s", then)
	}
}

func TestChainThatCannotStart(t *testing.T) {
	c := chainConfig(t, t.TempDir())
	must(t, os.MkdirAll(filepath.Dir(c.State), 0o755))
	must(t, os.WriteFile(c.State, []byte(`{"block":`), 0o644))
	_, err := engine.Anvil(t.Context(), c)
	saying(t, err, "failed to parse json file")

	c.Binary = filepath.Join(t.TempDir(), "none")
	_, err = engine.Anvil(t.Context(), c)
	saying(t, err, "start anvil")
}

func TestChainEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := chainConfig(t, t.TempDir())
	chain, err := engine.Anvil(ctx, c)
	must(t, err)
	cancel()
	<-chain.Done()
	if !gone(chain.PID()) {
		t.Errorf("anvil %d is still there", chain.PID())
	}
	if _, err := os.Stat(c.State); err != nil {
		t.Errorf("the chain was not saved: %v", err)
	}
}
