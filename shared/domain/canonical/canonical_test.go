package canonical_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/canonical"
)

// noError stops the test when err is not nil.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// writes reports a canonical form that is not the wanted one.
func writes(t *testing.T, got []byte, err error, want string) {
	t.Helper()
	noError(t, err)
	if string(got) != want {
		t.Errorf("canonical form\n got %s\nwant %s", got, want)
	}
}

// refuses reports an error that does not say what it should, or none.
func refuses(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error = %v, want one that says %q", err, says)
	}
}

// nested is an array in an array and so on, depth of them.
func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

func TestTransform(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"blanks":              {" \t\r\n{ \"a\" : [ 1 , 2 ] } \n", `{"a":[1,2]}`},
		"scalar":              {" true\n", `true`},
		"empty string":        {`""`, `""`},
		"empty name":          {`{"":0}`, `{"":0}`},
		"order kept in array": {`[3,1,2]`, `[3,1,2]`},
		"nested sorting":      {`{"b":{"d":1,"c":2},"a":0}`, `{"a":0,"b":{"c":2,"d":1}}`},
		"same name apart":     {`{"a":{"a":1},"b":{"a":2}}`, `{"a":{"a":1},"b":{"a":2}}`},
		"names differ in case": {
			`{"a":1,"A":2}`, `{"A":2,"a":1}`,
		},
		"surrogate pair":         {`"\ud83d\ude02"`, `"😂"`},
		"replacement character":  {`"\ufffd"`, "\"\ufffd\""},
		"not normalised":         {`["\u00e9","e\u0301"]`, "[\"é\",\"e\u0301\"]"},
		"solidus":                {`"\/"`, `"/"`},
		"HTML is nothing":        {`"\u003c&>\u2028"`, "\"<&>\u2028\""},
		"digits in a string":     {`"9007199254740993 \" 1e999"`, `"9007199254740993 \" 1e999"`},
		"brackets in a string":   {`"` + strings.Repeat("[", 100) + `"`, `"` + strings.Repeat("[", 100) + `"`},
		"escaped backslash last": {`["\\",9]`, `["\\",9]`},
		"minus zero":             {`[-0,-0.0,0e9]`, `[0,0,0]`},
		"whole with point":       {`1.0`, `1`},
		"whole with exponent":    {`1e2`, `100`},
		"largest whole":          {`9007199254740992`, `9007199254740992`},
		"smallest whole":         {`-9007199254740992`, `-9007199254740992`},
		"one below":              {`9007199254740991`, `9007199254740991`},
		"large double":           {`1E30`, `1e+30`},
		"first with exponent":    {`1e21`, `1e+21`},
		"deepest":                {nested(64), nested(64)},
		"many side by side":      {"[" + strings.Repeat("[],", 99) + "[]]", "[" + strings.Repeat("[],", 99) + "[]]"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := canonical.Transform([]byte(c.raw))
			writes(t, got, err, c.want)
		})
	}
}

func TestTransformRefuses(t *testing.T) {
	const rounded, name, pair = "would be rounded", "Duplicate key", "surrogate"
	for _, c := range []struct{ what, raw, says string }{
		{"nothing", ``, "EOF"},
		{"blanks alone", ` `, "EOF"},
		{"byte-order mark", "\ufeff{}", "non-ASCII"},
		{"two values", `{}{}`, "terminated"},
		{"something after", `1 x`, "terminated"},
		{"zero byte after", "{}\x00", "terminated"},
		{"comma after", `[1],`, "terminated"},
		{"trailing comma in array", `[1,]`, ""},
		{"trailing comma in object", `{"a":1,}`, ""},
		{"missing comma", `[1 2]`, ""},
		{"array not closed", `[1`, "EOF"},
		{"closed twice", `]]`, ""},
		{"string not closed", `"abc`, "EOF"},
		{"string ends in backslash", `"abc\`, "EOF"},
		{"single quotes", `{'a':1}`, ""},
		{"comment", `{} // no`, "terminated"},
		{"NaN", `NaN`, ""},
		{"Infinity", `[-Infinity]`, "double"},
		{"capital literal", `True`, ""},
		{"name without quotes", `{a:1}`, ""},
		{"control character in string", "\"a\nb\"", ""},
		{"unknown escape", `"\x41"`, "escape"},

		{"name twice", `{"a":1,"a":1}`, name},
		{"name twice, far apart", `{"a":1,"b":2,"c":3,"a":4}`, name},
		{"name twice, one escaped", `{"a":1,"\u0061":2}`, name},
		{"name twice, deep", `[{"x":[{"y":{"b":1,"b":2}}]}]`, name},
		{"empty name twice", `{"":1,"":2}`, name},

		{"high surrogate alone", `"\ud83d"`, "EOF"},
		{"high surrogate alone in an array", `["\ud83d",0]`, pair},
		{"high surrogate and text", `"\ud83dabcdef"`, pair},
		{"low surrogate alone", `"\ude02"`, pair},
		{"two high surrogates", `"\ud83d\ud83d"`, pair},
		{"surrogates turned round", `"\ude02\ud83d"`, pair},
		{"surrogate in a name", `{"\udead":1}`, pair},

		{"byte ff", "\"\xff\"", "UTF-8"},
		{"overlong", "\"\xc0\xaf\"", "UTF-8"},
		{"surrogate as UTF-8", "\"\xed\xa0\x80\"", "UTF-8"},
		{"beyond Unicode", "\"\xf4\x90\x80\x80\"", "UTF-8"},
		{"cut off", "\"\xe2\x82\"", "UTF-8"},
		{"byte ff in a name", "{\"\xff\":1}", "UTF-8"},

		{"2^53 + 1", `9007199254740993`, rounded},
		{"2^53 + 2, a double", `9007199254740994`, rounded},
		{"-2^53 - 1", `-9007199254740993`, rounded},
		{"deep", `{"a":[{"b":9007199254740993}]}`, rounded},
		{"with a point", `9007199254740993.0`, rounded},
		{"with an exponent", `9.007199254740993e15`, rounded},
		{"2^64", `18446744073709551616`, rounded},
		{"1e20", `1e20`, rounded},
		{"thirty digits", `123456789012345678901234567890`, rounded},
		{"beyond doubles", `1e309`, "double"},
		{"below doubles", `-1e309`, "double"},
		{"400 digits", strings.Repeat("9", 400), "double"},
		{"leading zero", `01`, ""},
		{"plus", `+1`, ""},
		{"no digit before the point", `.5`, ""},
		{"no digit after the point", `5.`, ""},
		{"hexadecimal", `0x10`, ""},
		{"underscore", `1_0`, ""},
		{"minus alone", `-`, "double"},

		{"65 arrays", nested(65), "deeper than 64"},
		{"65 objects", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "deeper than 64"},
		{"a million brackets", strings.Repeat("[", 1_000_000), "deeper than 64"},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := canonical.Transform([]byte(c.raw))
			refuses(t, err, c.says)
			if got != nil {
				t.Errorf("text in spite of the error: %s", got)
			}
		})
	}
	if _, err := canonical.Transform(nil); err == nil {
		t.Error("nil was taken")
	}
}

type event struct {
	Seq    int64             `json:"seq"`
	At     time.Time         `json:"at"`
	Actor  *string           `json:"actor"`
	Inputs map[string]any    `json:"inputs,omitempty"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
	Hidden string            `json:"-"`
}

func TestMarshal(t *testing.T) {
	who := "<agt_1>"
	got, err := canonical.Marshal(event{
		Seq: 7, At: time.UnixMilli(1_700_000_000_123).UTC(), Actor: &who,
		Inputs: map[string]any{"b": 1.50, "a": []any{nil, true, "é"}},
		Raw:    json.RawMessage(`{ "z": 1e1, "y": "\ufffd" }`),
		Hidden: "\xff",
	})
	writes(t, got, err, `{"actor":"<agt_1>","at":"2023-11-14T22:13:20.123Z",`+
		`"inputs":{"a":[null,true,"é"],"b":1.5},"raw":{"y":"`+"\ufffd"+`","z":10},"seq":7}`)

	got, err = canonical.Marshal("\ufffd, sent by somebody")
	writes(t, got, err, "\"\ufffd, sent by somebody\"")
}

// inner is embedded: its field is written although its own name is not exported.
type inner struct{ Text string }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("not to be written") }

// ring refers to itself; its JSON is a broken string and its walk has no end.
type ring struct{ Next *ring }

func (ring) MarshalJSON() ([]byte, error) { return []byte(`"\ufffd"`), nil }

func TestMarshalRefuses(t *testing.T) {
	const text = "not UTF-8"
	broken, cycle := "a\xffb", &ring{}
	cycle.Next = cycle
	for _, c := range []struct {
		what string
		v    any
		says string
	}{
		{"string", broken, text},
		{"pointer", &broken, text},
		{"slice", []string{"a", broken}, text},
		{"array", [1]string{broken}, text},
		{"map value", map[string]any{"a": broken}, text},
		{"map key", map[string]any{broken: 1}, text},
		{"field", event{Inputs: map[string]any{"a": []any{broken}}}, text},
		{"field of an embedded struct", struct{ inner }{inner{broken}}, text},
		{"beside a true replacement", []any{"\ufffd", json.RawMessage(`"\ufffd"`), broken}, text},
		{"cycle", cycle, text},
		{"raw JSON", json.RawMessage("\"\xff\""), "UTF-8"},
		{"raw JSON with a name twice", json.RawMessage(`{"a":1,"a":2}`), "Duplicate key"},
		{"raw JSON with a surrogate", json.RawMessage(`["\udc00"]`), "surrogate"},
		{"large int", int64(1<<53 + 1), "would be rounded"},
		{"large uint", uint64(math.MaxUint64), "would be rounded"},
		{"large number", json.Number("9007199254740993"), "would be rounded"},
		{"not a number", math.NaN(), "NaN"},
		{"infinity", math.Inf(1), "Inf"},
		{"channel", make(chan int), "chan"},
		{"own error", failing{}, "not to be written"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := canonical.Marshal(c.v)
			refuses(t, err, c.says)
			if _, err := canonical.Hash(c.v); err == nil {
				t.Error("it has a hash")
			}
		})
	}
}

func TestHash(t *testing.T) {
	sum, err := canonical.Hash(map[string]any{"b": 1, "a": "100.00"})
	noError(t, err)
	if want := sha256.Sum256([]byte(`{"a":"100.00","b":1}`)); sum != want {
		t.Errorf("hash = %x, want %x", sum, want)
	}
	empty, err := canonical.Hash(struct{}{})
	noError(t, err)
	const braces = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if hex.EncodeToString(empty[:]) != braces {
		t.Errorf("hash of {} = %x, want %s", empty, braces)
	}
	same, err := canonical.Hash(json.RawMessage(` {"b":1.0, "\u0061":"100.00"}`))
	noError(t, err)
	if same != sum {
		t.Errorf("another spelling has another hash: %x, %x", same, sum)
	}
}
