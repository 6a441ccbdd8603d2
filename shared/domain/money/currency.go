package money

import (
	"fmt"
	"strings"
)

// Currency is one of the currencies this package knows, with its exponent: how
// many decimals an amount of it has. Only Parse makes one, so a function that
// takes a Currency never meets a code nobody checked. It is five bytes, is
// compared with == and may be a map key. The zero Currency is none: no amount
// can be made in it.
type Currency struct {
	code     [4]byte
	exponent uint8
}

// stablecoin is the one currency outside ISO 4217: its token contract counts in
// millionths. Another exponent here would move every on-chain payment by a
// power of ten.
const (
	stablecoin         = "USDC"
	stablecoinExponent = 6
)

// codes is ISO 4217 list one as published on 2026-01-01, by exponent. Codes
// without a minor unit (metals such as XAU, XDR, test codes) are not in it:
// nothing says what the last digit of such an amount would be. Moving a code to
// another exponent changes what stored minor units mean.
var codes = [...]string{
	0: `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`,
	2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL
		BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK
		DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD
		HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR
		LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN
		NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR
		SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
		TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER
		ZAR ZMW ZWG`,
	3: `BHD IQD JOD KWD LYD OMR TND`,
	4: `CLF UYW`,
}

// known maps each code to its Currency.
var known = index()

func index() map[string]Currency {
	m := map[string]Currency{stablecoin: newCurrency(stablecoin, stablecoinExponent)}
	for exponent, list := range codes {
		for code := range strings.FieldsSeq(list) {
			m[code] = newCurrency(code, exponent)
		}
	}
	return m
}

func newCurrency(code string, exponent int) Currency {
	c := Currency{exponent: uint8(exponent)}
	copy(c.code[:], code)
	return c
}

// Parse returns the currency of an ISO 4217 code or of USDC. The code is in
// capitals without blanks; anything else is refused with a message for the
// caller, since a code read leniently here would be two keys elsewhere.
func Parse(code string) (Currency, error) {
	c, ok := known[code]
	if !ok {
		return Currency{}, fmt.Errorf("currency %s: want an ISO 4217 code in capitals that has a minor unit, such as USD, or %s", quote(code), stablecoin)
	}
	return c, nil
}

// MustParse is Parse for a code written in the program; it panics on an unknown
// one. Input goes through Parse.
func MustParse(code string) Currency {
	c, err := Parse(code)
	if err != nil {
		panic(err)
	}
	return c
}

// String returns the code, empty for the zero Currency.
func (c Currency) String() string { return strings.TrimRight(string(c.code[:]), "\x00") }

// Exponent returns how many decimals an amount has: USD 2, JPY 0, USDC 6.
func (c Currency) Exponent() int { return int(c.exponent) }

// IsZero says whether this is no currency at all.
func (c Currency) IsZero() bool { return c == Currency{} }

// MarshalText writes the code. It fails for the zero Currency: an empty code in
// a stored row would be found only when somebody reads it.
func (c Currency) MarshalText() ([]byte, error) {
	if c.IsZero() {
		return nil, errNoCurrency
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads a code as Parse does.
func (c *Currency) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}
