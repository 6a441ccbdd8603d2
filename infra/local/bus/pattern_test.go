package bus_test

import (
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/bus"
)

const sample = `{"version":"0","id":"1","detail-type":"payment_intent.proposed","source":"robotmoney.mcp","account":"000000000000",
"resources":["arn:a","arn:b"],"detail":{"tenant":"acme","amount":"5000.00","n":300,"ok":true,"none":null,"tags":["x","y"],
"intent":{"id":"pi_1","state":"approved"},"lines":[{"sku":"a"},{"sku":"b"}],"empty":[]}}`

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{`{"source":["robotmoney.mcp"]}`, true},
		{`{"source":["robotmoney.MCP"]}`, false},
		{`{"source":["a","robotmoney.mcp"],"detail-type":["payment_intent.proposed"]}`, true},
		{`{"source":["robotmoney.mcp"],"detail-type":["other"]}`, false},
		{`{"detail":{"intent":{"state":["approved"]}}}`, true},
		{`{"detail":{"intent":{"state":["rejected"]}}}`, false},
		{`{"detail":{"intent":["approved"]}}`, false},
		{`{"detail":{"n":[300]}}`, true},
		{`{"detail":{"n":[300.0]}}`, false}, // numbers are compared as they are written
		{`{"detail":{"n":["300"]}}`, false},
		{`{"detail":{"ok":[true]}}`, true},
		{`{"detail":{"none":[null]}}`, true},
		{`{"detail":{"missing":[null]}}`, false},
		{`{"resources":["arn:b"]}`, true},
		{`{"resources":[{"prefix":"arn:"}]}`, true},
		{`{"detail-type":[{"prefix":"payment_intent."}]}`, true},
		{`{"detail-type":[{"prefix":"proof."}]}`, false},
		{`{"detail-type":[{"suffix":".proposed"}]}`, true},
		{`{"detail":{"tenant":[{"equals-ignore-case":"ACME"}]}}`, true},
		{`{"detail":{"n":[{"prefix":"3"}]}}`, false},
		{`{"detail":{"tenant":[{"anything-but":"globex"}]}}`, true},
		{`{"detail":{"tenant":[{"anything-but":["globex","acme"]}]}}`, false},
		{`{"detail":{"tenant":[{"anything-but":{"prefix":"ac"}}]}}`, false},
		{`{"detail":{"n":[{"anything-but":300}]}}`, false},
		{`{"detail":{"missing":[{"anything-but":"x"}]}}`, false},
		{`{"detail":{"tenant":[{"exists":true}]}}`, true},
		{`{"detail":{"none":[{"exists":true}]}}`, true},
		{`{"detail":{"tenant":[{"exists":false}]}}`, false},
		{`{"detail":{"missing":[{"exists":false}]}}`, true},
		{`{"detail":{"missing":{"deep":[{"exists":false}]}}}`, true},
		{`{"detail":{"intent":[{"exists":true}]}}`, false}, // only leaves exist
		{`{"detail":{"tags":["y"]}}`, true},
		{`{"detail":{"tags":["z",{"prefix":"x"}]}}`, true},
		{`{"detail":{"lines":{"sku":["b"]}}}`, true},
		{`{"detail":{"lines":{"sku":["c"]}}}`, false},
		{`{"detail":{"empty":[{"exists":true}]}}`, false},
	} {
		p, err := bus.ParsePattern([]byte(c.pattern))
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := p.Match([]byte(sample)); got != c.want {
			t.Errorf("%s: got %v", c.pattern, got)
		}
	}
}

func TestPatternsNotUnderstood(t *testing.T) {
	for _, pattern := range []string{
		``, `null`, `[]`, `{}`, `{"source":"x"}`, `{"source":[]}`, `{"detail":{}}`, `{"source":[["x"]]}`, `{"source":["x"]} {}`,
		`{"$or":[{"source":["x"]}]}`, `{"detail":{"n":[{"numeric":[">",1]}]}}`, `{"source":[{"wildcard":"*"}]}`,
		`{"source":[{"exists":"yes"}]}`, `{"source":[{"prefix":""}]}`, `{"source":[{"prefix":1}]}`, `{"source":[{}]}`,
		`{"source":[{"prefix":"a","suffix":"b"}]}`, `{"source":[{"anything-but":[]}]}`, `{"source":[{"anything-but":{"suffix":"x"}}]}`,
		`{"source":[{"anything-but":[true]}]}`, `{"source":[{"anything-but":null}]}`,
	} {
		if _, err := bus.ParsePattern([]byte(pattern)); err == nil {
			t.Errorf("accepted %s", pattern)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(everything, sample)
	f.Add(`{"detail":{"lines":{"sku":[{"anything-but":["c",1]}]},"missing":{"deep":[{"exists":false}]}}}`, sample)
	f.Fuzz(func(t *testing.T, pattern, event string) {
		p, err := bus.ParsePattern([]byte(pattern))
		if err != nil {
			return
		}
		if once := p.Match([]byte(event)); once != p.Match([]byte(event)) {
			t.Error("not the same twice")
		}
	})
}

func TestRate(t *testing.T) {
	for expression, want := range map[string]time.Duration{
		"rate(1 minute)": time.Minute, "rate(5 minutes)": 5 * time.Minute, "rate(1 hour)": time.Hour,
		"rate(12 hours)": 12 * time.Hour, "rate(1 day)": 24 * time.Hour, "rate(7 days)": 168 * time.Hour,
	} {
		got, err := bus.ParseRate(expression)
		if err != nil || got != want {
			t.Errorf("%s: %s %v", expression, got, err)
		}
	}
	for _, expression := range []string{
		"", "rate(1 minutes)", "rate(2 minute)", "rate(0 minutes)", "rate(05 minutes)", "rate(1 second)", "rate( 1 minute)",
		"rate(5 minutes) ", "cron(0 12 * * ? *)", "rate(-1 days)", "rate(9999999 days)", "rate(٣ days)",
	} {
		if got, err := bus.ParseRate(expression); err == nil {
			t.Errorf("%q accepted as %s", expression, got)
		}
	}
}

func FuzzRate(f *testing.F) {
	f.Add("rate(5 minutes)")
	f.Fuzz(func(t *testing.T, expression string) {
		if d, err := bus.ParseRate(expression); err == nil && d < time.Minute {
			t.Errorf("%q is %s", expression, d)
		}
	})
}
