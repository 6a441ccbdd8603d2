package books_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/eval/books"
)

// export is a small book in which every sum can be done in the head.
const export = `{
"Accounts":[{"id":"acct_1","account_type":"bank_checking","currency":"USD","status":"active","current_balance":"100.00","available_balance":"90.00"},
 {"id":"acct_2","account_type":"card","currency":"USD","status":"active","current_balance":"-5.00","available_balance":"10.00"}],
"Counterparties":[{"id":"cp_a","name":"Alpha Web","type":"vendor","aliases":["AW"],"risk_level":"low","verified_status":"unverified"},{"id":"cp_b","name":"Beta","type":"vendor","aliases":[]}],
"Transactions":[
 {"id":"tx_1","account_id":"acct_1","amount":"10.00","currency":"USD","direction":"outflow","transaction_date":"2025-08-31","counterparty_id":"cp_a","category":"rent","status":"cleared","reconciliation_status":"matched"},
 {"id":"tx_2","account_id":"acct_1","amount":"20.01","currency":"USD","direction":"outflow","transaction_date":"2025-09-01","counterparty_id":"cp_a","category":"rent","status":"posted","reconciliation_status":"unreconciled"},
 {"id":"tx_3","account_id":"acct_1","amount":"7","currency":"JPY","direction":"outflow","transaction_date":"2025-09-02","counterparty_id":"cp_b","category":"food","status":"posted"},
 {"id":"tx_4","account_id":"acct_1","amount":"99.00","currency":"USD","direction":"outflow","transaction_date":"2025-09-03","counterparty_id":"cp_b","category":"food","status":"failed"},
 {"id":"tx_5","account_id":"acct_1","amount":"50.00","currency":"USD","direction":"inflow","transaction_date":"2025-09-30","counterparty_id":"cp_b","category":"sales","status":"posted"}],
"Obligations":[
 {"id":"obl_1","type":"bill","counterparty_id":"cp_a","direction":"payable","amount_due":"5.00","currency":"USD","due_date":"2025-09-29","status":"upcoming"},
 {"id":"obl_2","type":"subscription","counterparty_id":"cp_b","direction":"payable","amount_due":"100.00","currency":"USD","due_date":"2025-10-05","status":"upcoming","recurrence":"FREQ=YEARLY"},
 {"id":"obl_3","type":"invoice","counterparty_id":"cp_b","direction":"receivable","amount_due":"30.00","currency":"USD","due_date":"2025-08-15","status":"upcoming"},
 {"id":"obl_4","type":"bill","counterparty_id":"cp_a","direction":"payable","amount_due":"8.00","currency":"USD","due_date":"2025-10-01","status":"paid"}],
"Invoices":[{"id":"inv_1","invoice_number":"N-1","counterparty_id":"cp_b","direction":"receivable","amount_due":"40.00","amount_paid":"10.00","currency":"USD","issue_date":"2025-08-01","due_date":"2025-08-15","status":"partial"}]}`

func TestExpect(t *testing.T) {
	b, err := books.Read(strings.NewReader(export), "2025-09-30")
	if err != nil {
		t.Fatal(err)
	}
	for operation, want := range map[string]string{
		"cash": "$90.00", "balance account=acct_2": "-$5.00 `acct_2`", "flow direction=outflow period=2025-09": "7 JPY $20.01", "flow direction=outflow category=rent period=2025": "$30.01",
		"net period=2025-09": "-7 JPY $29.99 $50.00 7 JPY $20.01", "average direction=outflow per=month period=2025-08-01..2025-10-01": "4 JPY $15.00", "average direction=outflow category=rent per=transaction period=2025-Q3": "$15.00",
		"top by=category direction=outflow n=2 period=2025-09": "`food` at 7 JPY `rent` at $20.01", "top by=counterparty direction=outflow n=1 period=2025-Q3": "`Beta` at 7 JPY `AW` at $30.01",
		"largest direction=outflow n=1 period=2025-Q3": "$20.01 $20.01 `tx_2`", "compare direction=outflow category=rent period=2025-09 against=2025-08": "$20.01 $10.00 up $10.01",
		"overdue": "`obl_1` $5.00", "due from=2025-09-30 until=2025-10-06": "`obl_2` $100.00", "payables": "$105.00", "receivables": "$30.00", "receivables overdue=yes": "$30.00", "aging": "31 to 60 $30.00",
		"invoice number=N-1": "`N-1`  is overdue $40.00 $10.00 $30.00", "subscriptions": "$8.33 `Beta` $8.33", "count period=2025-09": "3 ", "last n=2": "$50.00 `tx_5` $99.00 `tx_4`", "unreconciled period=2025-09": "1 ",
		"paidbefore counterparty=cp_a": "2025-09-01 `tx_2` Yes", "lastpayment counterparty=cp_b direction=inflow": "$50.00 2025-09-30 `tx_5`", "says a|b c": "a b c",
	} {
		e, err := b.Expect(operation)
		got := strings.TrimPrefix(strings.Join(append(slices.Concat(e.Lead, e.Must), e.Start), " "), " ")
		if err != nil || strings.TrimSuffix(got, " ") != strings.TrimSuffix(want, " ") {
			t.Errorf("%s: %q, %v, want %q", operation, got, err, want)
		}
	}
	for _, operation := range []string{"", "guess", "flow direction=outflow period=soon", "balance account=acct_9", "invoice number=N-9", "flow direction=outflow period=2019", "neverpaid counterparty=cp_a"} {
		if e, err := b.Expect(operation); err == nil {
			t.Errorf("%q expects %+v", operation, e)
		}
	}
}

// TestIndependent: what checks the answers links nothing of what gives them.
func TestIndependent(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "robotmoney") && !strings.Contains(line, "/infra/eval/books") {
			t.Errorf("it links %s", line)
		}
	}
}
