package markup

import (
	"bufio"
	"bytes"
	"io"

	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// prolog is how many bytes are searched for the encoding.
const prolog = 256

// Open reads the XML of a file in the encoding that it declares, UTF-8 when it
// declares none.
func Open(src io.Reader) (*Reader, error) {
	b := bufio.NewReaderSize(src, 4096)
	head, _ := b.Peek(prolog) // an error comes again with the first read
	name := Encoding(head)
	if name == "" {
		return New(text.Exact(b, text.UTF8)), nil
	}
	charset, ok := text.Named(name)
	if !ok {
		at := statement.Place{Line: 1, Column: 1}
		return nil, at.Refuse("the encoding is unknown", name, "UTF-8, UTF-16 or one of Western Europe", "Save the file as UTF-8; nothing of it was stored.")
	}
	return New(text.Exact(b, charset)), nil
}

// Encoding returns what the XML declaration at the start of a file names, empty
// when there is none.
func Encoding(head []byte) string {
	head = bytes.TrimLeft(head, "\xef\xbb\xbf \r\n\t")
	declaration, ok := bytes.CutPrefix(head, []byte("<?xml"))
	if !ok {
		return ""
	}
	declaration, _, _ = bytes.Cut(declaration, []byte("?>"))
	_, value, ok := bytes.Cut(declaration, []byte("encoding"))
	value = bytes.TrimLeft(value, " \t\r\n=")
	if !ok || len(value) < 2 {
		return ""
	}
	name, _, _ := bytes.Cut(value[1:], value[:1])
	return string(name)
}
