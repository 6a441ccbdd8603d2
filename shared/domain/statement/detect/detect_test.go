package detect_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/detect"
	"github.com/robotmoney/mcp/shared/domain/statement/listing"
)

// TestFixtures: every fixture of the formats is known for what it is, whatever
// its sender calls it, and reads as its own reader reads it, again and again.
func TestFixtures(t *testing.T) {
	for pattern, want := range map[string]detect.Format{
		"../ofx/testdata/*.ofx": detect.OFX, "../camt/testdata/*.xml": detect.CAMT, "../mt940/testdata/*.sta": detect.MT940, "../csv/testdata/*.csv": detect.CSV,
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no fixtures, %v", pattern, err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			listed, err := os.ReadFile(strings.TrimSuffix(name, filepath.Ext(name)) + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			src := bytes.NewReader(content)
			for _, declared := range []string{"", "text/plain", "application/json", "text/csv; charset=utf-8", "application/xml"} {
				got, err := detect.Of(src, declared)
				if err != nil || got != want {
					t.Errorf("%s as %q: got %q, %v", name, declared, got, err)
				}
			}
			items := detect.Read(src, want, csv.Mapping{})
			for range 2 {
				if got, err := listing.Of(items); err != nil || got != string(listed) {
					t.Errorf("%s: got\n%s%v\nwant\n%s", name, got, err, listed)
				}
			}
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, text, declared string
		want                 detect.Format
	}{
		{"JSON lines", `{"type":"account"}` + "\n", "", detect.JSONLines},
		{"JSON lines after a mark", "\xef\xbb\xbf\n{ \"type\":\"account\"}\n", "", detect.JSONLines},
		{"JSON lines called CSV", `{"type":"account"}`, "text/csv", detect.JSONLines},
		{"OFX without a header", "\n<OFX><BANKMSGSRSV1>", "", detect.OFX},
		{"OFX with a short header", "ENCODING:UTF-8\n\n<OFX>", "", detect.OFX},
		{"OFX 2", `<?xml version="1.0"?><?OFX OFXHEADER="200"?><OFX>`, "text/plain", detect.OFX},
		{"camt with a prefix", `<n:Document xmlns:n="urn:iso:std:iso:20022:tech:xsd:camt.054.001.04">`, "", detect.CAMT},
		{"camt in UTF-16", "\xff\xfe<\x00D\x00o\x00c\x00u\x00m\x00e\x00n\x00t\x00>\x00", "", detect.CAMT},
		{"SWIFT blocks", "{1:F01X}{2:O940}{4:\n:20:X", "", detect.MT940},
		{"MT940 after other lines", "ABNANL2A\n940\nABNANL2A\n:20:X", "", detect.MT940},
		{"columns", "a;b\n", "", detect.CSV},
		{"one column, called CSV", "a\nb\n", "text/csv", detect.CSV},
		{"one column, called Excel's CSV", "a\nb\n", "application/vnd.ms-excel", detect.CSV},
		{"columns in UTF-16", "\xff\xfea\x00;\x00b\x00", "", detect.CSV},
	} {
		got, err := detect.Of(strings.NewReader(c.text), c.declared)
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "the file is empty"},
		{"blanks", " \r\n ", "the file is empty"},
		{"a mark alone", "\xef\xbb\xbf", "the file is empty"},
		{"an Excel workbook", "PK\x03\x04xx", "the file is a ZIP archive or an Excel workbook"},
		{"a PDF", "%PDF-1.7", "the file is a PDF"},
		{"gzip", "\x1f\x8b\x08", "the file is a gzip archive"},
		{"a web page", "<!DOCTYPE html><html>", "the file is a web page"},
		{"other XML", "<?xml version=\"1.0\"?><rss>", "the file is XML of another kind"},
		{"a JSON array", `[{"type":"account"}]`, "the file is a JSON array"},
		{"a letter", "Dear Sir or Madam\n", "the file's format is unknown"},
		{"bytes", "\x00\x00\x00\x00", "a NUL byte stands among the text"},
	} {
		got, err := detect.Of(strings.NewReader(c.text), "application/json")
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(fault.Of(err).Message, c.want) {
			t.Errorf("%s: got %q, %v, want %s", c.name, got, err, c.want)
		}
	}
}

var errBroken = errors.New("the store does not answer")

// broken is a file that can be gone to the start of and not read.
type broken struct{ seek error }

func (broken) Read([]byte) (int, error)         { return 0, errBroken }
func (b broken) Seek(int64, int) (int64, error) { return 0, b.seek }

// TestBrokenSource: what fails outside the file is no fault of the file's.
func TestBrokenSource(t *testing.T) {
	for _, src := range []io.ReadSeeker{broken{}, broken{seek: errBroken}} {
		if _, err := detect.Of(src, ""); !errors.Is(err, errBroken) || fault.Is(err, fault.InvalidArgument) {
			t.Errorf("got %v", err)
		}
		for _, f := range []detect.Format{detect.OFX, detect.CAMT, detect.MT940, detect.CSV, detect.JSONLines} {
			if _, err := listing.Of(detect.Read(src, f, csv.Mapping{})); !errors.Is(err, errBroken) || fault.Is(err, fault.InvalidArgument) {
				t.Errorf("%s: got %v", f, err)
			}
		}
	}
	if _, err := listing.Of(detect.Read(strings.NewReader("x"), "pdf", csv.Mapping{})); err == nil {
		t.Error("there is a reader for PDF")
	}
}

// TestStopping: whoever stops reading gets nothing more.
func TestStopping(t *testing.T) {
	for name, f := range map[string]detect.Format{"../ofx/testdata/account.ofx": detect.OFX, "../camt/testdata/v08.xml": detect.CAMT,
		"../mt940/testdata/german.sta": detect.MT940, "../csv/testdata/german.csv": detect.CSV} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for stop := 1; stop < 6; stop++ {
			n := 0
			detect.Read(bytes.NewReader(content), f, csv.Mapping{})(func(statement.Item, error) bool {
				n++
				return n < stop
			})
			if n > stop {
				t.Errorf("%s: %d items after %d", name, n, stop)
			}
		}
	}
}

// FuzzRead: what a reader yields begins with a statement, and amounts of entries
// are never negative.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"account","account":"A","currency":"EUR"}`), "")
	f.Add([]byte("Date;Amount (EUR)\n2025-04-02;1.00\n"), "text/csv")
	f.Add([]byte("<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM></STMTRS></OFX>"), "")
	f.Fuzz(func(t *testing.T, content []byte, mediaType string) {
		src := bytes.NewReader(content)
		format, err := detect.Of(src, mediaType)
		if err != nil {
			if !fault.Is(err, fault.InvalidArgument) {
				t.Errorf("the error has no code of the file's: %v", err)
			}
			return
		}
		begun := false
		for item, err := range detect.Read(src, format, csv.Mapping{}) {
			if err != nil {
				if !fault.Is(err, fault.InvalidArgument) {
					t.Errorf("the error has no code of the file's: %v", err)
				}
				return
			}
			switch x := item.(type) {
			case *statement.Statement:
				begun = true
			case *statement.Entry:
				if !begun || x.Amount.Sign() < 0 || x.Amount.Currency().IsZero() || x.Line < 1 || x.Status == statement.Posted && x.Booked == "" {
					t.Errorf("an entry before its statement, or not whole: %s", listing.Line(x))
				}
			case *statement.Balance:
				if !begun || x.Amount.Currency().IsZero() {
					t.Errorf("a balance before its statement, or without a currency: %s", listing.Line(x))
				}
			}
		}
	})
}
