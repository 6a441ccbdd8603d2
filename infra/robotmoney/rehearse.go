package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// lookback is how far back a simulation looks that is not told.
const lookback = 90 * 24 * time.Hour

// rehearse judges a tenant's past proposals by a document and tells what it would
// have decided otherwise.
func (c *call) rehearse(ctx context.Context, tenant string, document policy.Document, since, until string) error {
	t, err := identity.OperatorTenant(tenant)
	if err != nil {
		return usageError("--tenant: " + err.Error())
	}
	now := time.Now()
	from, err := day("--since", since, now.Add(-lookback))
	if err != nil {
		return err
	}
	to, err := day("--until", until, now)
	if err != nil {
		return err
	}
	if !from.Before(to) {
		return usageError("--since: want a day before --until")
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	all := []proposals.Rehearsed{}
	left, err := target.desk.Rehearse(ctx, t, document, from, to, func(r proposals.Rehearsed) { all = append(all, r) })
	if err != nil {
		return err
	}
	changed, counts := 0, map[policy.Outcome]map[policy.Outcome]int{}
	var lines [][2]string
	for _, r := range all {
		if counts[r.Then] == nil {
			counts[r.Then] = map[policy.Outcome]int{}
		}
		counts[r.Then][r.Now]++
		if r.Changed() {
			changed++
			lines = append(lines, [2]string{r.ID, fmt.Sprintf("%s %s %s %s: %s, now %s (%s)", r.At[:len("2006-01-02")], r.ActionType, r.Amount, r.Currency, r.Then, r.Now, because(r))})
		}
	}
	for _, then := range outcomes {
		for _, now := range outcomes {
			if n := counts[then][now]; n > 0 {
				lines = append(lines, [2]string{fmt.Sprintf("%s to %s", then, now), fmt.Sprint(n)})
			}
		}
	}
	lines = append(lines, [2]string{"proposals", fmt.Sprintf("%d, %d of them decided otherwise", len(all), changed)})
	if left > 0 {
		lines = append(lines, [2]string{"left out", fmt.Sprintf("%d, of which no decision was kept", left)})
	}
	return c.print(map[string]any{"tenant_id": tenant, "version": document.Version, "proposals": all, "changed": changed, "without_decision": left}, lines...)
}

var outcomes = []policy.Outcome{policy.Auto, policy.Confirm, policy.Reject}

// because names the rules that decide.
func because(r proposals.Rehearsed) string {
	switch {
	case r.HumanFloor:
		return "payments of this type always need a person"
	case len(r.Rules) == 0:
		return "no rule allows it"
	}
	return strings.Join(r.Rules, ", ")
}

func day(flag, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return at, usageError(flag + ": want a day, YYYY-MM-DD")
	}
	return at, nil
}
