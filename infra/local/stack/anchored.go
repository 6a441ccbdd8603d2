package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// finality is how often the anchor function is fired until the demo's first roots
// are final: the local chain finalizes a block two seconds after it was made.
const (
	finality      = 30
	finalityPause = time.Second
)

// anchored waits until the events of the demo's payment are in the journal and
// their root is final on the chain, so that its proof is whole when the stack is
// ready. A state that has been through it is not held up again.
func (s *Stack) anchored(ctx context.Context) error {
	mark := filepath.Join(s.path(stackfile.State), "anchored")
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.Settled(ctx); err != nil {
		return err
	}
	store := s.File().Store()
	for try := 0; ; try++ {
		if err := s.Fire("anchor"); err != nil {
			return fmt.Errorf("anchor: %w", err)
		}
		open, err := store.Query(ctx, record.Query{PK: key.AnchorsPartition, Limit: 1})
		if err != nil {
			return err
		}
		if len(open.Items) == 0 {
			return os.WriteFile(mark, nil, 0o644)
		}
		if try == finality {
			return errors.New("anchor: the demo's roots are not final")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(finalityPause):
		}
	}
}
