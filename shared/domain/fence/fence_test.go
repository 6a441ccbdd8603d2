package fence_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fence"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":               {"Amazon Web Services", "`Amazon Web Services`"},
		"empty":               {"", "` `"},
		"blanks alone":        {" \t\u3000", "` `"},
		"unseen alone":        {"\u200b\u2060", "` `"},
		"backtick":            {"a`b", "`a'b`"},
		"backticks alone":     {"```", "`'''`"},
		"line breaks":         {"pay\r\nnow\u2028then\u2029\u0085end", "`pay  now then  end`"},
		"other blanks":        {"a\u00a0b\tc\vd", "`a b c d`"},
		"outer blanks":        {"\n a \n", "`a`"},
		"control characters":  {"a\x00\x1b[31mb\x7f\u009b", "`a[31mb`"},
		"bidirectional":       {"\u202egpj\u202c \u2066x\u2069\u200f", "`gpj x`"},
		"zero width":          {"pay\u200bpal\ufeff\u00ad", "`paypal`"},
		"tag characters":      {"a\U000E0049\U000E0067b", "`ab`"},
		"variation selectors": {"a\ufe0f\U000E0100b", "`ab`"},
		"fillers":             {"a\u3164\u115fb", "`ab`"},
		"private use":         {"a\ue000b", "`ab`"},
		"not UTF-8":           {"a\xff\xfeb\xc3", "`ab`"},
		"letters and marks":   {"Łódź नमस्ते 日本 😀", "`Łódź नमस्ते 日本 😀`"},
		"markup stays data":   {"](http://x) <b> **y** \\", "`](http://x) <b> **y** \\`"},
		"exactly enough":      {strings.Repeat("é", 120), "`" + strings.Repeat("é", 120) + "`"},
		"too long":            {strings.Repeat("é", 121), "`" + strings.Repeat("é", 120) + "…`"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fence.Text(c.text); got != c.want {
				t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		most int
		want string
	}{
		"plain":              {"How much?", 20, "How much?"},
		"empty":              {"", 20, ""},
		"unseen alone":       {"\u3164\u200b\U000E0049\ufe0f ", 20, ""},
		"backticks are kept": {"a`b", 20, "a`b"},
		"line breaks":        {"pay\r\nnow\u2028then", 20, "pay  now then"},
		"what is not seen":   {"a\x1b\u202e\U000E0067\u115f\ue000\xffb", 20, "ab"},
		"exactly enough":     {"ééé", 3, "ééé"},
		"too long":           {"éééé", 3, "ééé…"},
		"nothing of it":      {"a", 0, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fence.Line(c.text, c.most); got != c.want {
				t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// Whatever the text is, what comes out is one line between two backticks with
// none inside and nothing that is not seen.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "`", "a\nb", "\u202e", "\xff", strings.Repeat("x", 300), " ` "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := fence.Text(text)
		inner, opened := strings.CutPrefix(got, "`")
		inner, closed := strings.CutSuffix(inner, "`")
		if !opened || !closed || inner == "" || strings.Contains(inner, "`") || !utf8.ValidString(inner) || utf8.RuneCountInString(inner) > 121 {
			t.Fatalf("%q becomes %q", text, got)
		}
		for _, r := range inner {
			if r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%q becomes %q, with %U", text, got, r)
			}
		}
		if fence.Text(inner) != got && !strings.HasSuffix(inner, "…") {
			t.Fatalf("%q becomes %q and that %q", text, got, fence.Text(inner))
		}
	})
}
