package allowance_test

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// bucketName is a counter's name as this package writes it: read here by another
// reader than the one under test.
var bucketName = regexp.MustCompile(`^([hdwm])(0|-?[1-9][0-9]{0,18})\.([a-z]+)\.([A-Za-z]+)$`)

// FuzzNames: whatever stands in an item, a name counts for the one window, class
// and currency it was written for, and for nothing else.
func FuzzNames(f *testing.F) {
	day := noon.Unix() / 3600
	for _, name := range []string{
		fmt.Sprintf("d%d.out.USD", day), fmt.Sprintf("d%d.out.n", day), fmt.Sprintf("d%d.in.USD", day), fmt.Sprintf("h%d.out.USD", noon.Unix()/300),
		"d99999999999999999999.out.USD", "d-1.out.USD", "d+1.out.USD", "d.out.USD", "ever.out.USD", "open", "", ".out.USD", "d1..out.USD", "dd1.out.USD",
		fmt.Sprintf("d%d.out.USDC", day), fmt.Sprintf("d%d.chain.out.USD", day), "m9223372036854775807.out.n", fmt.Sprintf("d0%d.out.USD", day),
	} {
		f.Add(name, int64(500))
	}
	f.Fuzz(func(t *testing.T, name string, n int64) {
		if n < 0 {
			return
		}
		who := subject(t, "agt_1", "cp_1")
		k := key.Promises(who.Tenant, "agent", "agt_1")
		items := map[key.Key]record.Item{k: {Key: k, Numbers: map[string]*big.Int{name: big.NewInt(n)}}}
		book := allowance.Open(who, noon, items)
		for _, window := range windows {
			want := new(big.Int)
			if letter, what := readName(name, window); letter && what == "USD" {
				want.SetInt64(n)
			}
			got, known := book.Spend(policy.PerAgent, window, money.MustParse("USD"))
			// Names that nobody writes, such as one with a plus, may count: that makes
			// less room and not more.
			if !known || got.Minor() != want.String() && (want.Sign() != 0 || bucketName.MatchString(name)) {
				t.Errorf("%s of %q: %s (known: %t), want %s", window, name, got.Minor(), known, want)
			}
		}
		moves := who.Moves()
		noError(t, moves.Take(book, hold(t, "1.00", noon), policy.Verdict{}))
		for _, add := range moves.Adds() {
			for _, dropped := range add.Drop {
				m := bucketName.FindStringSubmatch(dropped)
				if m == nil {
					continue // a name that nobody writes
				}
				for _, window := range windows {
					if counted, _ := readName(dropped, window); counted {
						t.Errorf("%q is forgotten while it counts", dropped)
					}
				}
			}
		}
	})
}

// readName says whether a name counts at noon in a window, and what it counts.
func readName(name string, window policy.Window) (bool, string) {
	m := bucketName.FindStringSubmatch(name)
	if m == nil || m[1] != letters[window] || m[3] != "out" {
		return false, ""
	}
	index, err := strconv.ParseInt(m[2], 10, 64)
	width := int64(widths[window] / time.Second)
	return err == nil && index >= noon.Add(-policy.Windows[window]).Unix()/width, m[4]
}

// FuzzHold: a stored promise is taken and given back to nothing, or is refused
// both times.
func FuzzHold(f *testing.F) {
	f.Add("12.34", "USD", "2025-09-30T12:00:00Z")
	f.Add("", "", "2025-09-30T12:00:00Z")
	f.Add("12", "JPY", "2025-09-30T23:59:59+02:00")
	f.Add("-1.00", "USD", "2025-09-30T12:00:00Z")
	f.Add("1.00", "usd", "2025-09-30T12:00:00Z")
	f.Add("1.00", "", "")
	f.Add("1.00", "n", "9999-12-31T23:59:59Z")
	f.Fuzz(func(t *testing.T, amount, currency, at string) {
		h := allowance.Hold{Amount: amount, Currency: currency, At: at}
		who := subject(t, "agt_1", "cp_1")
		book := allowance.Open(who, noon, nil, h) // never panics
		book.Spend(policy.PerAgent, policy.Day, money.MustParse("USD"))
		parsed, err := time.Parse(time.RFC3339, at)
		if err != nil {
			parsed = noon
		}
		moves := who.Moves()
		released := moves.Release(h, parsed)
		if at == "" {
			noError(t, released)
			return
		}
		taken := moves.Take(allowance.Open(who, parsed, nil), h, policy.Verdict{})
		if (taken == nil) != (released == nil) {
			t.Fatalf("taken: %v, given back: %v", taken, released)
		}
		for _, add := range moves.Adds() {
			for name, delta := range add.Deltas {
				if released == nil && name[:4] != "ever" {
					t.Errorf("%s is left at %s", name, delta)
				}
			}
		}
	})
}
