package statement

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// Place is where in a file something stands.
type Place struct {
	Line   int    // from 1; line breaks of any kind count once
	Column int    // byte of the line in UTF-8, from 1; 0 when it is the whole line
	Path   string // the element or field, such as Document/BkToCstmrStmt/Stmt[1]/Ntry[3] or :61:
}

// String is the place for a message.
func (p Place) String() string {
	s := "line " + strconv.Itoa(p.Line)
	if p.Column > 0 {
		s += ", column " + strconv.Itoa(p.Column)
	}
	if p.Path != "" {
		s += " (" + p.Path + ")"
	}
	return s
}

// In returns the place with a name added to its path.
func (p Place) In(name string) Place {
	if p.Path != "" && name != "" {
		p.Path += "/"
	}
	p.Path += name
	return p
}

// Refuse is the error for a file that cannot be taken: where, what was read,
// what was expected there and what the sender can do. read is quoted, and may be
// empty when nothing stood there. The message holds what the file says: it is
// for who sent the file, and a log must not get it.
func (p Place) Refuse(what, read, want, advice string) error {
	found := what
	if read != "" {
		found += " " + Quote(read)
	}
	message := fmt.Sprintf("%s: %s; expected %s. %s", p, found, want, advice)
	message = strings.ToUpper(message[:1]) + message[1:]
	e := fault.New(fault.InvalidArgument, "%s", strings.TrimSpace(message)).
		With("line", p.Line).With("expected", want)
	for name, value := range map[string]string{"path": p.Path, "read": cut(read)} {
		if value != "" {
			e = e.With(name, value)
		}
	}
	if p.Column > 0 {
		e = e.With("column", p.Column)
	}
	return e
}

// Correct is the advice for a value that is wrong in the file itself.
const Correct = "Correct it or export the file again; nothing of the file was stored."

// maxQuote is how much of a bad value an error repeats: the sender must find it,
// not read it.
const maxQuote = 60

// Quote makes a text of the file fit for a message.
func Quote(text string) string {
	if short := cut(text); short != text {
		return strconv.Quote(short) + "…"
	}
	return strconv.Quote(text)
}

func cut(text string) string {
	if len(text) <= maxQuote {
		return text
	}
	n := maxQuote
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
