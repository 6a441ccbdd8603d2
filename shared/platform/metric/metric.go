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

// Meter writes the metrics of one function, each as one line. The zero meter
// writes none.
type Meter struct {
	Out      io.Writer
	Now      func() time.Time
	Function string
}

// Dimension is what a metric is told apart by, beside the function. Each value is a
// metric of its own with its own price: values come from tables, never from a
// caller.
type Dimension struct{ Name, Value string }

// Count writes one occurrence.
func (m Meter) Count(name string, by ...Dimension) { m.Number(name, 1, by...) }

// Number writes how many of something there were.
func (m Meter) Number(name string, n int, by ...Dimension) { m.write(name, "Count", n, by) }

// Seconds writes an age, in whole seconds.
func (m Meter) Seconds(name string, age time.Duration) {
	m.write(name, "Seconds", int64(age/time.Second), nil)
}

// Length writes how long something took, in seconds and their parts.
func (m Meter) Length(name string, took time.Duration, by ...Dimension) {
	m.write(name, "Seconds", took.Seconds(), by)
}

// write writes a value once for the function as a whole and once for each of the
// dimensions.
func (m Meter) write(name, unit string, value any, by []Dimension) {
	if m.Out == nil {
		return
	}
	type definition struct {
		Name string
		Unit string
	}
	type metrics struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	line := map[string]any{"FunctionName": m.Function, name: value}
	dimensions := [][]string{{"FunctionName"}}
	for _, d := range by {
		if d.Value != "" { // CloudWatch takes no empty one
			line[d.Name] = d.Value
			dimensions = append(dimensions, []string{"FunctionName", d.Name})
		}
	}
	line["_aws"] = map[string]any{
		"Timestamp":         m.Now().UnixMilli(),
		"CloudWatchMetrics": []metrics{{namespace, dimensions, []definition{{name, unit}}}},
	}
	if text, err := json.Marshal(line); err == nil {
		_, _ = m.Out.Write(append(text, '\n'))
	}
}
