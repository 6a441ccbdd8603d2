package engine

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// ChainID of the local chain, the number tools know anvil by.
const ChainID = 31337

const (
	// defaultSaveEvery is how often the chain is looked at for something new.
	defaultSaveEvery = time.Second
	// idleSaves is after how many looks at blocks without a transaction the
	// state is saved all the same, to keep the height of the chain.
	idleSaves = 30
	// rpcLimit bounds one call; a dump of a day's blocks takes two seconds.
	rpcLimit = 30 * time.Second
	// closeLimit bounds the last save.
	closeLimit = 10 * time.Second
)

// AnvilConfig says how to run the chain.
type AnvilConfig struct {
	Binary string // Binaries.Anvil
	State  string // file that keeps the chain, created if missing
	Port   int    // 0 for any free port
	Log    string // file for its output, empty for none
	// SaveEvery is how often new transactions are saved; zero means 1 s. So
	// much of the chain's last time is lost when this program is killed.
	SaveEvery time.Duration
}

// Chain is an Ethereum chain on this machine that mines a block every second,
// else its `finalized` block would never move.
type Chain struct {
	URL     string // the JSON-RPC endpoint, http://127.0.0.1:PORT
	config  AnvilConfig
	process *process
	client  *http.Client
	saving  sync.Mutex
	closing sync.Once
	failed  error              // of the last save
	quit    context.CancelFunc // ends the watch
	watched chan struct{}      // closed when the watch has ended
}

// Anvil starts the chain where its state file left it and waits until it
// answers. It ends with ctx or with Close. Whatever is saved survives any end;
// Close saves, and while the chain runs transactions are saved within
// SaveEvery. State can be read at the latest block alone: see the package.
func Anvil(ctx context.Context, c AnvilConfig) (*Chain, error) {
	if err := os.MkdirAll(filepath.Dir(c.State), 0o755); err != nil {
		return nil, fmt.Errorf("start anvil: %w", err)
	}
	if c.SaveEvery == 0 {
		c.SaveEvery = defaultSaveEvery
	}
	watching, quit := context.WithCancel(context.Background())
	chain := &Chain{config: c, client: &http.Client{Timeout: rpcLimit}, quit: quit, watched: make(chan struct{})}
	err := onPort(c.Port, func(port int) (err error) {
		chain.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
		if chain.process, err = run("anvil", c.Log, nil, c.Binary, c.arguments(port)...); err != nil {
			return err
		}
		return chain.process.ready(ctx, chain.answers)
	})
	if err != nil {
		quit()
		return nil, err
	}
	go chain.watch(watching)
	stop := context.AfterFunc(ctx, func() { _ = chain.Close() })
	go func() { <-chain.process.done; stop() }()
	return chain, nil
}

func (c AnvilConfig) arguments(port int) []string {
	args := []string{
		"--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--chain-id", strconv.Itoa(ChainID),
		"--slots-in-an-epoch", "1", // finalized follows two blocks behind
		"--hardfork", "osaka", "--enable-tx-gas-limit", // the rules of the public chains
		"--block-time", "1",
		"--prune-history",
	}
	if _, err := os.Stat(c.State); err == nil {
		args = append(args, "--load-state", c.State)
	}
	return args
}

func (c *Chain) answers(ctx context.Context) error {
	var id string
	if err := c.call(ctx, &id, "eth_chainId"); err != nil {
		return err
	}
	if got, err := quantity(id); err != nil || got != ChainID {
		return fmt.Errorf("chain id %s, want %d", id, ChainID)
	}
	return nil
}

// Done is closed when the chain has ended, for whatever reason.
func (c *Chain) Done() <-chan struct{} { return c.process.done }

// Close saves the chain, ends it and waits for its end. The error is that of
// the save.
func (c *Chain) Close() error {
	c.closing.Do(func() {
		c.quit()
		<-c.watched
		select {
		case <-c.process.done: // nobody left to ask
		default:
			ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
			defer cancel()
			c.failed = c.Save(ctx)
		}
		c.process.close()
	})
	<-c.process.done
	return c.failed
}

// Save puts the chain as it is now into the state file. After something that
// must not be lost, such as the deployment of contracts, it saves the wait.
func (c *Chain) Save(ctx context.Context) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	var dump string
	if err := c.call(ctx, &dump, "anvil_dumpState"); err != nil {
		return fmt.Errorf("save chain: %w", err)
	}
	state, err := unpack(dump)
	if err != nil {
		return fmt.Errorf("save chain: %w", err)
	}
	if err := replace(c.config.State, state); err != nil {
		return fmt.Errorf("save chain: %w", err)
	}
	return nil
}

// watch saves the chain whenever a block with transactions was mined.
func (c *Chain) watch(ctx context.Context) {
	defer close(c.watched)
	tick := time.NewTicker(c.config.SaveEvery)
	defer tick.Stop()
	seen, idle, pending := uint64(0), 0, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.process.done:
			return
		case <-tick.C:
		}
		latest, busy, err := c.news(ctx, seen)
		if err != nil {
			continue // asked again soon; Close tells
		}
		seen, idle, pending = latest, idle+1, pending || busy
		if pending || idle >= idleSaves {
			if c.Save(ctx) == nil {
				idle, pending = 0, false
			}
		}
	}
}

// maxNews bounds how many blocks one look asks about. More than that come only
// from a caller who mines by hand: save then.
const maxNews = 64

// news tells the latest block and whether any after seen has a transaction.
func (c *Chain) news(ctx context.Context, seen uint64) (latest uint64, busy bool, err error) {
	var height string
	if err := c.call(ctx, &height, "eth_blockNumber"); err != nil {
		return 0, false, err
	}
	if latest, err = quantity(height); err != nil {
		return 0, false, err
	}
	if latest-min(seen, latest) > maxNews || latest < seen {
		return latest, true, nil
	}
	for n := seen + 1; n <= latest && !busy; n++ {
		var count string
		if err := c.call(ctx, &count, "eth_getBlockTransactionCountByNumber", fmt.Sprintf("0x%x", n)); err != nil {
			return 0, false, err
		}
		busy = count != "0x0"
	}
	return latest, busy, nil
}
