package brain_test

import (
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// hostile are values of every kind, for every argument.
var hostile = []string{
	`null`, `true`, `0`, `-1`, `1e400`, `9007199254740993`, `0.5`, `""`, `"x"`, `"AP8="`, `"\ud800"`, `"\u0000"`, `"` + strings.Repeat("é", 700) + `"`,
	`[]`, `[[[[]]]]`, `{}`, `{"agent_id":"agt_2"}`, `{"a":{"a":{"a":null}}}`, `{"__proto__":1,"constructor":{}}`, `"{\"a\":1}"`, `"[1"`, `"text/csv"`, `"a/b;c=d"`,
	`"base64"`, `"../../etc/passwd"`, `"tx_1"`, `"raw_1"`, `"` + strings.Repeat("../", 80) + `"`, `{"kind":"account","ref":"acct_1"}`, `[{"kind":1,"ref":[]}]`,
	`"approve"`, `"executed"`, `"acct_ops"`, `"cp_aws"`, `"1e3"`, `"１００"`, `"100.00"`, `"USD"`, `"usd"`, `"pi_1"`, `"prop_1"`, `"authz_1"`, `"authz_1#row"`, `{"kind":"Flag"}`, `{"kind":{}}`, `["tx_1","tx_1"]`,
	`"` + strings.Repeat("0", 64) + `"`, `"0x` + strings.Repeat("0", 40) + `"`,
}

// wrongs are what arguments may be refused for: each tells the caller what to do.
var wrongs = []fault.Code{
	fault.InvalidArgument, fault.Conflict, fault.RawArtifactNotFound, fault.LedgerRowNotFound, fault.WikiPageNotFound,
	fault.IntentNotFound, fault.AuthorizationNotFound, fault.ProposalNotFound, fault.ActorUnresolved,
}

// good are arguments that a tool takes, for one of them to be replaced.
func good(t *testing.T, tool catalog.Tool) map[string]json.RawMessage {
	t.Helper()
	for _, e := range examples {
		if e.tool == tool.Name {
			arguments := map[string]json.RawMessage{}
			must(t, json.Unmarshal([]byte(e.arguments), &arguments))
			return arguments
		}
	}
	t.Fatalf("%s has no example", tool.Name)
	return nil
}

func properties(t *testing.T, tool catalog.Tool) []string {
	t.Helper()
	in, _ := tool.Schemas()
	var schema struct{ Properties map[string]any }
	must(t, json.Unmarshal(in, &schema))
	names := []string{"unknown"}
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Arguments of any shape are answered or refused with a reason; nothing fails on
// our side and nothing panics. Agents and people send them to every tool: values
// of all kinds in one argument of a good call, and in all of them.
func TestHostileArguments(t *testing.T) {
	o, random := newOffice(t), mathrand.New(mathrand.NewPCG(1, 2))
	for _, tool := range o.tools {
		names := properties(t, tool)
		send := func(arguments string) {
			for _, who := range []string{"agt_1", "mbr_ada"} {
				_, _, err := use(t, tool, staff(t, "acme", who), arguments)
				if err != nil && (!slices.Contains(wrongs, fault.Of(err).Code) || len(fault.Of(err).Message) > 1000) {
					t.Errorf("%s %s as %s: %.1200v", tool.Name, arguments, who, err)
				}
			}
		}
		for _, name := range names {
			for _, value := range hostile {
				arguments := good(t, tool)
				arguments[name] = json.RawMessage(value)
				send(joined(arguments))
			}
		}
		for range 100 {
			arguments := map[string]json.RawMessage{}
			for _, name := range names {
				if random.IntN(3) > 0 {
					arguments[name] = json.RawMessage(hostile[random.IntN(len(hostile))])
				}
			}
			send(joined(arguments))
		}
	}
}

// joined writes arguments as they are, well formed or not.
func joined(arguments map[string]json.RawMessage) string {
	var members []string
	for name, value := range arguments {
		members = append(members, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(members, ",") + "}"
}
