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
func TestCount(t *testing.T) {
	var out bytes.Buffer
	metric.Count(&out, time.UnixMilli(1_700_000_000_123), "McpFunction", "AuditRefused")
	var line struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
		FunctionName string
		AuditRefused int
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 || line.AuditRefused != 1 || line.FunctionName != "McpFunction" || line.AWS.Timestamp != 1_700_000_000_123 {
		t.Errorf("line %s", out.Bytes())
	}
	directive := line.AWS.CloudWatchMetrics
	if len(directive) != 1 || directive[0].Namespace != "RobotMoney" || directive[0].Dimensions[0][0] != "FunctionName" || directive[0].Metrics[0].Name != "AuditRefused" {
		t.Errorf("directive %+v", directive)
	}
}
