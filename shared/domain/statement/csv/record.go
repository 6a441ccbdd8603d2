package csv

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// The bounds of a row.
const (
	maxRecord = 64 << 10
	maxCells  = 512
)

var delimiters = []string{";", "\t", "|", ","}

// record is a row as it stands in the file. It is valid until the next is read.
type record struct {
	cells []string
	ends  []int
	buf   []byte
	at    statement.Place
	lines int // it goes over so many
}

// cell is a cell's text without blanks around it, empty where there is none.
func (r *record) cell(i int) string {
	if i < 0 || i >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

// blank says whether nothing is in the row.
func (r *record) blank() bool {
	for i := range r.cells {
		if r.cell(i) != "" {
			return false
		}
	}
	return true
}

// width is how many cells there are up to the last that holds something.
func (r *record) width() int {
	n := len(r.cells)
	for n > 0 && r.cell(n-1) == "" {
		n--
	}
	return n
}

// records reads rows.
type records struct {
	text      *text.Reader
	delimiter byte
	row       record
}

// next reads a row, io.EOF after the last.
func (r *records) next() (*record, error) {
	row := &r.row
	row.cells, row.ends, row.buf = row.cells[:0], row.ends[:0], row.buf[:0]
	row.at = r.text.Place()
	row.at.Column = 0
	if _, err := r.text.Ahead(1); err != nil {
		return nil, err
	}
	for more := true; more; {
		var err error
		if more, err = r.cell(); err != nil {
			return nil, err
		}
		if row.ends = append(row.ends, len(row.buf)); len(row.ends) > maxCells {
			return nil, row.at.Refuse("the row has too many cells", "", "at most "+strconv.Itoa(maxCells), statement.Correct)
		}
	}
	// One copy for all cells: they are cut from it.
	whole, from := string(row.buf), 0
	for _, end := range row.ends {
		row.cells = append(row.cells, whole[from:end])
		from = end
	}
	row.lines = r.text.Place().Line - row.at.Line
	return row, nil
}

// cell reads one, and says whether another follows it in the row.
func (r *records) cell() (more bool, err error) {
	b, err := r.text.Ahead(1)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if b[0] == '"' {
		if err := r.quoted(); err != nil {
			return false, err
		}
	}
	for {
		b, err := r.text.Ahead(1)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		n := 0
		for n < len(b) && b[n] != r.delimiter && b[n] != '\n' {
			n++
		}
		if err := r.keep(b[:n]); err != nil {
			return false, err
		}
		if n < len(b) {
			more = b[n] == r.delimiter
			r.text.Skip(n + 1)
			return more, nil
		}
		r.text.Skip(n)
	}
}

// quoted reads a cell in quotation marks. A mark that neither the cell nor the
// row ends after is one the bank did not double.
func (r *records) quoted() error {
	at := r.text.Place()
	r.text.Skip(1)
	for {
		b, err := r.text.Ahead(2)
		if errors.Is(err, io.EOF) {
			return at.Refuse("a quotation mark is never closed", "", `"`, statement.Correct)
		}
		if err != nil {
			return err
		}
		n := bytes.IndexByte(b, '"')
		if n < 0 {
			n = len(b)
		}
		if err := r.keep(b[:n]); err != nil {
			return at.Refuse("a quotation mark is not closed for too long", "", `" within `+strconv.Itoa(maxRecord)+" bytes", statement.Correct)
		}
		r.text.Skip(n)
		if n == len(b) {
			continue
		}
		if b, err = r.text.Ahead(maxBlanks); err != nil {
			return err
		}
		r.text.Skip(1)
		if r.closes(b[1:]) {
			return nil
		}
		if b[1] == '"' {
			r.text.Skip(1)
		}
		if err := r.keep(b[:1]); err != nil {
			return err
		}
	}
}

// maxBlanks is how far behind a quotation mark the end of its cell is looked for.
const maxBlanks = 64

// closes says whether the cell ends with what stands before b, blanks aside.
func (r *records) closes(b []byte) bool {
	for _, c := range b[:min(len(b), maxBlanks)] {
		if c == r.delimiter || c == '\n' {
			return true
		}
		if c != ' ' {
			return false
		}
	}
	return true
}

func (r *records) keep(b []byte) error {
	if len(r.row.buf)+len(b) > maxRecord {
		return r.row.at.Refuse("the row is too long", "", "at most "+strconv.Itoa(maxRecord)+" bytes", statement.Correct)
	}
	r.row.buf = append(r.row.buf, b...)
	return nil
}
