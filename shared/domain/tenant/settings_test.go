package tenant_test

import (
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// TestRead: what was not chosen is the default, also what cannot have been meant.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		body    string
		version int64
		quorum  int
		days    int
		second  string
	}{
		"never stored":        {"", 0, 1, 7, ""},
		"nothing chosen":      {`{}`, 1, 1, 7, ""},
		"a quorum":            {`{"policy_quorum":2}`, 1, 2, 7, ""},
		"a wait":              {`{"pending_days":30}`, 4, 1, 30, ""},
		"a second approver":   {`{"second_approver_above":{"amount":"50000.00","currency":"USD"}}`, 1, 1, 7, "50000.00 USD"},
		"none and below":      {`{"policy_quorum":0,"pending_days":-1}`, 1, 1, 7, ""},
		"all":                 {`{"policy_quorum":3,"pending_days":1,"second_approver_above":{"amount":"1","currency":"JPY"},"time_zone":"Asia/Tokyo"}`, 1, 3, 1, "1 JPY"},
		"what was not stored": {`{"policy_quorum":2}`, 0, 1, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := tenant.Read(record.Item{Version: c.version, Body: []byte(c.body)})
			if err != nil {
				t.Fatal(err)
			}
			second := ""
			if s.SecondApprover != nil {
				second = s.SecondApprover.Amount + " " + s.SecondApprover.Currency
			}
			if s.PolicyQuorum != c.quorum || s.Pending() != time.Duration(c.days)*24*time.Hour || second != c.second {
				t.Errorf("quorum %d, %s, second above %q; want %d, %d days, %q", s.PolicyQuorum, s.Pending(), second, c.quorum, c.days, c.second)
			}
		})
	}
}

// Settings that cannot be read are no defaults: a threshold would be lost.
func TestUnreadable(t *testing.T) {
	for _, body := range []string{"", "x", `{"policy_quorum":"2"}`, `[]`, `{"second_approver_above":"50"}`} {
		if s, err := tenant.Read(record.Item{Version: 1, Body: []byte(body)}); err == nil {
			t.Errorf("%q is read as %+v", body, s)
		}
	}
}
