package policy_test

import (
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// TestHours holds instants against hours: the ends, midnight, summer time, and
// the days on both sides of the date line.
func TestHours(t *testing.T) {
	const (
		office  = `"time_window":{"days":["mon","fri"],"from":"09:00","to":"17:30","zone":"Europe/Berlin"}`
		night   = `"time_window":{"days":["fri"],"from":"22:00","to":"06:00","zone":"Europe/Berlin"}`
		allDay  = `"time_window":{"days":["sun"],"from":"00:00","to":"24:00","zone":"America/New_York"}`
		fullDay = `"time_window":{"days":["sun"],"from":"00:00","to":"00:00","zone":"America/New_York"}`
		noon    = `"time_window":{"days":["sat"],"from":"12:00","to":"12:00","zone":"UTC"}`
		skipped = `"time_window":{"days":["sun"],"from":"02:00","to":"03:00","zone":"Europe/Berlin"}`
		lateSun = `"time_window":{"days":["sun"],"from":"01:30","to":"02:30","zone":"Europe/Berlin"}`
		overDST = `"time_window":{"days":["sat"],"from":"23:00","to":"02:30","zone":"Europe/Berlin"}`
		kolkata = `"time_window":{"days":["tue"],"from":"00:00","to":"00:30","zone":"Asia/Kolkata"}`
		apia    = `"time_window":{"days":["thu"],"from":"08:00","to":"09:00","zone":"Pacific/Apia"}`
	)
	for _, c := range []struct {
		hours, at string
		inside    bool
	}{
		{office, "2025-10-03T06:59:59Z", false}, // Friday, 08:59:59 in Berlin
		{office, "2025-10-03T07:00:00Z", true},
		{office, "2025-10-03T15:29:59Z", true},
		{office, "2025-10-03T15:30:00Z", false},
		{office, "2025-10-02T10:00:00Z", false},      // Thursday
		{office, "2025-12-05T08:00:00Z", true},       // winter: 09:00
		{office, "2025-12-05T07:59:00Z", false},      // the hour that summer would make 09:59
		{office, "2025-10-03T12:00:00+05:30", false}, // 08:30 in Berlin, whatever zone it was written in

		{night, "2025-10-03T19:59:00Z", false}, // Friday 21:59
		{night, "2025-10-03T20:00:00Z", true},
		{night, "2025-10-03T22:30:00Z", true}, // Saturday 00:30: of Friday's night
		{night, "2025-10-04T03:59:59Z", true},
		{night, "2025-10-04T04:00:00Z", false},
		{night, "2025-10-04T20:30:00Z", false}, // Saturday evening
		{night, "2025-10-02T23:00:00Z", false}, // Friday 01:00: of Thursday's night

		{allDay, "2025-10-05T03:59:59Z", false}, // Saturday in New York, Sunday in UTC
		{allDay, "2025-10-05T04:00:00Z", true},
		{allDay, "2025-10-06T03:59:59Z", true},
		{allDay, "2025-10-06T04:00:00Z", false},
		{fullDay, "2025-10-05T03:59:59Z", false},
		{fullDay, "2025-10-05T04:00:00Z", true},
		{fullDay, "2025-10-06T03:59:59Z", true},
		{fullDay, "2025-10-06T04:00:00Z", false},
		{noon, "2025-10-04T11:59:59Z", false},
		{noon, "2025-10-04T12:00:00Z", true},
		{noon, "2025-10-05T11:59:59Z", true},
		{noon, "2025-10-05T12:00:00Z", false},

		{skipped, "2025-03-30T00:59:59Z", false}, // 01:59:59, then it is 03:00
		{skipped, "2025-03-30T01:00:00Z", false},
		{skipped, "2025-04-06T00:30:00Z", true},  // a week later 02:30 exists
		{skipped, "2025-10-26T00:30:00Z", true},  // 02:30, in summer time
		{skipped, "2025-10-26T01:30:00Z", true},  // 02:30 again, in winter time
		{skipped, "2025-10-26T02:00:00Z", false}, // 03:00
		{lateSun, "2025-10-26T00:29:00Z", true},
		{lateSun, "2025-10-26T00:31:00Z", false},
		{lateSun, "2025-10-26T01:10:00Z", true}, // 02:10 for the second time
		{overDST, "2025-03-29T22:00:00Z", true},
		{overDST, "2025-03-30T00:59:00Z", true},  // 01:59
		{overDST, "2025-03-30T01:00:00Z", false}, // 03:00

		{kolkata, "2025-10-06T18:30:00Z", true},
		{kolkata, "2025-10-06T18:59:59Z", true},
		{kolkata, "2025-10-06T19:00:00Z", false},
		{apia, "2025-10-01T19:30:00Z", true}, // Thursday there, Wednesday in UTC
		{apia, "2025-10-02T19:30:00Z", false},
	} {
		f := complete(t)
		f.At = at(t, c.at)
		for _, f.At = range []time.Time{f.At, f.At.UTC(), f.At.In(time.FixedZone("", -11*3600))} {
			v := parsed(t, document(rule("r", "auto", c.hours))).Evaluate(f)
			if v.Trace[0].Matched != c.inside {
				t.Errorf("%s at %s: %s", c.hours, c.at, text(t, v.Trace[0].Conditions))
			}
		}
	}
}

// TestHoursNobodyParsed: hours of a document made by hand that cannot be read
// decide nothing.
func TestHoursNobodyParsed(t *testing.T) {
	good := policy.Hours{Days: []string{"wed"}, From: "09:00", To: "17:00", Zone: "UTC"}
	for _, spoil := range []func(*policy.Hours){
		func(h *policy.Hours) { h.Zone = "" }, func(h *policy.Hours) { h.Zone = "Local" }, func(h *policy.Hours) { h.Zone = "right/UTC" },
		func(h *policy.Hours) { h.From = "" }, func(h *policy.Hours) { h.To = "25:00" }, func(h *policy.Hours) { h.To = "24:01" }, func(h *policy.Hours) { h.To = "1a:00" },
	} {
		h := good
		spoil(&h)
		d := policy.Document{Rules: []policy.Rule{{ID: "r", AppliesTo: []policy.Class{policy.Any}, Execute: policy.Reject, When: policy.When{TimeWindow: &h}}}}
		if got := d.Evaluate(complete(t)).Trace[0]; !got.Matched || !got.Conditions[0].Undecided {
			t.Errorf("%+v: %s", h, text(t, got))
		}
	}
}
