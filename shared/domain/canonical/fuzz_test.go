package canonical_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/canonical"
)

// FuzzTransform: what is taken is JSON, keeps its value, has one form, and that
// form is a fixed point.
func FuzzTransform(f *testing.F) {
	for _, raw := range []string{
		`{"b":[1,2.5e-7,{"c":null}],"a":"\u20ac\n"}`, `[1e21,9007199254740992,-0,1E30]`, `"\ud83d\ude02"`,
		`{"a":1,"\u0061":2}`, ` true `, `9007199254740993`, `[[[[[]]]]]`, "\"\xff\"", `"\ud800"`, `{"":{}}x`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := canonical.Transform(raw)
		if err != nil {
			return
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q is no JSON and was taken", raw)
		}
		twice, err := canonical.Transform(once)
		noError(t, err)
		if !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q and then %q", raw, once, twice)
		}
		var before, after any
		noError(t, json.Unmarshal(raw, &before))
		noError(t, json.Unmarshal(once, &after))
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became another value, %q", raw, once)
		}
		again, err := canonical.Marshal(after)
		noError(t, err)
		if !bytes.Equal(again, once) {
			t.Fatalf("value of %q is written %q", once, again)
		}
	})
}

// FuzzMarshalText: a string is written exactly when it is UTF-8, so two strings
// never share a form.
func FuzzMarshalText(f *testing.F) {
	for _, text := range []string{"", "é", "\xff", "\ufffd", "\ufffd\xff", `\ufffd`, "<&>\u2028\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, err := canonical.Marshal(map[string]any{"k": []string{text}, "text": text})
		if (err == nil) != utf8.ValidString(text) {
			t.Fatalf("Marshal(%q): %v", text, err)
		}
		if err != nil {
			return
		}
		var back struct{ Text string }
		noError(t, json.Unmarshal(form, &back))
		if back.Text != text {
			t.Fatalf("%q came back as %q", text, back.Text)
		}
	})
}
