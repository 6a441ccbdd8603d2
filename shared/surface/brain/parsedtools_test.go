package brain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/surface/brain"
)

// What the parsers made of an artifact is part of its answer, once they have
// looked at it.
func TestParsedArtifact(t *testing.T) {
	store := archive(t, nil)
	intake := &ingest.Intake{Archive: store, Ledger: &ledger.Writer{Store: store.Store, Trail: store.Trail, Now: time.Now}, Trail: store.Trail, Now: time.Now}
	tools := brain.RawTools(store)
	contribute, get := named(t, tools, "raw.contribute"), named(t, tools, "raw.artifact.get")
	who := finance(t, "acme")
	who.Agent.Trusted = true
	const rows = `Date,Amount,Currency,Payee\n2025-04-02,-12.50,EUR,Acme GmbH\n`
	for _, c := range []struct{ payload, state, says string }{
		{rows, "extracted", "Read as csv: 1 transactions new, 0 changed, 0 known, 0 findings; evidence `prs_"},
		{rows + `2025-04-03,1.005,EUR,Acme GmbH\n`, "failed", "Refused: `Line 3"},
	} {
		got, _, err := use(t, contribute, who, fmt.Sprintf(`{"payload":"%s","mime_type":"text/csv"}`, c.payload))
		must(t, err)
		name := got["raw_id"].(string)
		before, text, err := use(t, get, who, fmt.Sprintf(`{"raw_id":%q}`, name))
		must(t, err)
		same(t, "parsed before", len(before["parsed"].([]any)), 0)
		if !strings.Contains(text, "No parser has an output") {
			t.Errorf("before: %s", text)
		}
		_, err = intake.Take(t.Context(), who.Tenant, "req_1", name)
		must(t, err)
		after, text, err := use(t, get, who, fmt.Sprintf(`{"raw_id":%q}`, name))
		must(t, err)
		report := after["parsed"].([]any)[0].(map[string]any)
		same(t, "state", report["state"].(string)+" "+after["state"].(string), c.state+" "+c.state)
		if !strings.Contains(text, c.says) {
			t.Errorf("%s does not say %s", text, c.says)
		}
	}
}
