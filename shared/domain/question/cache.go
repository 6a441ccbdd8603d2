package question

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

const (
	// fresh is how long an answer is given again.
	fresh = 300 * time.Second
	// maxCached bounds the memory the answers take; past it all are forgotten.
	maxCached = 500
)

// Cache keeps answers in the process. An answer is given again to the same
// tenant for the same question, day, depth and scopes, as long as the ledger has
// not been written in between: the revision is read for every question and is a
// part of what an answer is kept under, so a cached answer never says what the
// ledger said before a write.
type Cache struct {
	// Revision changes with every write to the tenant's ledger. It must see each
	// write that was acknowledged before.
	Revision func(ctx context.Context, t identity.Tenant) (string, error)

	mu      sync.Mutex
	answers map[string]kept
}

// kept is an answer and when it was made.
type kept struct {
	answer Answer
	at     time.Time
}

// answer returns a kept answer or makes one. Answers about proposals and the
// policy are not kept: they change without a write to the ledger.
func (c *Cache) answer(ctx context.Context, t identity.Tenant, ask Ask, now time.Time, compute func() (Answer, error)) (Answer, error) {
	revision, err := c.Revision(ctx, t)
	if err != nil {
		return Answer{}, err
	}
	// An answer may say how things stand at a moment of the past day, so the date
	// of now is a part of it as well.
	name := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%d\x00%s", t, revision, today(ask.AsOf), today(now), ask.Depth, strings.TrimSpace(ask.Text))
	c.mu.Lock()
	have, found := c.answers[name]
	c.mu.Unlock()
	if age := now.Sub(have.at); found && age >= 0 && age < fresh {
		have.answer.Question = ask.Text
		have.answer.Usage = Usage{} // this one took none
		return have.answer, nil
	}
	answer, err := compute()
	if err != nil || answer.Plan != nil && answer.Plan.Guarded() {
		return answer, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil || len(c.answers) >= maxCached {
		c.answers = map[string]kept{}
	}
	c.answers[name] = kept{answer, now}
	return answer, nil
}
