// Package metric writes CloudWatch metrics as log lines in the embedded metric
// format: no call, no client, nothing to fail.
package metric

import (
	"encoding/json"
	"io"
	"time"
)

// namespace is where the alarms of template.yaml look.
const namespace = "RobotMoney"

// Count writes one occurrence of a metric of a function, as one line.
func Count(w io.Writer, now time.Time, function, name string) {
	type definition struct {
		Name string
		Unit string
	}
	type metrics struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	line, err := json.Marshal(map[string]any{
		"_aws": map[string]any{
			"Timestamp":         now.UnixMilli(),
			"CloudWatchMetrics": []metrics{{namespace, [][]string{{"FunctionName"}}, []definition{{name, "Count"}}}},
		},
		"FunctionName": function,
		name:           1,
	})
	if err == nil {
		_, _ = w.Write(append(line, '\n'))
	}
}
