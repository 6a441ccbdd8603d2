package jsonlines_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement/jsonlines"
	"github.com/robotmoney/mcp/shared/domain/statement/listing"
)

func read(text string) (string, error) { return listing.Of(jsonlines.Read(strings.NewReader(text))) }

const account = `{"type":"account","account":"A1","currency":"EUR","bank":"B","name":"Main","account_type":"bank_checking","statement_id":"S","from":"2025-04-01","to":"2025-04-30"}` + "\n"

func TestLines(t *testing.T) {
	const head = "statement statement id=S account=A1 bank=B type=bank_checking name=Main from=2025-04-01 to=2025-04-30 currency=EUR\n"
	for _, c := range []struct{ name, text, want string }{
		{"an account", account, head},
		{"a transaction", account + `{"type":"transaction","amount":"12.5","direction":"outflow","date":"2025-04-02","id":"x","description":"Rent","counterparty":"L","counterparty_account":"N","counterparty_bank":"C","end_to_end_id":"E","value_date":"2025-04-03","kind":"card"}`,
			head + "entry 2025-04-02 outflow 12.50 EUR posted value=2025-04-03 type=card bank=x e2e=E name=L account=N bic=C memo=Rent\n"},
		{"the sign", account + `{"type":"transaction","amount":-12.50,"date":"2025-04-02","status":"pending","reversal":true}`, head + "entry 2025-04-02 outflow 12.50 EUR pending reversal\n"},
		{"a number's digits", account + `{"type":"transaction","amount":90071992547409.93,"date":"2025-04-02"}`, head + "entry 2025-04-02 inflow 90071992547409.93 EUR posted\n"},
		{"balances", account + `{"type":"balance","level":"opening","amount":"-1.00","date":"2025-04-01"}` + "\r\n\r\n" + `{"type":"balance","amount":0}`, head + "balance opening -1.00 EUR 2025-04-01\nbalance ledger 0.00 EUR\n"},
		{"accounts of the lines", `{"type":"transaction","account":"A","currency":"JPY","amount":"5","date":"2025-04-02"}` + "\n" + `{"type":"transaction","account":"A","currency":"USDC","amount":"5.000001","date":"2025-04-02"}` + "\n" + `{"type":"balance","account":"B","currency":"EUR","amount":"5"}`,
			"statement statement account=A\nentry 2025-04-02 inflow 5 JPY posted\nentry 2025-04-02 inflow 5.000001 USDC posted\nstatement statement account=B\nbalance ledger 5.00 EUR\n"},
		{"a record", `{"type":"invoice","a":{"a":[1,{"b":2}],"c":null}}`, "record invoice " + `{"type":"invoice","a":{"a":[1,{"b":2}],"c":null}}` + "\n"},
	} {
		if got, err := read(c.text); err != nil || got != c.want {
			t.Errorf("%s: got\n%s%v\nwant\n%s", c.name, got, err, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	line := func(fields string) string { return account + `{"type":"transaction",` + fields + `}` }
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "\n\n", "the file has no line"},
		{"no JSON", account + "{", "Line 2: the line is no JSON object that is read: it is no JSON"},
		{"an array", `[{"type":"account"}]`, "it does not begin with {"},
		{"two in a line", `{"type":"invoice"} {"type":"invoice"}`, "or something follows the object"},
		{"a name twice", line(`"amount":"1","amount":"2"`), `the name "amount" is there twice`},
		{"a name twice in capitals", line(`"amount":"1","Amount":"2"`), `the name "Amount" is there twice`},
		{"a name twice deep inside", `{"type":"invoice","a":[{"b":1,"b":2}]}`, `the name "b" is there twice`},
		{"no type", account + `{"amount":"1"}`, `the line's type is unknown; expected account`},
		{"another type", `{"type":"card"}`, `Line 1 (card/type): the line's type is unknown "card"`},
		{"a type that is none", `{"type":5}`, "the line's type cannot be read"},
		{"an unknown field", line(`"amount":"1","date":"2025-04-02","sum":1`), `Line 2 (transaction/sum): the line has a field that its type does not have "sum"; expected one of type, account`},
		{"a field in capitals", line(`"AMOUNT":"1","date":"2025-04-02"`), `the line has a field that its type does not have "AMOUNT"`},
		{"an escaped name twice", line(`"amount":"1","\u0061mount":"2"`), `the name "amount" is there twice`},
		{"a wrong kind", line(`"amount":"1","date":5`), `Line 2 (transaction/date): the value is of the wrong kind "number"; expected string`},
		{"an amount", line(`"amount":"1.005","date":"2025-04-02"`), `Line 2 (transaction/amount): the amount cannot be read "1.005"; expected a decimal such as 12.50, for EUR`},
		{"an exponent", line(`"amount":1e2,"date":"2025-04-02"`), `the amount cannot be read "1e2"`},
		{"an amount that is none", line(`"amount":true,"date":"2025-04-02"`), `the amount cannot be read "true"`},
		{"a sign too many", line(`"amount":"-1","direction":"outflow","date":"2025-04-02"`), "the amount has a sign besides its direction"},
		{"a direction", line(`"amount":"1","direction":"transfer","date":"2025-04-02"`), `the direction is unknown "transfer"`},
		{"no date", line(`"amount":"1"`), "the transaction has no date"},
		{"a date", line(`"amount":"1","date":"2025-02-30"`), `the date cannot be read "2025-02-30"`},
		{"a time", line(`"amount":"1","date":"2025-02-20T00:00:00Z"`), `the date cannot be read`},
		{"a status", line(`"amount":"1","date":"2025-04-02","status":"odd"`), `the status is unknown "odd"`},
		{"no account", `{"type":"transaction","amount":"1","date":"2025-04-02"}`, "nothing says which account the line is of"},
		{"no currency", `{"type":"transaction","account":"A","amount":"1","date":"2025-04-02"}`, "nothing says which currency the amount is in"},
		{"a currency", `{"type":"account","account":"A","currency":"EUX"}`, `the currency is unknown "EUX"`},
		{"an account without one", `{"type":"account"}`, "the account is missing"},
		{"a level", account + `{"type":"balance","level":"odd","amount":"1"}`, `the level is unknown "odd"`},
		{"a long line", `{"type":"invoice","a":"` + strings.Repeat("x", 1<<20) + `"}`, "the line is too long"},
		{"a deep line", `{"type":"invoice","a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "it has too many parts"},
		{"a wide line", `{"type":"invoice","a":[` + strings.Repeat("1,", 2000) + `1]}`, "it has too many parts"},
		{"no UTF-8", "{\"type\":\"invoice\",\"a\":\"\xe9\"}", "a byte is no text in UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.text)
			if !fault.Is(err, fault.InvalidArgument) {
				t.Fatalf("got %v", err)
			}
			if got := fault.Of(err).Message; !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(account + `{"type":"transaction","amount":-1,"date":"2025-04-02"}`))
	f.Add([]byte(`{"type":"invoice","a":[{}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := read(string(content))
		again, errAgain := read(string(content))
		if got != again || (err == nil) != (errAgain == nil) {
			t.Errorf("two readings differ: %q, %v and %q, %v", got, err, again, errAgain)
		}
		if err != nil && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("the error has no code of the file's: %v", err)
		}
	})
}
