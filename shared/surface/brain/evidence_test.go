package brain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/evidence"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// evidenceTool is the tool over a table with one transaction of acme.
func evidenceTool(t *testing.T) catalog.Tool {
	t.Helper()
	s := table{}
	s.put(key.Ledger(tenant(t, "acme"), id.Transaction, "tx_1"), `{"id":"tx_1","direction":"outflow","amount":"1.00","currency":"USD","description":"pay `+"`now`"+`"}`)
	return brain.EvidenceTool(&evidence.Resolver{Store: s, Now: func() time.Time { return time.Date(2025, 9, 30, 0, 0, 0, 0, time.UTC) }})
}

func TestEvidence(t *testing.T) {
	tool := evidenceTool(t)
	good := `{"kind":"transaction","ref":"tx_1"}`
	for _, c := range []struct {
		name, arguments string
		want            []string // resolvable, missing or neither, by result
	}{
		{"one of each", `{"refs":[` + good + `,{"kind":"transaction","ref":"tx_none"},{"kind":"spaceship","ref":"x"}]}`, []string{"there", "missing", "neither"}},
		{"none", `{"refs":[]}`, nil},
		{"as JSON text", `{"refs":"[` + strings.ReplaceAll(good, `"`, `\"`) + `]"}`, []string{"there"}},
		{"one as JSON text", `{"refs":["{\"kind\":\"transaction\",\"ref\":\"tx_1\"}"]}`, []string{"there"}},
		{"with more members", `{"refs":[{"kind":"transaction","ref":"tx_1","note":1}],"toolCallId":1}`, []string{"there"}},
		{"malformed beside a good one", `{"refs":[null,1,"x",[],{},{"kind":1,"ref":{}},{"kind":"transaction"},{"kind":"transaction","kind":"account","ref":"tx_1"},` + good + `]}`,
			[]string{"neither", "neither", "neither", "neither", "neither", "neither", "neither", "neither", "there"}},
		{"long ones", `{"refs":[{"kind":"` + strings.Repeat("k", 5000) + `","ref":"` + strings.Repeat("é", 5000) + `"},{"kind":"wiki_page","ref":"/` + strings.Repeat("a", 5000) + `"}]}`, []string{"neither", "neither"}},
		{"the most", `{"refs":[` + strings.Repeat(good+",", 49) + good + `]}`, strings.Split(strings.Repeat("there ", 49)+"there", " ")},
	} {
		got, text, err := use(t, tool, agent(t, "acme"), c.arguments)
		must(t, err)
		var what []string
		for _, r := range got["results"].([]any) {
			result := r.(map[string]any)
			what = append(what, map[[2]any]string{{true, false}: "there", {false, true}: "missing", {false, false}: "neither"}[[2]any{result["resolvable"], result["not_found"]}])
			if len(result["kind"].(string)) > 300 || len(result["ref"].(string)) > 300 {
				t.Errorf("%s: the echo is long", c.name)
			}
		}
		same(t, c.name, fmt.Sprint(what), fmt.Sprint(c.want))
		if strings.Count(text, "\n") != len(c.want) || len(text) > 60_000 {
			t.Errorf("%s: text %q", c.name, text)
		}
	}
	for _, arguments := range []string{`{}`, `{"refs":null}`, `{"refs":1}`, `{"refs":{}}`, `{"refs":[` + strings.Repeat(good+",", 50) + good + `]}`} {
		_, _, err := use(t, tool, agent(t, "acme"), arguments)
		same(t, fmt.Sprintf("%.30s", arguments), fault.Of(err).Code, fault.InvalidArgument)
	}
	got, text, err := use(t, tool, agent(t, "acme"), `{"refs":[`+good+`]}`)
	must(t, err)
	result := got["results"].([]any)[0].(map[string]any)
	same(t, "link", result["deep_link"], any("brain://ledger/transactions/tx_1"))
	if strings.Contains(text, "`now`") {
		t.Errorf("a memo leaves its quotation marks: %s", text)
	}
	in, _ := tool.Schemas()
	var schema struct {
		Properties struct {
			Refs struct {
				MaxItems int
				Items    struct {
					Type     string
					Required []string
				}
			}
		}
	}
	must(t, json.Unmarshal(in, &schema))
	same(t, "items", fmt.Sprint(schema.Properties.Refs), "{50 {object [kind ref]}}")
}
