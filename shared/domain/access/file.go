package access

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// recordLife is how long a process trusts its copy of a principal's record:
	// a quarantine bites after at most so long.
	recordLife = 5 * time.Second
	// readLimit bounds a shared read, which must not end with the first of the
	// callers that wait for it.
	readLimit = 5 * time.Second
	// maxFiles bounds the memory the copies take in one process.
	maxFiles = 4096
)

// file is everything the table holds about one principal: what one consistent
// query of its partition reads. It is never changed once others can see it.
type file struct {
	body    []byte          // the record's JSON, nil when there is none
	chain   *chainAnswer    // the registry's answer, nil when none is cached
	revoked map[string]bool // revoked token ids
	read    time.Time       // when the query began
}

// wall is a time without its monotonic reading. The monotonic clock may stand
// still while a function is frozen: measured by it, a copy would be young and an
// answer of the registry fresh for as long as the function slept.
func wall(now time.Time) time.Time { return now.Round(0) }

// young says whether the copy may still be used. One from the future was made
// before the clock was set back, and says nothing of its age.
func (f *file) young(now time.Time) bool {
	age := wall(now).Sub(f.read)
	return age >= 0 && age < recordLife
}

// decode reads the record into out and says whether there is one.
func (f *file) decode(out any) (bool, error) {
	if f.body == nil {
		return false, nil
	}
	if err := json.Unmarshal(f.body, out); err != nil {
		return false, fmt.Errorf("decode record: %w", err)
	}
	return true, nil
}

// files are the process's copies of principals' files.
type files struct {
	store  record.Store
	now    func() time.Time
	mu     sync.Mutex
	copies map[string]*file
	flight singleflight.Group
}

// get returns the file of a partition: the copy while it is young enough, else
// what one shared read finds.
func (c *files) get(ctx context.Context, partition string) (*file, error) {
	if f := c.copy(partition); f != nil && f.young(c.now()) {
		return f, nil
	}
	got, err, _ := c.flight.Do(partition, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLimit)
		defer cancel()
		f, err := c.load(ctx, partition)
		if err != nil {
			return nil, err
		}
		if old := c.copy(partition); old != nil && old.chain.fresh(c.now()) && !f.chain.fresh(c.now()) {
			f.chain = old.chain
		}
		c.keep(partition, f)
		return f, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", partition, err)
	}
	return got.(*file), nil
}

func (c *files) copy(partition string) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.copies[partition]
}

func (c *files) keep(partition string, f *file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.copies == nil || len(c.copies) >= maxFiles {
		c.copies = map[string]*file{}
	}
	c.copies[partition] = f
}

// answer puts a fresh answer of the registry into the copy of a file.
func (c *files) answer(partition string, answer *chainAnswer) {
	if f := c.copy(partition); f != nil {
		next := *f
		next.chain = answer
		c.keep(partition, &next)
	}
}

// load reads a partition with one consistent query, or as many pages as its
// revoked tokens fill.
func (c *files) load(ctx context.Context, partition string) (*file, error) {
	f := &file{revoked: map[string]bool{}, read: wall(c.now())}
	for query := (record.Query{PK: partition}); ; {
		page, err := c.store.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if err := f.take(item); err != nil {
				return nil, err
			}
		}
		if page.Next == nil {
			return f, nil
		}
		query.After = page.Next
	}
}

func (f *file) take(item record.Item) error {
	switch sk := item.Key.SK; {
	case sk == key.Record:
		f.body = item.Body
	case sk == key.Chain:
		answer := chainAnswer{expires: item.Expires}
		if err := json.Unmarshal(item.Body, &answer); err != nil {
			return fmt.Errorf("cached registration: %w", err)
		}
		f.chain = &answer
	case strings.HasPrefix(sk, key.RevokedPrefix):
		f.revoked[strings.TrimPrefix(sk, key.RevokedPrefix)] = true
	}
	return nil
}

// chainAnswer is a registration that stands, as it is cached beside the record.
// Only positive answers are cached: a missing agent is asked for again.
type chainAnswer struct {
	TenantID  identity.Hash `json:"tenant_id"`
	ScopeHash identity.Hash `json:"scope_hash"`
	Behavior  identity.Hash `json:"behavior_hash"`
	expires   time.Time
}

// fresh says whether the answer still counts. The table deletes expired items
// late, so the reader looks at the time itself. One that would count for longer
// than any does was kept by a clock that ran ahead, here or in another process:
// believed, it would let a revoked agent in for as long as that clock was wrong.
func (a *chainAnswer) fresh(now time.Time) bool {
	if a == nil {
		return false
	}
	left := a.expires.Sub(wall(now))
	return left > 0 && left <= chainLife
}
