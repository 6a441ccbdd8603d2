package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/robotmoney/mcp/shared/surface/schema"
)

var update = flag.Bool("update", false, "rewrite the golden schema with what the package writes")

// TestGolden pins the schema of one of everything: its order and its every
// word are what clients keep and hash.
func TestGolden(t *testing.T) {
	out := append([]schema.Field{
		{Name: "id", Type: schema.String, Required: true, Description: "Whose it is: <any>."},
		{Name: "when", Type: schema.String, Required: true, Nullable: true, Format: "date-time"},
		{Name: "state", Type: schema.String, Nullable: true, Enum: []string{"on", "off"}},
		{Name: "row", Type: schema.Object, Nullable: true, Fields: []schema.Field{{Name: "n", Type: schema.Number, Required: true}}},
		{Name: "size", Type: schema.Integer, Min: 1, Max: 9, Default: 0},
		{Name: "none", Type: schema.Object, Fields: []schema.Field{}},
		{Name: "shown", Type: schema.Any, Fields: []schema.Field{{Name: "n", Type: schema.Integer}}},
	}, fields...)
	var got bytes.Buffer
	must(t, json.Indent(&got, schema.Of(out...), "", "  "))
	got.WriteByte('\n')
	const file = "testdata/schema.json"
	if *update {
		must(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("schema:\n%s", &got)
	}
	equal(t, "without fields", string(schema.Of()), `{"type":"object","properties":{}}`)
}
