package csv

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// The header line is looked for in so much of the file, and among so many rows.
const (
	sampleBytes = 64 << 10
	sampleRows  = 100
)

// Survey reads a file to its end and completes what of the mapping is empty. It
// fails when something cannot be decided and the mapping does not say it, at the
// row that shows it. It keeps counts and first places, and no rows.
func Survey(src io.Reader, given Mapping) (Mapping, error) {
	if err := given.Check(); err != nil {
		return Mapping{}, statement.Place{Line: 1}.Refuse("the mapping cannot be used: "+err.Error(), "", "a mapping that fits", "Correct the mapping.")
	}
	t := given.open(src)
	s := survey{Mapping: given, spoken: anywhere, outs: map[int]*column{}}
	s.Columns = map[int]Field{}
	for i, f := range given.Columns {
		s.Columns[i] = f
	}
	if err := s.layout(t); err != nil {
		return Mapping{}, err
	}
	if err := s.rows(t); err != nil {
		return Mapping{}, err
	}
	if err := s.decide(); err != nil {
		return Mapping{}, err
	}
	return s.Mapping, nil
}

// survey is what is known of the file so far.
type survey struct {
	Mapping
	spoken language

	calendar              calendar
	points, commas, equal *place // amounts that say their decimal sign, or do not
	signed                bool   // an amount has a sign of its own
	outs                  map[int]*column
	minus, plus           *place // in the column of debits
	dollar                bool
	coined                money.Currency // of the first mark
}

// column is one that may say which way the money goes.
type column struct{ words, others int }

// layout finds the delimiter, the header line and the columns in the first part
// of the file.
func (s *survey) layout(t *text.Reader) error {
	head, err := t.Ahead(sampleBytes)
	if errors.Is(err, io.EOF) {
		return t.Place().Refuse("the file is empty", "", "rows", statement.Correct)
	}
	if err != nil {
		return err
	}
	head = bytes.Clone(head[:min(len(head), sampleBytes)])
	if s.NoHeader {
		if s.Delimiter == "" {
			s.Delimiter = widest(head)
		}
		return nil
	}
	tried := delimiters
	if s.Delimiter != "" {
		tried = []string{s.Delimiter}
	}
	var best heading
	for _, d := range tried {
		if h, ok := s.heading(head, d); ok && len(h.columns) > len(best.columns) {
			best = h
		}
	}
	switch {
	case best.columns != nil:
		s.take(best)
		return nil
	case len(s.Header) > 0:
		return noHeader(s.Header)
	}
	return statement.Place{Line: 1}.Refuse("no header line is in the file that names a date and an amount", "", "a line such as Date;Description;Amount",
		"Give a mapping that says what the columns hold.")
}

func noHeader(header []string) error {
	return statement.Place{Line: 1}.Refuse("the header line of the mapping is not in the file", "", strings.Join(header, " | "),
		"The bank changed its export: give a new mapping.")
}

// heading is a header line and what it says.
type heading struct {
	delimiter string
	cells     []string
	columns   map[int]Field
	spoken    language
	currency  money.Currency
	before    [][]string // the lines above it
}

// heading looks for the header line with a delimiter: the one of the mapping, or
// the first that names a date and an amount.
func (s *survey) heading(head []byte, delimiter string) (heading, bool) {
	rows := sample(head, delimiter)
	for i, cells := range rows {
		found, spoken, c, ok := columns(cells)
		if len(s.Header) > 0 && !same(cells, s.Header) {
			continue
		}
		if len(s.Columns) > 0 {
			found, ok = s.Columns, true
		}
		if ok {
			return heading{delimiter, cells, found, spoken, c, rows[:i]}, true
		}
	}
	return heading{}, false
}

func (s *survey) take(h heading) {
	s.Delimiter, s.Header, s.Columns, s.spoken = h.delimiter, h.cells, h.columns, h.spoken
	if s.Currency == "" && !h.currency.IsZero() {
		s.Currency = h.currency.String()
	}
	s.preamble(h.before)
}

// same compares header lines by what they say.
func same(cells, header []string) bool {
	return slices.EqualFunc(trimmed(cells), trimmed(header), func(a, b string) bool { return fold(a) == fold(b) })
}

func trimmed(cells []string) []string {
	n := len(cells)
	for n > 0 && strings.TrimSpace(cells[n-1]) == "" {
		n--
	}
	return cells[:n]
}

// sample reads the first rows. What is wrong with them is found later.
func sample(head []byte, delimiter string) [][]string {
	r := records{text: text.Exact(bytes.NewReader(head), text.UTF8), delimiter: delimiter[0]}
	var rows [][]string
	for len(rows) < sampleRows {
		row, err := r.next()
		if err != nil {
			break
		}
		rows = append(rows, slices.Clone(row.cells))
	}
	return rows
}

// widest is the delimiter that makes the most cells of the first row.
func widest(head []byte) string {
	best, most := delimiters[0], 0
	for _, d := range delimiters {
		if rows := sample(head, d); len(rows) > 0 && len(rows[0]) > most {
			best, most = d, len(rows[0])
		}
	}
	return best
}

// preamble looks for the account and its currency in the lines above the header.
// A code alone in a cell is one, and so is one in a line that speaks of a
// currency; ALL in "all accounts" is not Albania's.
func (s *survey) preamble(rows [][]string) {
	for _, cells := range rows {
		labelled := strings.Contains(fold(strings.Join(cells, " ")), "wahrung")
		var words []string
		for _, cell := range cells {
			words = append(words, strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" :;,()", r) })...)
			words = append(words, strings.ReplaceAll(cell, " ", ""))
			if c := strings.TrimSpace(cell); s.Currency == "" && currencyCode(c) {
				s.Currency = c
			}
		}
		for _, word := range words {
			labelled = labelled || meanings[fold(word)].field == Currency
			if s.Account == "" && iban(word) {
				s.Account = word
			}
			if labelled && s.Currency == "" && currencyCode(word) {
				s.Currency = word
			}
		}
	}
}

// iban says whether a text is an IBAN, by its check digits.
func iban(text string) bool {
	if len(text) < 15 || len(text) > 34 {
		return false
	}
	rest := 0
	for _, c := range []byte(text[4:] + text[:4]) {
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rest = (rest*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1 && text[0] >= 'A' && text[2] <= '9'
}

// rows looks at every row.
func (s *survey) rows(t *text.Reader) error {
	_, err := s.each(t, func(row *record) error {
		for i := range row.cells {
			cell := row.cell(i)
			if cell == "" {
				continue
			}
			switch s.Columns[i] {
			case Booked, Value:
				if p, ok := split(cell); ok {
					s.calendar.see(p, place{s.where(row, i), cell})
				} else if s.Columns[i] == Value && currencyCode(cell) {
					s.retitle(i) // "Valuta" is a currency to the Dutch
				}
			case Amount, Debit, Credit, Balance:
				s.amount(row, i, cell)
			case Type, "":
				s.word(i, cell)
			}
		}
		return nil
	})
	return err
}

func currencyCode(cell string) bool {
	_, err := money.Parse(cell)
	return err == nil
}

func (s *survey) retitle(i int) {
	if !slices.Contains(values(s.Columns), Currency) {
		s.Columns[i] = Currency
	}
}

func values(columns map[int]Field) (all []Field) {
	for _, f := range columns {
		all = append(all, f)
	}
	return all
}

// amount gathers what an amount's cell says. What is none is refused by Read.
func (s *survey) amount(row *record, i int, cell string) {
	w, err := decimal.Read(cell)
	if err != nil {
		return
	}
	p := &place{s.where(row, i), cell}
	note := func(to **place) {
		if *to == nil {
			*to = p
		}
	}
	switch w.Decimal() {
	case decimal.Point:
		note(&s.points)
	case decimal.Comma:
		note(&s.commas)
	case decimal.Either:
		note(&s.equal)
	}
	switch f := s.Columns[i]; {
	case f == Amount && w.Signed:
		s.signed = true
	case f == Debit && w.Negative:
		note(&s.minus)
	case f == Debit && strings.Trim(w.Body, "0.,") != "":
		note(&s.plus)
	}
	if w.Mark != "" {
		s.dollar = s.dollar || w.Mark == "$"
		if c, ok := marked(w.Mark, money.Currency{}); ok && s.coined.IsZero() {
			s.coined = c
		}
	}
}

// word counts what of a column's cells says which way the money went.
func (s *survey) word(i int, cell string) {
	c := s.outs[i]
	if c == nil {
		if len(s.outs) >= maxCells {
			return
		}
		c = &column{}
		s.outs[i] = c
	}
	if _, ok := s.direction(cell); ok {
		c.words++
	} else {
		c.others++
	}
}

// decide completes the mapping from what all rows say.
func (s *survey) decide() error {
	if s.Dates == "" {
		order, err := s.calendar.order(s.spoken)
		if err != nil {
			return err
		}
		s.Dates = order
	}
	if err := s.decideDecimal(); err != nil {
		return err
	}
	if s.minus != nil && s.plus != nil {
		return s.minus.at.Refuse("the column of debits has amounts with a minus and without, so one of them is no debit; the first with a minus is",
			s.minus.text, "one kind", "Give a mapping with the column as amount.")
	}
	if !s.signed && !slices.Contains(values(s.Columns), Sign) {
		s.decideSign()
	}
	if s.Currency == "" && !s.coined.IsZero() {
		s.Currency = s.coined.String()
		if s.dollar && s.Currency == "USD" {
			s.Doubts = append(s.Doubts, "the dollar sign was taken for USD: the file names no currency")
		}
	}
	return nil
}

func (s *survey) decideDecimal() error {
	switch {
	case s.Decimal != "":
	case s.points != nil && s.commas != nil:
		return s.commas.at.Refuse("the amount has a decimal comma, and "+statement.Quote(s.points.text)+" in line "+line(s.points.at)+" a point",
			s.commas.text, "one decimal sign in the whole file", "Give a mapping with the decimal sign, or correct the file.")
	case s.points != nil:
		s.Decimal = "."
	case s.commas != nil:
		s.Decimal = ","
	case s.equal != nil:
		return s.equal.at.Refuse("no amount in the file says whether . and , group or begin the decimals; the first is", s.equal.text,
			"an amount such as 12,50 or 12.50", "Give a mapping with the decimal sign.")
	}
	return nil
}

// decideSign takes a column whose every cell says which way, where the amounts
// do not say it and no header does: of a kind of movement, or without a title.
func (s *survey) decideSign() {
	for i := range maxCells {
		c := s.outs[i]
		if c == nil {
			continue
		}
		titled := i < len(s.Header) && strings.TrimSpace(s.Header[i]) != ""
		if c.words > 0 && c.others == 0 && (s.Columns[i] == Type || !titled && !s.NoHeader) {
			s.Columns[i] = Sign
			return
		}
	}
}
