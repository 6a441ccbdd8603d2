package mt940

import (
	"errors"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

var errDate = errors.New("it is no date")

// The widths banks break their texts at. A part of full width was cut in the
// middle of a word, a shorter one ended there.
const (
	lineWidth = 65
	partWidth = 27
)

// join puts parts together again.
func join(parts []string, width int) string {
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i < len(parts)-1 && len([]rune(part)) < width && part != "" {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// narrative reads :86:, of the entry before it or of the statement when there is
// none.
func (p *parser) narrative(f *field) error {
	m := p.message
	if m.entry != nil {
		if len(m.words)+len(f.lines) > maxLines {
			return f.at.Refuse("the entry has too many words", "", "at most 200 lines", statement.Correct)
		}
		m.words = append(m.words, f.lines...)
		return nil
	}
	text := statement.Blanks(join(f.lines, lineWidth))
	if text == "" {
		return nil
	}
	if err := p.open(); err != nil {
		return err
	}
	return p.emit(&statement.Note{Place: f.at, Topic: statement.Narrative, Text: text})
}

// supplement reads the line below :61:, in which some banks put what the payment
// was before charges and exchange.
func supplement(e *statement.Entry, text string) {
	e.Raw = text
	parts := coded(text)
	if a, ok := money3(parts["OCMT"]); ok && a.Currency() != e.Amount.Currency() {
		e.Original.Amount = a
	}
	if a, ok := money3(parts["CHGS"]); ok && a.Sign() > 0 {
		e.Charges = append(e.Charges, statement.Charge{Amount: a, Direction: statement.Outflow, Included: true})
	}
}

// money3 reads EUR12,50. What cannot be read stays in the raw text.
func money3(text string) (money.Amount, bool) {
	if len(text) < 4 {
		return money.Amount{}, false
	}
	c, err := money.Parse(text[:3])
	if err != nil {
		return money.Amount{}, false
	}
	a, err := amount(strings.Trim(text[3:], "/"), c)
	return a, err == nil
}

// describe reads the lines of :86: in whichever of its forms: German sub-fields
// behind a code of three digits, words between slashes, or plain text.
func describe(e *statement.Entry, lines []string) {
	whole := strings.Join(lines, "")
	if sep, ok := structured(whole); ok {
		e.Raw = statement.Blanks(e.Raw + " " + whole)
		german(e, subfields(whole[3:], sep))
		return
	}
	text := statement.Blanks(join(lines, lineWidth))
	if parts := coded(text); len(parts) > 0 {
		e.Raw = statement.Blanks(e.Raw + " " + text)
		dutch(e, parts)
		return
	}
	e.Memo = text
	tagged(e, text)
	if e.Memo != text {
		e.Raw = statement.Blanks(e.Raw + " " + text)
	}
}

// structured says whether a text begins with a code and a sub-field, and which
// character begins one.
func structured(text string) (sep byte, ok bool) {
	if len(text) < 6 || !digit(text[0]) || !digit(text[1]) || !digit(text[2]) {
		return 0, false
	}
	sep = text[3]
	return sep, strings.IndexByte("?><+~&@|", sep) >= 0 && digit(text[4]) && digit(text[5])
}

// subfields splits ?20text?21text. A separator that no two digits follow is text.
func subfields(text string, sep byte) map[string][]string {
	parts := map[string][]string{}
	for from := 0; from < len(text); {
		next := from + 3
		for next < len(text) && !(text[next] == sep && next+2 < len(text) && digit(text[next+1]) && digit(text[next+2])) {
			next++
		}
		if from+3 <= len(text) {
			name := text[from+1 : from+3]
			parts[name] = append(parts[name], text[from+3:min(next, len(text))])
		}
		from = next
	}
	return parts
}

// german reads the sub-fields of the German banks.
func german(e *statement.Entry, parts map[string][]string) {
	var purpose []string
	for _, name := range []string{"20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "60", "61", "62", "63"} {
		purpose = append(purpose, parts[name]...)
	}
	one := func(name string) string { return strings.TrimSpace(strings.Join(parts[name], "")) }
	e.Party = statement.Party{
		Name:    statement.Blanks(join(append(append([]string{}, parts["32"]...), parts["33"]...), partWidth)),
		Account: strings.ReplaceAll(one("38"), " ", ""), // an IBAN, beside a national number in 31
		Bank:    one("30"),
	}
	if e.Party.Account == "" {
		e.Party.Account = strings.ReplaceAll(one("31"), " ", "")
	}
	e.Memo = statement.Blanks(join(purpose, partWidth))
	tagged(e, e.Memo)
	if e.Memo == "" {
		e.Memo = one("00")
	}
}

// tags are the words with a plus that begin a part of a SEPA purpose.
var tags = []string{"EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "COAM+", "OAMT+", "PURP+", "IBAN+", "BIC+", "ANAM+"}

// tagged takes the SEPA parts out of a purpose.
func tagged(e *statement.Entry, text string) {
	parts, before := cutTags(text)
	if len(parts) == 0 {
		return
	}
	ref := func(tag string) string { return given(strings.ReplaceAll(parts[tag], " ", "")) }
	e.Refs.EndToEnd = ref("EREF+")
	e.Refs.Mandate = ref("MREF+")
	e.Refs.Creditor = ref("CRED+")
	if own := ref("KREF+"); own != "" && e.Refs.Customer == "" {
		e.Refs.Customer = own
	}
	if e.Party.Account == "" {
		e.Party.Account = ref("IBAN+")
	}
	if e.Party.Bank == "" {
		e.Party.Bank = ref("BIC+")
	}
	if e.Party.Name == "" {
		e.Party.Name = parts["ANAM+"]
	}
	e.Memo = before
	if words := parts["SVWZ+"]; words != "" {
		e.Memo = words
	}
}

// piece is a part of a text and the word that begins it.
type piece struct {
	name     string
	from, to int // of the word with its signs
}

// cutTags splits text at the tags; before is what stands in front of the first.
func cutTags(text string) (parts map[string]string, before string) {
	var found []piece
	for i := range len(text) {
		if text[i] != '+' {
			continue
		}
		for _, tag := range tags {
			if strings.HasSuffix(text[:i+1], tag) {
				found = append(found, piece{tag, i + 1 - len(tag), i + 1})
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, text
	}
	return cut(text, found), strings.TrimSpace(text[:found[0].from])
}

// cut gives each piece's text, of the first where a word is there twice.
func cut(text string, found []piece) map[string]string {
	parts := map[string]string{}
	for i, p := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1].from
		}
		if _, there := parts[p.name]; !there {
			parts[p.name] = strings.TrimSpace(text[p.to:end])
		}
	}
	return parts
}

// codes are the words between slashes that begin a part.
var codes = map[string]bool{
	"TRTP": true, "IBAN": true, "BIC": true, "NAME": true, "REMI": true, "EREF": true, "MARF": true, "CSID": true, "ORDP": true,
	"BENM": true, "ID": true, "PREF": true, "RTYP": true, "CNTP": true, "PURP": true, "ISDT": true, "RTRN": true, "TRCD": true,
	"OCMT": true, "CHGS": true, "INIT": true, "ULTC": true, "ULTD": true, "ULTB": true, "NRTX": true, "EXCH": true, "BUSP": true,
	"ADDR": true, "IREF": true, "KREF": true, "ACCW": true, "PDAT": true, "SVCL": true,
}

// maxCode is how long a word between slashes is.
const maxCode = 4

// coded splits /EREF/1234/REMI/text, nothing when the text does not begin so.
func coded(text string) map[string]string {
	var found []piece
	for i := 0; i < len(text); i++ {
		if text[i] != '/' {
			continue
		}
		word, _, ok := strings.Cut(text[i+1:min(len(text), i+maxCode+2)], "/")
		if ok && codes[word] {
			found = append(found, piece{word, i, i + len(word) + 2})
			i += len(word) + 1
		}
	}
	if len(found) == 0 || found[0].from != 0 {
		return nil
	}
	parts := cut(text, found)
	for name, part := range parts {
		parts[name] = strings.TrimRight(part, "/ ")
	}
	return parts
}

// dutch reads the words between slashes, as banks of the Netherlands write them.
func dutch(e *statement.Entry, parts map[string]string) {
	e.Refs.EndToEnd = given(parts["EREF"])
	e.Refs.Mandate = given(parts["MARF"])
	e.Refs.Creditor = given(parts["CSID"])
	e.Party = statement.Party{Name: parts["NAME"], Account: parts["IBAN"], Bank: parts["BIC"]}
	if side := strings.Split(parts["CNTP"], "/"); len(side) >= 3 {
		e.Party = statement.Party{Account: side[0], Bank: side[1], Name: side[2]}
	}
	memo := parts["REMI"]
	for _, form := range []string{"USTD//", "STRD/CUR/", "STRD/ISO/"} {
		if text, ok := strings.CutPrefix(memo, form); ok {
			memo = text
			if form != "USTD//" {
				e.Refs.Creditor = text
			}
		}
	}
	e.Memo = statement.Blanks(memo)
	if e.Memo == "" {
		e.Memo = parts["TRTP"]
	}
}
