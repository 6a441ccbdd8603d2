package stack

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/robotmoney/mcp/infra/local/template"
)

// Fire invokes the function of a schedule now, with the schedule's event, and
// returns its error. It is apart from the rate and from the retries: a failure
// is no dead letter. The name is the schedule's in the template, or the folder
// of a function that has one schedule, such as outbox.
func (s *Stack) Fire(name string) error {
	schedule, err := s.schedule(name)
	if err != nil {
		return err
	}
	event, err := s.bus.Scheduled(schedule.LogicalID)
	if err != nil {
		return err
	}
	// The function's own timeout bounds it.
	result, err := s.pools[schedule.Function].Invoke(context.Background(), event)
	if err != nil {
		return fmt.Errorf("fire %s: %w", name, err)
	}
	if result.FunctionError != "" {
		return fmt.Errorf("fire %s: %s", name, result.Payload)
	}
	return nil
}

func (s *Stack) schedule(name string) (template.Schedule, error) {
	var found []template.Schedule
	for _, schedule := range s.template.Schedules {
		if name == schedule.LogicalID || name == filepath.Base(described(s.template, schedule.Function).CodeURI) {
			found = append(found, schedule)
		}
	}
	if len(found) != 1 {
		return template.Schedule{}, fmt.Errorf("%d schedules go by the name %q, want one", len(found), name)
	}
	return found[0], nil
}

// Settled waits until no event is under way: every queue is empty and no
// invocation runs. What fails is under way until it is given up.
func (s *Stack) Settled(ctx context.Context) error {
	for {
		// The order matters: a function that is done has put its events on the
		// bus, so an empty bus after that stays empty.
		for _, pool := range s.pools {
			if err := pool.Quiet(ctx); err != nil {
				return err
			}
		}
		if s.bus.Settled() {
			return nil
		}
		if err := s.bus.Settle(ctx); err != nil {
			return err
		}
	}
}
