package metric_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/platform/metric"
)

// The line is one JSON object whose directive names the members that hold the
// dimension and the value: CloudWatch drops any other silently.
func TestLine(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	for _, c := range []struct {
		name, unit string
		value      int
		write      func(*bytes.Buffer)
	}{
		{"AuditRefused", "Count", 1, func(out *bytes.Buffer) { metric.Count(out, at, "McpFunction", "AuditRefused") }},
		{"OutboxAge", "Seconds", 61, func(out *bytes.Buffer) { metric.Seconds(out, at, "McpFunction", "OutboxAge", 61_900*time.Millisecond) }},
		{"OutboxAge", "Seconds", 0, func(out *bytes.Buffer) { metric.Seconds(out, at, "McpFunction", "OutboxAge", 0) }},
	} {
		var out bytes.Buffer
		c.write(&out)
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
