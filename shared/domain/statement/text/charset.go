package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Charset is how bytes above 127 are read. The zero Charset is UTF-8.
type Charset struct {
	name  string
	table *[256]rune // of a single-byte set
	wide  bool       // UTF-16; which end comes first the bytes tell
}

// The sets a reader is asked for by name in the program.
var (
	UTF8        = Charset{name: "UTF-8"}
	Windows1252 = single("windows-1252", charmap.Windows1252)
)

// sets are the names files use, as folded. ISO 8859-1 is read as Windows 1252:
// the two differ where the first has control characters, and what a bank wrote
// there is a euro sign or a quotation mark.
var sets = map[string]Charset{
	"utf8": UTF8, "unicode": UTF8, "none": UTF8, "65001": UTF8,
	"usascii": Windows1252, "ascii": Windows1252, "1252": Windows1252, "windows1252": Windows1252, "cp1252": Windows1252,
	"iso88591": Windows1252, "88591": Windows1252, "latin1": Windows1252,
	"iso88592": single("iso-8859-2", charmap.ISO8859_2), "88592": single("iso-8859-2", charmap.ISO8859_2),
	"iso885915": single("iso-8859-15", charmap.ISO8859_15), "885915": single("iso-8859-15", charmap.ISO8859_15),
	"windows1250": single("windows-1250", charmap.Windows1250), "1250": single("windows-1250", charmap.Windows1250),
	"windows1251": single("windows-1251", charmap.Windows1251), "1251": single("windows-1251", charmap.Windows1251),
	"cp850": single("cp850", charmap.CodePage850), "ibm850": single("cp850", charmap.CodePage850), "850": single("cp850", charmap.CodePage850),
	"utf16": {name: "UTF-16", wide: true}, "utf16le": {name: "UTF-16", wide: true}, "utf16be": {name: "UTF-16", wide: true},
}

// Named returns the set a file's header names, such as ISO-8859-1 or 1252.
func Named(name string) (Charset, bool) {
	folded := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
	c, ok := sets[folded]
	return c, ok
}

// String is the set's name.
func (c Charset) String() string {
	if c.name == "" {
		return UTF8.name
	}
	return c.name
}

// single makes the table of a single-byte set. A byte the set leaves open stays
// the control character of that number: no bank means anything by it, and the
// text stays readable.
func single(name string, m *charmap.Charmap) Charset {
	var table [256]rune
	for i := range table {
		table[i] = m.DecodeByte(byte(i))
		if table[i] == utf8.RuneError {
			table[i] = rune(i)
		}
	}
	return Charset{name: name, table: &table}
}
