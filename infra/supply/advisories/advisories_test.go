package advisories_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/supply/advisories"
)

// report is what govulncheck says: what is only imported, what is reached, and
// the latter once more by another way.
const report = `{"config":{"scanner_name":"govulncheck"}}
{"progress":{"message":"Scanning"}}
{"osv":{"id":"GO-1"}}
{"finding":{"osv":"GO-1","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http"}]}}
{"finding":{"osv":"GO-2","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http","function":"Get"},{"module":"github.com/robotmoney/mcp","package":"x","function":"call","receiver":"*T"}]}}
{"finding":{"osv":"GO-2","trace":[{"module":"stdlib","package":"net/http","function":"Do"}]}}
{"finding":{"osv":"GO-3","trace":[{"module":"example.org/m","version":"v1.0.0","package":"example.org/m","function":"F"}]}}`

func TestRead(t *testing.T) {
	found, err := advisories.Read([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0] != (advisories.Finding{ID: "GO-2", Module: "stdlib", Found: "v1.26.8", Fixed: "v1.26.9", Trace: "x.*T.call"}) || found[1].ID != "GO-3" {
		t.Errorf("%+v", found)
	}
	if _, err := advisories.Read([]byte(`{"finding":`)); err == nil {
		t.Error("half a report is read")
	}
}

func TestJudge(t *testing.T) {
	found, err := advisories.Read([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		known map[string]string
		fails bool
		says  string
	}{
		{"none accepted", nil, true, "FOUND GO-3 in example.org/m v1.0.0, no version is free of it"},
		{"one accepted", map[string]string{"GO-2": "why"}, true, "KNOWN GO-2 in stdlib v1.26.8, free of it from v1.26.9: why"},
		{"all accepted", map[string]string{"GO-2": "why", "GO-3": "so", "GO-9": "gone"}, false, "ok    vulnerabilities: 2 reachable"},
	} {
		var out strings.Builder
		if err := advisories.Judge(found, c.known, "a copy", &out); (err != nil) != c.fails || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %v\n%s", c.name, err, out.String())
		}
	}
}
