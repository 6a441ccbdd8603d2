// Package tenant holds what a company has chosen for itself. What it has not
// chosen has a default here, in one place.
package tenant

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Settings are a tenant's choices.
type Settings struct {
	// PolicyQuorum is how many of the tenant's signers a policy needs, from 1.
	PolicyQuorum int `json:"policy_quorum,omitempty"`
	// PendingDays is how long a proposal waits for people before it expires.
	PendingDays int `json:"pending_days,omitempty"`
	// SecondApprover is the amount above which two people must approve, nil for
	// none. An amount of another currency is above it.
	SecondApprover *money.Written `json:"second_approver_above,omitempty"`
	// TimeZone is the IANA zone of the tenant's days.
	TimeZone string `json:"time_zone,omitempty"`
}

// The defaults.
const (
	defaultQuorum      = 1
	defaultPendingDays = 7
)

// Read decodes the settings' item; one that was never stored, or a choice that
// was not made, is the default.
func Read(item record.Item) (Settings, error) {
	var s Settings
	if item.Version > 0 {
		if err := json.Unmarshal(item.Body, &s); err != nil {
			return s, fmt.Errorf("decode settings: %w", err)
		}
	}
	if s.PolicyQuorum < 1 {
		s.PolicyQuorum = defaultQuorum
	}
	if s.PendingDays < 1 {
		s.PendingDays = defaultPendingDays
	}
	return s, nil
}

// Pending is how long a proposal waits.
func (s Settings) Pending() time.Duration { return time.Duration(s.PendingDays) * 24 * time.Hour }

// Check refuses choices nobody could live by.
func (s Settings) Check() error {
	if s.PolicyQuorum < 0 || s.PendingDays < 0 || s.PendingDays > 90 {
		return fmt.Errorf("a quorum is at least 1, and proposals wait 1 to 90 days")
	}
	if s.SecondApprover != nil {
		if _, err := s.SecondApprover.Read(); err != nil {
			return fmt.Errorf("second approver threshold: %w", err)
		}
	}
	if s.TimeZone != "" {
		if _, err := time.LoadLocation(s.TimeZone); err != nil {
			return fmt.Errorf("time zone: %w", err)
		}
	}
	return nil
}
