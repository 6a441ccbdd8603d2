package money_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/money"
)

func TestExponents(t *testing.T) {
	for code, exponent := range map[string]int{
		"JPY": 0, "KRW": 0, "CLP": 0, "ISK": 0, "VND": 0, "UGX": 0, "XOF": 0, "XPF": 0, "UYI": 0,
		"USD": 2, "EUR": 2, "KES": 2, "CHF": 2, "HUF": 2, "MGA": 2, "MRU": 2, "XCG": 2, "ZWG": 2, "XAD": 2,
		"KWD": 3, "BHD": 3, "IQD": 3, "JOD": 3, "LYD": 3, "OMR": 3, "TND": 3,
		"CLF": 4, "UYW": 4,
		"USDC": 6,
	} {
		c, err := money.Parse(code)
		noError(t, err)
		equal(t, code+" exponent", c.Exponent(), exponent)
		equal(t, "code", c.String(), code)
	}
}

// TestCurrencyCount tries every text of three capitals: the list has as many
// codes as the published one, each once, none of them mistyped into two.
func TestCurrencyCount(t *testing.T) {
	count := map[int]int{}
	for i := range 26 * 26 * 26 {
		code := string([]byte{'A' + byte(i/676), 'A' + byte(i/26%26), 'A' + byte(i%26)})
		if c, err := money.Parse(code); err == nil {
			equal(t, "code", c.String(), code)
			count[c.Exponent()]++
		}
	}
	equal(t, "codes by exponent", fmt.Sprint(count), "map[0:17 2:139 3:7 4:2]")
}

func TestParseRefuses(t *testing.T) {
	for name, code := range map[string]string{
		"empty":           "",
		"lower case":      "usd",
		"blank":           "USD ",
		"zero byte":       "USD\x00",
		"withdrawn":       "HRK",
		"metal":           "XAU",
		"no currency":     "XXX",
		"another token":   "USDT",
		"lower-case coin": "usdc",
		"look-alike":      "ЕUR",
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := money.Parse(code); err == nil || !c.IsZero() {
				t.Errorf("Parse(%q) = %v, %v", code, c, err)
			}
		})
	}
	_, err := money.Parse("usd")
	says(t, err, `currency "usd": want an ISO 4217 code in capitals that has a minor unit, such as USD, or USDC`)
}

func TestMustParsePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("MustParse took an unknown code")
		}
	}()
	money.MustParse("ABC")
}

func TestCurrencyAsJSON(t *testing.T) {
	type row struct {
		Currency money.Currency `json:"currency"`
	}
	text, err := json.Marshal(row{money.MustParse("USDC")})
	noError(t, err)
	equal(t, "row", string(text), `{"currency":"USDC"}`)

	var back row
	noError(t, json.Unmarshal(text, &back))
	equal(t, "currency", back.Currency, money.MustParse("USDC"))

	if _, err := json.Marshal(row{}); err == nil {
		t.Error("a row without a currency was written")
	}
	if err := json.Unmarshal([]byte(`{"currency":""}`), &back); err == nil {
		t.Error("a row without a currency was read")
	}
}
