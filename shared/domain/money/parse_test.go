package money_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/money"
)

var nines = strings.Repeat("9", 38)

func TestParsePrints(t *testing.T) {
	for _, c := range []struct{ code, text, want, minor string }{
		{"USD", "0", "0.00", "0"},
		{"USD", "100", "100.00", "10000"},
		{"USD", "100.0", "100.00", "10000"},
		{"USD", "100.00", "100.00", "10000"},
		{"USD", "61404.12", "61404.12", "6140412"},
		{"USD", "0.07", "0.07", "7"},
		{"USD", "-0.07", "-0.07", "-7"},
		{"USD", "-0.00", "0.00", "0"},
		{"USD", "-12.5", "-12.50", "-1250"},
		{"JPY", "100", "100", "100"},
		{"JPY", "-1", "-1", "-1"},
		{"KWD", "0.5", "0.500", "500"},
		{"CLF", "1.0001", "1.0001", "10001"},
		{"USDC", "0.000001", "0.000001", "1"},
		{"USD", "100000000000000000.00", "100000000000000000.00", "10000000000000000000"},
		{"USD", "184467440737095516.16", "184467440737095516.16", "18446744073709551616"},
		{"USD", nines[:36] + ".99", nines[:36] + ".99", nines},
		{"USD", "-" + nines[:36] + ".99", "-" + nines[:36] + ".99", "-" + nines},
		{"JPY", nines, nines, nines},
	} {
		t.Run(c.code+" "+c.text, func(t *testing.T) {
			a := amount(t, c.text, c.code)
			equal(t, "String", a.String(), c.want)
			equal(t, "Minor", a.Minor(), c.minor)
			back, err := money.FromMinor(c.minor, a.Currency())
			noError(t, err)
			equal(t, "FromMinor", back, a)
		})
	}
}

// TestParseMessages holds the messages word for word: callers show them.
func TestParseMessages(t *testing.T) {
	long := strings.Repeat("1", 41)
	for _, c := range []struct{ code, text, want string }{
		{"USD", "1.001", `amount "1.001": USD has 2 decimals, 3 came`},
		{"USD", "1.100", `amount "1.100": USD has 2 decimals, 3 came`},
		{"JPY", "1.0", `amount "1.0": JPY takes no decimals here, 1 came`},
		{"KWD", "1.0000", `amount "1.0000": KWD has 3 decimals, 4 came`},
		{"USDC", "0.0000001", `amount "0.0000001": USDC has 6 decimals, 7 came`},
		{"USD", "-1", `amount "-1": USD must be zero or more here, a minus came`},
		{"USD", "007", `amount "007": a leading zero came; write the number without it`},
		{"USD", "00.10", `amount "00.10": a leading zero came; write the number without it`},
		{"USD", nines[:37], `amount "` + nines[:37] + `": USD has room for 36 digits before the point, 37 came`},
		{"USD", long, `amount "` + long[:40] + `"…: USD takes at most 40 characters, 41 came`},
		{"JPY", nines + "0", `amount "` + nines + `0": JPY has room for 38 digits before the point, 39 came`},
		{"USD", "", `amount "": USD takes a plain decimal such as 1250.05`},
		{"JPY", "", `amount "": JPY takes a plain decimal such as 1250`},
	} {
		_, err := money.ParseAmount(c.text, money.MustParse(c.code))
		says(t, err, c.want)
	}
	_, err := money.FromMinor("1.5", money.MustParse("USD"))
	says(t, err, `minor units "1.5": USD takes no decimals here, 1 came`)
	_, err = money.ParseAmount("1", money.Currency{})
	says(t, err, `amount "1": no currency`)
}

// TestRefusedSpellings is what other decimal readers take and this one must not.
func TestRefusedSpellings(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"minus alone":        "-",
		"two minuses":        "--1",
		"plus":               "+1",
		"minus behind":       "1-",
		"accounting":         "(1)",
		"point alone":        ".",
		"no whole part":      ".5",
		"no decimals":        "1.",
		"two points":         "1.2.3",
		"exponent":           "1e2",
		"capital exponent":   "1E2",
		"hexadecimal":        "0x10",
		"underscore":         "1_000",
		"grouping":           "1,000",
		"decimal comma":      "1,5",
		"apostrophe":         "1'000",
		"leading blank":      " 1",
		"trailing blank":     "1 ",
		"inner blank":        "1 000",
		"line break":         "1\n",
		"zero byte":          "1\x00",
		"no-break space":     "1\u00a0000",
		"Arabic digits":      "١٢",
		"full-width digits":  "１２",
		"Unicode minus":      "−1",
		"infinity":           "Inf",
		"not a number":       "NaN",
		"fraction":           "1/2",
		"currency sign":      "$1",
		"invalid UTF-8":      "1\xff",
		"minus leading zero": "-01",
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := money.ParseSigned(text, money.MustParse("USD")); err == nil || a != (money.Amount{}) {
				t.Errorf("ParseSigned(%q) = %v, %v", text, a, err)
			}
			if a, err := money.FromMinor(text, money.MustParse("USD")); err == nil {
				t.Errorf("FromMinor(%q) = %v", text, a)
			}
		})
	}
}

// currencies has one of each exponent.
var currencies = []money.Currency{
	money.MustParse("JPY"), money.MustParse("USD"), money.MustParse("KWD"),
	money.MustParse("CLF"), money.MustParse("USDC"),
}

// exact is an amount's value by other arithmetic.
func exact(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no decimal", text)
	}
	return r
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"0", "-0", "100", "1.10", "-12.5", "007", "1e5", ".5", "5.", "1 ", nines, "-" + nines[:36] + ".99", "１"} {
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, pick uint8) {
		c := currencies[int(pick)%len(currencies)]
		a, err := money.ParseSigned(text, c)
		plain, plainErr := money.ParseAmount(text, c)
		equal(t, "ParseAmount refuses", plainErr != nil, err != nil || strings.HasPrefix(text, "-"))
		if plainErr == nil {
			equal(t, "ParseAmount", plain, a)
		}
		if err != nil {
			return
		}
		printed := a.String()
		if exact(t, printed).Cmp(exact(t, text)) != 0 {
			t.Errorf("%q printed as %q", text, printed)
		}
		_, decimals, _ := strings.Cut(printed, ".")
		equal(t, "decimals", len(decimals), c.Exponent())
		back, err := money.ParseSigned(printed, c)
		noError(t, err)
		equal(t, "read back", back, a)
		equal(t, "printed again", back.String(), printed)
		back, err = money.FromMinor(a.Minor(), c)
		noError(t, err)
		equal(t, "from minor units", back, a)
	})
}
