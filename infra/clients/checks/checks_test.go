package checks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/clients/checks"
)

func TestTable(t *testing.T) {
	table, err := checks.Read("checks.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Clients {
		own := table.For(c)
		if len(own) != len(table.Checks) && len(c.Cannot) == 0 {
			t.Errorf("%s makes %d checks of %d", c.Name, len(own), len(table.Checks))
		}
		for name, sight := range c.Sees {
			if sight.Why == "" {
				t.Errorf("%s shows something else in %q, and nobody says why", c.Name, name)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"an unknown member", `{"checks":[{"name":"a","do":"list","wat":"tools"}]}`, "wat"},
		{"an unknown verb", `{"checks":[{"name":"a","do":"dance"}]}`, "dance"},
		{"an unknown verb nobody can", `{"clients":[{"name":"c","cannot":{"dance":"no legs"}}]}`, "dance"},
		{"a sight of no check", `{"clients":[{"name":"c","sees":{"gone":{"why":"x"}}}]}`, "gone"},
		{"what nobody keeps", `{"checks":[{"name":"a","do":"call","arguments":{"id":"$id"},"keep":{"id":"x"}}]}`, "$id"[1:]},
		{"no pattern to keep", `{"checks":[{"name":"a","do":"call","keep":{"id":"("}}]}`, "("},
		{"no pattern", `{"checks":[{"name":"a","do":"list","shows":["("]}]}`, "("},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "checks.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := checks.Read(path); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFor(t *testing.T) {
	table := checks.Table{Checks: []checks.Check{
		{Name: "a", Do: "read", Shows: []string{"x"}}, {Name: "b", Do: "complete"}, {Name: "c", Do: "connect", Shows: []string{"z"}},
	}}
	own := table.For(checks.Client{
		Cannot: map[string]string{"complete": "why"},
		Speaks: "2026-07-28",
		Sees:   map[string]checks.Sight{"a": {Shows: []string{"y"}}},
	})
	if len(own) != 2 || own[0].Shows[0] != "y" || table.Checks[0].Shows[0] != "x" || len(own[1].Shows) != 2 || own[1].Shows[1] != "2026-07-28" {
		t.Errorf("%+v of %+v", own, table.Checks)
	}
}

func TestJudge(t *testing.T) {
	read := checks.Check{Shows: []string{"61404.12"}}
	refused := checks.Check{Refused: true, Shows: []string{"not_found", "tx_0"}}
	for _, c := range []struct {
		name  string
		check checks.Check
		got   checks.Outcome
		fine  bool
	}{
		{"a result that shows it", read, checks.Outcome{OK: true, Text: `"amount":"61404.12"`}, true},
		{"a result that does not", read, checks.Outcome{OK: true, Text: `{}`}, false},
		{"an error in place of a result", read, checks.Outcome{Text: "61404.12"}, false},
		{"a refusal", refused, checks.Outcome{Text: "NOT_FOUND tx_0"}, true},
		{"half of a refusal", refused, checks.Outcome{Text: "not_found"}, false},
		{"a result in place of a refusal", refused, checks.Outcome{OK: true, Text: "not_found tx_0"}, false},
		{"an error that shows nothing", refused, checks.Outcome{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if wrong := c.check.Judge(c.got); (wrong == "") != c.fine {
				t.Errorf("judged %q", wrong)
			}
		})
	}
}
