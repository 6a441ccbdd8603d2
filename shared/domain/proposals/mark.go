package proposals

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// keyLife is how long an idempotency key is remembered.
	keyLife = 48 * time.Hour
	// sameLife is for how long an identical proposal without a key is the first one.
	sameLife = 10 * time.Minute
)

// mark is where two calls that ask for the same meet: under the caller's key, or
// without one under the hash of what is asked.
type mark struct {
	key  key.Key
	sum  string
	life time.Duration
}

// marked is a mark as it is stored.
type marked struct {
	Sum string `json:"sum"` // of the arguments
	ID  string `json:"id"`  // what the first call made
}

// markOf is the mark of a call; a payment is checked, so equal amounts are written
// alike and equal arguments have one sum.
func markOf(who identity.Principal, tool, idempotencyKey string, args ...any) (mark, error) {
	sum, err := digest(args)
	if err != nil {
		return mark{}, err
	}
	if idempotencyKey == "" {
		return mark{key.Same(who.Tenant, who.ID, tool, sum), sum, sameLife}, nil
	}
	return mark{key.Replay(who.Tenant, who.ID, tool, idempotencyKey), sum, keyLife}, nil
}

// used is the id that an earlier call made, empty when there was none. The same
// key for something else is a conflict.
func (m mark) used(r reading) (string, error) {
	item, found := r.items[m.key]
	if !found || !item.Expires.After(r.now) {
		return "", nil
	}
	var first marked
	if err := json.Unmarshal(item.Body, &first); err != nil {
		return "", fmt.Errorf("decode idempotency mark: %w", err)
	}
	if first.Sum != m.sum {
		return "", fault.New(fault.Conflict, "This idempotency_key was used with other arguments. Use a new key for a new proposal, and the old one only to retry.")
	}
	return first.ID, nil
}

func (m mark) put(r reading, made string) (record.Put, error) {
	body, err := json.Marshal(marked{m.sum, made})
	if err != nil {
		return record.Put{}, fmt.Errorf("encode idempotency mark: %w", err)
	}
	return record.Put{Item: record.Item{Key: m.key, Expires: r.now.Add(m.life), Body: body}, Was: r.items[m.key].Version}, nil
}
