package markup_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement/markup"
)

// ours lists the tokens of a text: elements with namespace and attributes, and
// text with neighbours put together.
func ours(text string) ([]string, error) {
	r, err := markup.Open(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var list tokens
	for {
		tok, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		switch tok.Kind {
		case markup.Start:
			s := "<" + tok.Space + " " + tok.Name
			for _, a := range tok.Attrs {
				s += fmt.Sprintf(" %s=%q", a.Name, a.Value)
			}
			list = append(list, s)
		case markup.End:
			list = append(list, "/"+tok.Space+" "+tok.Name)
		case markup.Text:
			list.text(string(tok.Text))
		}
	}
}

type tokens []string

func (l *tokens) text(s string) {
	if s == "" {
		return
	}
	if n := len(*l); n > 0 && (*l)[n-1][0] == '"' {
		(*l)[n-1] += s
		return
	}
	*l = append(*l, `"`+s)
}

// theirs is the same list from encoding/xml.
func theirs(text string) ([]string, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var list tokens
	depth := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			depth++
			s := "<" + tok.Name.Space + " " + tok.Name.Local
			for _, a := range tok.Attr {
				if a.Name.Space != "xmlns" && (a.Name.Local != "xmlns" || a.Name.Space != "") {
					s += fmt.Sprintf(" %s=%q", a.Name.Local, a.Value)
				}
			}
			list = append(list, s)
		case xml.EndElement:
			depth--
			list = append(list, "/"+tok.Name.Space+" "+tok.Name.Local)
		case xml.CharData:
			if depth > 0 {
				list.text(string(tok))
			}
		}
	}
}

var documents = []string{
	`<a/>`,
	`<a b="c" d='e"f'>x<b> y </b>z</a>`,
	`<?xml version="1.0" encoding="UTF-8"?><!-- c --><a>&amp;&lt;&gt;&quot;&apos;&#65;&#x42;</a>`,
	`<a xmlns="urn:x"><b xmlns=""><c/></b><d/></a>`,
	`<p:a xmlns:p="urn:x" xmlns:q="urn:y"><q:b p:c="1"/><d/></p:a>`,
	`<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>`,
	"<a>\r\n<b\n  c = 'd'\n/>\r</a >\n",
	`<a><?pi x?>t<!---->u</a>`,
	`<a>é€</a>`,
}

func TestTokens(t *testing.T) {
	for _, text := range documents {
		got, err := ours(text)
		want, wantErr := theirs(text)
		if err != nil || wantErr != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\ngot  %q %v\nwant %q %v", text, got, err, want, wantErr)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{
		"", " ", "x", "<a>", "</a>", "<a></b>", "<a", "<a b>", "<a b=c/>", "<a b='c/>", "<a b='c'd='e'/>", "<a b='1' b='2'/>", "<a b='<'/>",
		"<a/><b/>", "<a/>x", "x<a/>", "<a>&b;</a>", "<a>&</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>]]></a>", "<a>\x01</a>", "<a>< b/></a>", "<1/>",
		"<a><!-- -- --></a>", "<a><![CDATA[x</a>", "<!DOCTYPE a><a/>", "<a><!ENTITY b 'c'></a>", "<p:a/>", "<a><!-- ", "<?x", "<a>\x00</a>", "<a>\xff</a>",
		"<a " + strings.Repeat("b='c' ", 100) + "/>", "<" + strings.Repeat("a", 200) + "/>", strings.Repeat("<a>", 100), "<a>" + strings.Repeat("x", 1<<20) + "</a>",
		"<a b='" + strings.Repeat("x", 1<<20) + "'/>", "<!--" + strings.Repeat("x", 1<<20) + "--><a/>", "<a>&" + strings.Repeat("x", 1<<20) + ";</a>",
	} {
		if got, err := ours(text); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%.60q: got %.200q, %v", text, got, err)
		}
	}
}

func TestPlaces(t *testing.T) {
	r, err := markup.Open(strings.NewReader("<a>\r\n  <b>é</b><c/></a>"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "line 1, column 1", "b": "line 2, column 3", "c": "line 2, column 12"}
	for {
		tok, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if tok.Kind == markup.Start && tok.At.String() != want[tok.Name] {
			t.Errorf("%s is at %s, want %s", tok.Name, tok.At, want[tok.Name])
		}
	}
}

func TestEncoding(t *testing.T) {
	for head, want := range map[string]string{
		`<?xml version="1.0" encoding="ISO-8859-1"?>`: "ISO-8859-1",
		"<?xml version='1.0' encoding = 'x' ?>":       "x",
		"\xef\xbb\xbf <?xml encoding=\"y\"?>":         "y",
		`<?xml version="1.0"?><a encoding="z"/>`:      "",
		`<?xml encoding=`:                             "",
		``:                                            "",
	} {
		if got := markup.Encoding([]byte(head)); got != want {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
}

// FuzzTokens holds the reader against encoding/xml: what ours takes, theirs takes
// and sees the same in.
func FuzzTokens(f *testing.F) {
	for _, text := range documents {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "<?xml") || strings.HasPrefix(text, "\xef\xbb\xbf") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			return // theirs has rules for the declaration and none for marks
		}
		got, err := ours(text)
		if err != nil {
			if !fault.Is(err, fault.InvalidArgument) {
				t.Errorf("the error has no code: %v", err)
			}
			return
		}
		want, err := theirs(text)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q\ngot  %q\nwant %q %v", text, got, want, err)
		}
	})
}
