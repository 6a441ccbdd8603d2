package payload_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/raw/payload"
)

// quoted is text as a JSON string.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestDecode(t *testing.T) {
	most := strings.Repeat("m", payload.Max)
	for _, c := range []struct{ name, value, encoding, want string }{
		{"text", `"a,b\n1,2"`, "", "a,b\n1,2"},
		{"text by name", `"a"`, payload.Text, "a"},
		{"JSON text", `"{\"a\": 1}"`, "", `{"a": 1}`},
		{"an object", `{"a": 1.10}`, "", `{"a": 1.10}`},
		{"an array", ` [1, 2] `, "", `[1, 2]`},
		{"text that is base64", `"aGk="`, "", "aGk="},
		{"base64", `"aGk="`, payload.Base64, "hi"},
		{"base64 with an escape", `"aGk\u003d"`, payload.Base64, "hi"},
		{"base64 in lines", `"aG\r\nk=\n"`, payload.Base64, "hi"},
		{"bytes that are no text", `"/wD+"`, payload.Base64, "\xff\x00\xfe"},
		{"the most", quoted(most), "", most},
		{"the most as base64", quoted(base64.StdEncoding.EncodeToString([]byte(most))), payload.Base64, most},
	} {
		got, err := payload.Decode(json.RawMessage(c.value), c.encoding)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %.40q, %v; want %.40q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ name, value, encoding string }{
		{"nothing", ``, ""},
		{"an empty text", `""`, ""},
		{"empty base64", `""`, payload.Base64},
		{"a number", `12`, ""},
		{"true", `true`, ""},
		{"null", `null`, ""},
		{"an object as base64", `{"a":1}`, payload.Base64},
		{"no base64", `"a,b"`, payload.Base64},
		{"without padding", `"aGk"`, payload.Base64},
		{"the URL alphabet", `"_wD-"`, payload.Base64},
		{"bits too many", `"aGl="`, payload.Base64},
		{"blanks", `"aG k="`, payload.Base64},
		{"too much", quoted(strings.Repeat("m", payload.Max+1)), ""},
		{"too much base64", quoted(base64.StdEncoding.EncodeToString(make([]byte, payload.Max+1))), payload.Base64},
		{"too large an array", `[` + strings.Repeat("1,", payload.Max/2) + `1]`, ""},
	} {
		if got, err := payload.Decode(json.RawMessage(c.value), c.encoding); err == nil {
			t.Errorf("%s: taken as %.40q", c.name, got)
		}
	}
}

func TestWithhold(t *testing.T) {
	hi := `"sha256:` + payload.Sum([]byte("hi")) + `"`
	sum := func(text string) string { return `"sha256:` + payload.Sum([]byte(text)) + `"` }
	for _, c := range []struct{ name, arguments, want string }{
		{"text", `{"payload":"hi","mime_type":"text/plain"}`, `{"mime_type":"text/plain","payload":` + hi + `}`},
		{"base64 is as its bytes", `{"encoding":"base64","payload":"aGk="}`, `{"encoding":"base64","payload":` + hi + `}`},
		{"an object", `{"payload":{"secret": 1}}`, `{"payload":` + sum(`{"secret": 1}`) + `}`},
		{"what cannot be decoded", `{"encoding":"base64","payload":"secret"}`, `{"encoding":"base64","payload":` + sum(`"secret"`) + `}`},
		{"other arguments", `{"idempotency_key":"k","source_ref":{"file":"a"},"payload":"hi"}`, `{"idempotency_key":"k","payload":` + hi + `,"source_ref":{"file":"a"}}`},
		{"a misspelt name", `{"Payload":"secret","payloads":"secret"}`, `{"Payload":` + sum(`"secret"`) + `,"payloads":` + sum(`"secret"`) + `}`},
		{"twice", `{"payload":"secret","payload":"hi"}`, `{"payload":` + hi + `}`},
		{"nothing", `{}`, `{}`},
		{"null", `null`, `null`},
		{"no object", `["secret"]`, sum(`["secret"]`)},
		{"text", `"secret"`, sum(`"secret"`)},
	} {
		if got := string(payload.Withhold([]byte(c.arguments))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Whatever comes: nothing panics, a payload is within its bounds, and what is
// recorded is JSON that does not hold it.
func FuzzPayload(f *testing.F) {
	f.Add(`{"payload":"secret text"}`, "")
	f.Add(`{"payload":"c2VjcmV0IHRleHQ=","encoding":"base64"}`, "base64")
	f.Add(`{"PAYLOAD":["secret text"],"x":{}}`, "text")
	f.Fuzz(func(t *testing.T, arguments, encoding string) {
		if !json.Valid([]byte(arguments)) {
			return
		}
		if body, err := payload.Decode(json.RawMessage(arguments), encoding); err == nil && (len(body) == 0 || len(body) > payload.Max) {
			t.Errorf("%d bytes", len(body))
		}
		recorded := payload.Withhold([]byte(arguments))
		if !json.Valid(recorded) {
			t.Errorf("%q is recorded as %q", arguments, recorded)
		}
		var members struct{ Payload json.RawMessage }
		if json.Unmarshal(recorded, &members) == nil && members.Payload != nil && !strings.HasPrefix(string(members.Payload), `"sha256:`) {
			t.Errorf("%q is recorded as %q", arguments, recorded)
		}
	})
}
