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
	write(w, now, function, name, "Count", 1)
}

// Seconds writes a duration as a metric of a function, in whole seconds.
func Seconds(w io.Writer, now time.Time, function, name string, length time.Duration) {
	write(w, now, function, name, "Seconds", int64(length/time.Second))
}

func write(w io.Writer, now time.Time, function, name, unit string, value int64) {
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
			"CloudWatchMetrics": []metrics{{namespace, [][]string{{"FunctionName"}}, []definition{{name, unit}}}},
		},
		"FunctionName": function,
		name:           value,
	})
	if err == nil {
		_, _ = w.Write(append(line, '\n'))
	}
}
