package metric_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/platform/metric"
)

// A value is written for the function as a whole and for each dimension, and an
// empty dimension, which CloudWatch would refuse the line for, is left out.
func TestDimensions(t *testing.T) {
	var out bytes.Buffer
	m := metric.Meter{&out, func() time.Time { return time.UnixMilli(1) }, "McpFunction"}
	m.Length("took", 12_345*time.Microsecond, metric.Dimension{Name: "mcp.method.name", Value: "tools/call"}, metric.Dimension{Name: "outcome", Value: ""})
	var members map[string]any
	if err := json.Unmarshal(out.Bytes(), &members); err != nil || members["took"] != 0.012345 || members["mcp.method.name"] != "tools/call" {
		t.Errorf("%v: %s", err, out.Bytes())
	}
	directive := read(t, out.Bytes()).AWS.CloudWatchMetrics[0]
	if got := fmt.Sprint(directive.Dimensions); got != "[[FunctionName] [FunctionName mcp.method.name]]" {
		t.Errorf("dimensions %s", got)
	}
	metric.Meter{}.Count("nothing") // no function, no line, no crash
}

// The line is one JSON object whose directive names the members that hold the
// dimension and the value: CloudWatch drops any other silently.
func TestLine(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	for _, c := range []struct {
		name, unit string
		value      int
		write      func(metric.Meter)
	}{
		{"AuditRefused", "Count", 1, func(m metric.Meter) { m.Count("AuditRefused") }},
		{"OutboxAge", "Seconds", 61, func(m metric.Meter) { m.Seconds("OutboxAge", 61_900*time.Millisecond) }},
		{"EventsEntered", "Count", 98, func(m metric.Meter) { m.Number("EventsEntered", 98) }},
		{"OutboxAge", "Seconds", 0, func(m metric.Meter) { m.Seconds("OutboxAge", 0) }},
	} {
		var out bytes.Buffer
		c.write(metric.Meter{&out, func() time.Time { return at }, "McpFunction"})
		line := read(t, out.Bytes())
		if line.FunctionName != "McpFunction" || line.AWS.Timestamp != at.UnixMilli() {
			t.Errorf("line %s", out.Bytes())
		}
		directive := line.AWS.CloudWatchMetrics
		if len(directive) != 1 || directive[0].Namespace != "RobotMoney" || directive[0].Dimensions[0][0] != "FunctionName" ||
			directive[0].Metrics[0].Name != c.name || directive[0].Metrics[0].Unit != c.unit {
			t.Errorf("directive %+v", directive)
		}
		var members map[string]any
		if err := json.Unmarshal(out.Bytes(), &members); err != nil || members[c.name] != float64(c.value) {
			t.Errorf("value %v, want %d", members[c.name], c.value)
		}
	}
}

// line is what the tests look at.
type line struct {
	AWS struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
	FunctionName string
}

func read(t *testing.T, out []byte) (l line) {
	t.Helper()
	if err := json.Unmarshal(out, &l); err != nil || bytes.Count(out, []byte("\n")) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return l
}
