package pain001_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/execution/pain001"
	"github.com/robotmoney/mcp/shared/domain/payments"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func ptr[T any](v T) *T { return &v }

func order(change func(*execution.Order)) execution.Order {
	o := execution.Order{
		TenantID: "acme", IntentID: "pi_01JDZ0Q6Y4R8M2N5T7V9WXA3BC", ExecutionID: "exec_01JDZ0Q6Y4R8M2N5T7V9WXA3BC", CreatedAt: "2025-09-30T12:00:00.123Z",
		IdempotencyKey: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		Payment:        payments.Payment{ActionType: payments.ACHOutbound, Amount: "100.00", Currency: "USD", InvoiceID: ptr("inv_1")},
		Debtor:         execution.Debtor{AccountID: "acct_1", Name: "Operating", Institution: ptr("DEUTDEFF"), Number: ptr("000123456789")},
		Creditor:       execution.Creditor{ID: "cp_1", Name: "Vendor & Söhne <GmbH>", Accounts: []string{"DE89 3704 0044 0532 0130 00"}},
	}
	if change != nil {
		change(&o)
	}
	return o
}

// node is an element as it was read.
type node struct {
	name     string
	text     string
	currency string
	children []node
}

// parse reads a document. Everything in it is in the one namespace.
func parse(raw []byte) (node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(raw))
	stack := []node{{}}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if len(stack) != 1 || len(stack[0].children) != 1 {
				return node{}, errors.New("want one root")
			}
			return stack[0].children[0], nil
		}
		if err != nil {
			return node{}, err
		}
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Space != pain001.Namespace {
				return node{}, fmt.Errorf("%s is in the namespace %q", x.Name.Local, x.Name.Space)
			}
			n := node{name: x.Name.Local}
			for _, a := range x.Attr {
				switch a.Name.Local {
				case "xmlns":
				case "Ccy":
					n.currency = a.Value
				default:
					return node{}, fmt.Errorf("%s has the attribute %s", n.name, a.Name.Local)
				}
			}
			stack = append(stack, n)
		case xml.EndElement:
			done := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			parent := &stack[len(stack)-1]
			parent.children = append(parent.children, done)
		case xml.CharData:
			stack[len(stack)-1].text += string(x)
		}
	}
}

// element is a line of the schema: an element, how often it may be there, and
// either what is in it or a pattern of its text. The table holds what the public
// schema of pain.001.001.09 says of the elements that are used and of those that
// must be there, in its order.
type element struct {
	name     string
	required bool
	choice   bool // one of its children, and only one
	pattern  string
	currency bool
	children []element
}

const (
	max34, max35, max140 = `(?s)^.{1,34}$`, `(?s)^.{1,35}$`, `(?s)^.{1,140}$`
	decimal              = `^[0-9]{1,18}(\.[0-9]{1,5})?$`
)

var (
	accountID = []element{{name: "Id", required: true, choice: true, children: []element{
		{name: "IBAN", pattern: `^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$`},
		{name: "Othr", children: []element{{name: "Id", required: true, pattern: max34}}},
	}}}
	party = []element{{name: "Nm", pattern: max140}}
	bank  = []element{{name: "FinInstnId", required: true, children: []element{
		{name: "BICFI", pattern: `^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$`}, {name: "Nm", pattern: max140},
		{name: "Othr", children: []element{{name: "Id", required: true, pattern: max35}}},
	}}}
	transfers = []element{
		{name: "PmtId", required: true, children: []element{
			{name: "InstrId", pattern: max35}, {name: "EndToEndId", required: true, pattern: max35},
			{name: "UETR", pattern: `^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$`},
		}},
		{name: "Amt", required: true, choice: true, children: []element{{name: "InstdAmt", pattern: decimal, currency: true}}},
		{name: "CdtrAgt", children: bank}, {name: "Cdtr", children: party}, {name: "CdtrAcct", children: accountID},
		{name: "RmtInf", children: []element{{name: "Ustrd", pattern: max140}}},
	}
	schema = element{name: "Document", children: []element{{name: "CstmrCdtTrfInitn", required: true, children: []element{
		{name: "GrpHdr", required: true, children: []element{
			{name: "MsgId", required: true, pattern: max35}, {name: "CreDtTm", required: true, pattern: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`},
			{name: "NbOfTxs", required: true, pattern: `^[0-9]{1,15}$`}, {name: "CtrlSum", pattern: decimal}, {name: "InitgPty", required: true, children: party},
		}},
		{name: "PmtInf", required: true, children: []element{
			{name: "PmtInfId", required: true, pattern: max35}, {name: "PmtMtd", required: true, pattern: `^(CHK|TRF|TRA)$`}, {name: "NbOfTxs", pattern: `^[0-9]{1,15}$`},
			{name: "CtrlSum", pattern: decimal}, {name: "ReqdExctnDt", required: true, choice: true, children: []element{{name: "Dt", pattern: `^\d{4}-\d\d-\d\d$`}}},
			{name: "Dbtr", required: true, children: party}, {name: "DbtrAcct", required: true, children: accountID}, {name: "DbtrAgt", required: true, children: bank},
			{name: "ChrgBr", pattern: `^(DEBT|CRED|SHAR|SLEV)$`}, {name: "CdtTrfTxInf", required: true, children: transfers},
		}},
	}}}}
)

// check holds a node against its line.
func (e element) check(n node, at string) error {
	at += "/" + n.name
	if e.currency != (n.currency != "") || e.currency && !regexp.MustCompile(`^[A-Z]{3}$`).MatchString(n.currency) {
		return fmt.Errorf("%s: currency %q", at, n.currency)
	}
	if e.children == nil {
		if len(n.children) > 0 || !regexp.MustCompile(e.pattern).MatchString(n.text) {
			return fmt.Errorf("%s: %q", at, n.text)
		}
		return nil
	}
	if strings.TrimSpace(n.text) != "" {
		return fmt.Errorf("%s: has the text %q", at, n.text)
	}
	last, seen := -1, 0
	for _, child := range n.children {
		line := slices.IndexFunc(e.children, func(c element) bool { return c.name == child.name })
		if line <= last {
			return fmt.Errorf("%s: %s is not known there, is there twice or out of order", at, child.name)
		}
		for _, passed := range e.children[last+1 : line] {
			if passed.required {
				return fmt.Errorf("%s: no %s", at, passed.name)
			}
		}
		if err := e.children[line].check(child, at); err != nil {
			return err
		}
		last, seen = line, seen+1
	}
	for _, passed := range e.children[last+1:] {
		if passed.required {
			return fmt.Errorf("%s: no %s", at, passed.name)
		}
	}
	if e.choice && seen != 1 {
		return fmt.Errorf("%s: %d of a choice", at, seen)
	}
	return nil
}

// sound reports a file that the schema would refuse.
func sound(t testing.TB, raw []byte) node {
	t.Helper()
	root, err := parse(raw)
	noError(t, err)
	if root.name != "Document" {
		t.Fatalf("the root is %s", root.name)
	}
	if err := schema.check(root, ""); err != nil {
		t.Errorf("%v in\n%s", err, raw)
	}
	return root
}

// at is the text under a path.
func at(n node, path ...string) string {
	for _, name := range path {
		i := slices.IndexFunc(n.children, func(c node) bool { return c.name == name })
		if i < 0 {
			return "(none)"
		}
		n = n.children[i]
	}
	return n.text
}

func TestFile(t *testing.T) {
	raw, err := pain001.File(order(nil))
	noError(t, err)
	root := sound(t, raw)
	again, err := pain001.File(order(nil))
	noError(t, err)
	if !bytes.Equal(raw, again) {
		t.Error("the same order makes another file")
	}
	batch := []string{"CstmrCdtTrfInitn", "PmtInf"}
	payment := append(batch[:2:2], "CdtTrfTxInf")
	for want, path := range map[string][]string{
		"0123456789abcdef0123456789abcdef012":  {"CstmrCdtTrfInitn", "GrpHdr", "MsgId"},
		"2025-09-30T12:00:00.123Z":             {"CstmrCdtTrfInitn", "GrpHdr", "CreDtTm"},
		"2025-09-30":                           append(batch[:2:2], "ReqdExctnDt", "Dt"),
		"000123456789":                         append(batch[:2:2], "DbtrAcct", "Id", "Othr", "Id"),
		"DEUTDEFF":                             append(batch[:2:2], "DbtrAgt", "FinInstnId", "BICFI"),
		"SLEV":                                 append(batch[:2:2], "ChrgBr"),
		"100.00":                               append(payment[:3:3], "Amt", "InstdAmt"),
		"DE89370400440532013000":               append(payment[:3:3], "CdtrAcct", "Id", "IBAN"),
		"Vendor & Söhne <GmbH>":                append(payment[:3:3], "Cdtr", "Nm"),
		"inv_1 pi_01JDZ0Q6Y4R8M2N5T7V9WXA3BC":  append(payment[:3:3], "RmtInf", "Ustrd"),
		"01234567-89ab-4def-8123-456789abcdef": append(payment[:3:3], "PmtId", "UETR"),
	} {
		if got := at(root, path...); got != want {
			t.Errorf("%v = %q, want %q", path, got, want)
		}
	}
}

func TestForms(t *testing.T) {
	long := strings.Repeat("ü", 200)
	for name, change := range map[string]func(*execution.Order){
		"a wire":             func(o *execution.Order) { o.Payment.ActionType = payments.Wire },
		"no bank":            func(o *execution.Order) { o.Debtor.Institution = nil },
		"a bank by its name": func(o *execution.Order) { o.Debtor.Institution = ptr("First National") },
		"yen":                func(o *execution.Order) { o.Payment.Amount, o.Payment.Currency = "100", "JPY" },
		"four decimals":      func(o *execution.Order) { o.Payment.Amount, o.Payment.Currency = "1.0001", "CLF" },
		"eighteen digits":    func(o *execution.Order) { o.Payment.Amount = "1234567890123456.78" },
		"long texts": func(o *execution.Order) {
			o.Creditor.Name, o.Debtor.Name, o.Payment.Memo, o.Debtor.Institution = long, long, &long, &long
		},
		"texts XML has not":   func(o *execution.Order) { o.Creditor.Name, o.Payment.Memo = "a\x00b\xff\ufffe", ptr("\x01\n\t") },
		"no names":            func(o *execution.Order) { o.Creditor.Name, o.Debtor.Name = "", "  " },
		"markup":              func(o *execution.Order) { o.Payment.Memo = ptr("</Ustrd><Evil/>]]>&") },
		"an IBAN mistyped":    func(o *execution.Order) { o.Creditor.Accounts = []string{"DE88370400440532013000"} },
		"34 characters":       func(o *execution.Order) { o.Creditor.Accounts = []string{strings.Repeat("9", 34)} },
		"our account an IBAN": func(o *execution.Order) { o.Debtor.Number = ptr("GB29 NWBK 6016 1331 9268 19") },
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := pain001.File(order(change))
			noError(t, err)
			sound(t, raw)
		})
	}
}

func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*execution.Order){
		"collected":            func(o *execution.Order) { o.Payment.ActionType = payments.ACHInbound },
		"on the chain":         func(o *execution.Order) { o.Payment.ActionType, o.Payment.Currency = payments.OnchainTransfer, "USDC" },
		"a card":               func(o *execution.Order) { o.Payment.ActionType = payments.CardPayment },
		"no number of ours":    func(o *execution.Order) { o.Debtor.Number = nil },
		"a blank one":          func(o *execution.Order) { o.Debtor.Number = ptr(" ") },
		"no account":           func(o *execution.Order) { o.Creditor.Accounts = nil },
		"two accounts":         func(o *execution.Order) { o.Creditor.Accounts = []string{"1", "2"} },
		"35 characters":        func(o *execution.Order) { o.Creditor.Accounts = []string{strings.Repeat("9", 35)} },
		"nineteen digits":      func(o *execution.Order) { o.Payment.Amount = "12345678901234567.89" },
		"no time":              func(o *execution.Order) { o.CreatedAt = "" },
		"no key":               func(o *execution.Order) { o.IdempotencyKey = "" },
		"a number of no UTF-8": func(o *execution.Order) { o.Creditor.Accounts = []string{"1\xff"} },
	} {
		if raw, err := pain001.File(order(change)); err == nil {
			t.Errorf("%s: made %s", name, raw)
		}
	}
}

// The check itself sees what is wrong.
func TestCheck(t *testing.T) {
	raw, err := pain001.File(order(nil))
	noError(t, err)
	for name, change := range map[string][2]string{
		"an element is missing":  {"<EndToEndId>0123456789abcdef0123456789abcdef012</EndToEndId>", ""},
		"out of order":           {"<PmtMtd>TRF</PmtMtd>\n      <NbOfTxs>1</NbOfTxs>", "<NbOfTxs>1</NbOfTxs><PmtMtd>TRF</PmtMtd>"},
		"twice":                  {"<ChrgBr>SLEV</ChrgBr>", "<ChrgBr>SLEV</ChrgBr><ChrgBr>SLEV</ChrgBr>"},
		"not in the schema":      {"<ChrgBr>SLEV</ChrgBr>", "<ChrgBr>SLEV</ChrgBr><Evil/>"},
		"a word too much":        {"SLEV", "NONE"},
		"no currency":            {` Ccy="USD"`, ""},
		"both of a choice":       {"<IBAN>DE89370400440532013000</IBAN>", "<IBAN>DE89370400440532013000</IBAN><Othr><Id>1</Id></Othr>"},
		"none of a choice":       {"<IBAN>DE89370400440532013000</IBAN>", ""},
		"too long":               {"<Nm>Operating</Nm>", "<Nm>" + strings.Repeat("x", 141) + "</Nm>"},
		"empty":                  {"<Nm>Operating</Nm>", "<Nm></Nm>"},
		"text between elements":  {"<CdtTrfTxInf>", "<CdtTrfTxInf>x"},
		"a decimal too much":     {`"USD">100.00`, `"USD">100.000000`},
		"another day than a day": {"<Dt>2025-09-30</Dt>", "<Dt>30.9.2025</Dt>"},
	} {
		changed := strings.Replace(string(raw), change[0], change[1], 1)
		root, err := parse([]byte(changed))
		if changed == string(raw) || err == nil && schema.check(root, "") == nil {
			t.Errorf("%s: nothing is wrong with it (%v)", name, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("Vendor", "memo", "DE89370400440532013000", "DEUTDEFF")
	f.Add("\x00", "]]>", "1", " ")
	f.Fuzz(func(t *testing.T, name, memo, number, institution string) {
		raw, err := pain001.File(order(func(o *execution.Order) {
			o.Creditor.Name, o.Payment.Memo, o.Creditor.Accounts, o.Debtor.Institution = name, &memo, []string{number}, &institution
			o.CreatedAt = time.Date(2025, 9, 30, 12, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		}))
		if err != nil {
			return
		}
		if !utf8.Valid(raw) {
			t.Error("no UTF-8")
		}
		sound(t, raw)
	})
}
