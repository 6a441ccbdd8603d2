package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// large is a document of 200 rules as a company may have them: four conditions
// each, on amounts, lists of 1,000 payees, caps and hours.
func large(t testing.TB) policy.Document {
	t.Helper()
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf(`"cp_%026d"`, i))
	}
	var lists []string
	for i := range 5 {
		lists = append(lists, fmt.Sprintf(`"list.%d":[%s]`, i, strings.Join(ids, ",")))
	}
	kinds := []string{
		`"counterparty.in":["list.%d"],"counterparty.risk_level.lte":"medium","amount.lte":{"amount":"%d.00","currency":"USD"},"spend_in_window":{"window":"24h","per":"agent","lte":{"amount":"25000.00","currency":"USD"}}`,
		`"counterparty.not_in":["list.%d"],"counterparty.verified_status.in":["document_verified"],"amount.gt":{"amount":"%d.00","currency":"USD"},"count_in_window":{"window":"1h","per":"tenant","lte":50}`,
		`"counterparty.in":["list.%d"],"agent.role.in":["ap","r%d"],"obligation.linked":true,"time_window":{"days":["mon","tue","wed","thu","fri"],"from":"08:00","to":"18:00","zone":"Europe/Berlin"}`,
		`"counterparty.in":["list.%d"],"source_account.in":["acct_8231","acct_%d"],"action.in":["wire","ach_outbound"],"counterparty.type.in":["vendor","merchant"]`,
	}
	var rules []string
	for i := range 200 {
		when := fmt.Sprintf(kinds[i%len(kinds)], i%5, 100+i)
		rules = append(rules, bounded(fmt.Sprintf("rule.%d", i), []string{"auto", "confirm", "reject", "auto"}[i/4%4], when))
	}
	return parsed(t, `{"version":1,"lists":{`+strings.Join(lists, ",")+`},"rules":[`+strings.Join(rules, ",")+`]}`)
}

// BenchmarkEvaluate200 is one judgement by 200 rules of four conditions, all of
// which apply. A proposal pays for two of them.
func BenchmarkEvaluate200(b *testing.B) {
	d, f := large(b), complete(b)
	f.Counterparty.ID = fmt.Sprintf("cp_%026d", 900)
	f.Promised = promises{"agent 24h USD": *amount(b, "900", "USD"), "tenant 1h": int64(4)}
	equal(b, "rules that apply", len(d.Evaluate(f).Trace), 200)
	b.ReportAllocs()
	for b.Loop() {
		d.Evaluate(f)
	}
}

// BenchmarkParse200 and BenchmarkLint1000 are paid once for a version.
func BenchmarkParse200(b *testing.B) {
	raw := []byte(text(b, large(b)))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := policy.Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLint1000(b *testing.B) {
	rules := make([]string, policy.MaxRules)
	for i := range rules {
		rules[i] = bounded(fmt.Sprintf("r%d", i), "auto", fmt.Sprintf(`"source_account.in":["acct_%d"],`, i)+upTo)
	}
	d := parsed(b, document(rules...))
	for b.Loop() {
		policy.Lint(d)
	}
}
