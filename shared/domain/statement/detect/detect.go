// Package detect finds out which format a file has, and reads it. What the file
// begins with decides; what its sender calls it matters only where that says
// nothing. No file's name is looked at, or made a path of.
package detect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/camt"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/jsonlines"
	"github.com/robotmoney/mcp/shared/domain/statement/mt940"
	"github.com/robotmoney/mcp/shared/domain/statement/ofx"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// Format is one that is read.
type Format string

// The formats.
const (
	OFX       Format = "ofx"
	CAMT      Format = "camt"
	MT940     Format = "mt940"
	CSV       Format = "csv"
	JSONLines Format = "jsonlines"
)

// head is how many bytes of a file are looked at.
const head = 8 << 10

// Of finds a file's format from its first bytes and the media type its sender
// declared, which may be empty or wrong. It leaves the file at its start. The
// error has a fault.Code when the file is none that is read, and says what it
// seems to be.
func Of(src io.ReadSeeker, mediaType string) (Format, error) {
	if err := rewind(src); err != nil {
		return "", err
	}
	b := make([]byte, head)
	n, err := io.ReadFull(src, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("read the file: %w", err)
	}
	if err := rewind(src); err != nil {
		return "", err
	}
	return format(b[:n], mediaType)
}

// Read yields what the file says, from its start, in the format Of found. The
// mapping is for CSV, and empty where nothing is known of the columns. It can be
// called again on the same file, and yields the same.
func Read(src io.ReadSeeker, f Format, m csv.Mapping) statement.Items {
	return func(yield func(statement.Item, error) bool) {
		items, err := open(src, f, m)
		if err != nil {
			yield(nil, err)
			return
		}
		items(yield)
	}
}

func open(src io.ReadSeeker, f Format, m csv.Mapping) (statement.Items, error) {
	if err := rewind(src); err != nil {
		return nil, err
	}
	switch f {
	case OFX:
		return ofx.Read(src), nil
	case CAMT:
		return camt.Read(src), nil
	case MT940:
		return mt940.Read(src), nil
	case JSONLines:
		return jsonlines.Read(src), nil
	case CSV:
		complete, err := csv.Survey(src, m)
		if err != nil {
			return nil, err
		}
		return csv.Read(src, complete), rewind(src)
	}
	return nil, fmt.Errorf("read a file in the format %.20q: there is none", string(f))
}

func rewind(src io.Seeker) error {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("go to the file's start: %w", err)
	}
	return nil
}

// foreign are files that are no text, by their first bytes.
var foreign = []struct{ magic, name, advice string }{
	{"PK\x03\x04", "a ZIP archive or an Excel workbook", "Send the statement in it, a workbook saved as CSV."},
	{"PK\x05\x06", "an empty ZIP archive", "Send the statement itself."},
	{"\x1f\x8b", "a gzip archive", "Send the file in it."},
	{"%PDF", "a PDF", "Export the statement as CAMT, OFX, MT940 or CSV."},
	{"\xd0\xcf\x11\xe0", "an old Excel workbook", "Save it as CSV."},
	{"{\\rtf", "a document of a word processor", "Export the statement as CAMT, OFX, MT940 or CSV."},
}

// The beginnings of the formats.
var (
	swift   = lazy.Pattern(`(?m)^(\{[124]:|:20:|:25P?:|:28C?:)`)
	camtTag = lazy.Pattern(`camt\.05[34]\.001|<([A-Za-z0-9_.-]+:)?(BkToCstmrStmt|BkToCstmrDbtCdtNtfctn|Document)[\s>]`)
	object  = lazy.Pattern(`^\{\s*("|\})`)
	html    = lazy.Pattern(`(?i)^<(!doctype\s+html|html|head|body)`)
)

// known is what may be sent, for messages.
const known = "OFX, CAMT.053 or CAMT.054, MT940 or MT942, CSV, or JSON lines"

func format(b []byte, mediaType string) (Format, error) {
	at := statement.Place{Line: 1}
	for _, f := range foreign {
		if bytes.HasPrefix(b, []byte(f.magic)) {
			return "", at.Refuse("the file is "+f.name, "", known, f.advice)
		}
	}
	decoded, err := text.Guess(bytes.NewReader(b), text.Windows1252).Ahead(3 * head)
	if errors.Is(err, io.EOF) || err == nil && len(bytes.TrimSpace(decoded)) == 0 {
		return "", at.Refuse("the file is empty", "", known, "Send the statement.")
	}
	if err != nil {
		return "", err
	}
	start := bytes.TrimSpace(decoded)
	switch {
	case html().Match(start):
		return "", at.Refuse("the file is a web page", "", known, "Log in at the bank and export the statement again.")
	case bytes.HasPrefix(start, []byte("OFXHEADER")), bytes.HasPrefix(start, []byte("<OFX")),
		start[0] == '<' && (bytes.Contains(start, []byte("<?OFX")) || bytes.Contains(start, []byte("<OFX>"))):
		return OFX, nil
	case start[0] == '<':
		if camtTag().Match(start) {
			return CAMT, nil
		}
		return "", at.Refuse("the file is XML of another kind", string(start), known, "Export the statement as camt.053 or OFX.")
	case start[0] == '[':
		return "", at.Refuse("the file is a JSON array", string(start), known, "Send one object a line, without the array around them.")
	case object().Match(start):
		return JSONLines, nil
	case swift().Match(start):
		return MT940, nil
	case bytes.Contains(start, []byte("<OFX>")):
		return OFX, nil
	case tabular(start, mediaType):
		return CSV, nil
	}
	return "", at.Refuse("the file's format is unknown", string(start), known, "Export the statement in one of these.")
}

// tabular says whether the text may be in columns: a line has a delimiter, or the
// sender says so.
func tabular(start []byte, mediaType string) bool {
	declared, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch strings.TrimSpace(declared) {
	case "text/csv", "text/tab-separated-values", "application/csv", "application/vnd.ms-excel":
		return true
	}
	return bytes.ContainsAny(start, ";,\t|")
}
