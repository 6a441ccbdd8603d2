package jsonlines

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/robotmoney/mcp/shared/domain/statement"
)

// maxParts bounds how wide a line is and maxDepth how deep: the names that are
// compared grow with the first, the decoder's stack with the second.
const (
	maxParts = 400
	maxDepth = 16
)

// once says whether a line is one object in which no name is there twice, and
// returns the names of the object itself. Two readers of a line with a name twice
// would see two lines.
func once(line string) ([]string, error) {
	if line[0] != '{' {
		return nil, errors.New("it does not begin with {")
	}
	if !json.Valid([]byte(line)) {
		return nil, errors.New("it is no JSON, or something follows the object")
	}
	s := scan{line: line}
	for s.at < len(line) {
		if err := s.step(); err != nil {
			return nil, err
		}
		if s.parts > maxParts || len(s.open) > maxDepth {
			return nil, errors.New("it has too many parts")
		}
	}
	return s.own, nil
}

// scan walks over valid JSON.
type scan struct {
	line  string
	at    int
	open  []int    // for each open object where its names begin, -1 for an array
	names []string // of the open objects
	own   []string // of the outermost
	name  bool     // a name comes next
	parts int
}

// step walks over one character, or one text.
func (s *scan) step() error {
	c := s.line[s.at]
	switch c {
	case '{':
		s.open, s.name = append(s.open, len(s.names)), true
		s.parts++
	case '[':
		s.open, s.name = append(s.open, -1), false
	case '}', ']':
		if from := s.open[len(s.open)-1]; from >= 0 {
			s.names = s.names[:from]
		}
		s.open, s.name = s.open[:len(s.open)-1], false
	case ',':
		s.name = s.open[len(s.open)-1] >= 0
		s.parts++
	case ':':
		s.name = false
	case '"':
		return s.text()
	}
	s.at++
	return nil
}

// text walks over a text, and keeps it when it is a name.
func (s *scan) text() error {
	from := s.at
	for s.at++; s.line[s.at] != '"'; s.at++ {
		if s.line[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	if !s.name {
		return nil
	}
	name := s.line[from+1 : s.at-1]
	if strings.IndexByte(name, '\\') >= 0 {
		if err := json.Unmarshal([]byte(s.line[from:s.at]), &name); err != nil {
			return errors.New("it is no JSON")
		}
	}
	for _, other := range s.names[s.open[len(s.open)-1]:] {
		if strings.EqualFold(other, name) {
			return fmt.Errorf("the name %s is there twice", statement.Quote(name))
		}
	}
	s.names = append(s.names, name)
	if len(s.open) == 1 {
		s.own = append(s.own, name)
	}
	return nil
}

var fieldNames sync.Map // of each type of line, by its reflect.Type

// fieldsOf are the names a line of a type may have.
func fieldsOf(into any) []string {
	t := reflect.TypeOf(into).Elem()
	if names, ok := fieldNames.Load(t); ok {
		return names.([]string)
	}
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("json"))
	}
	fieldNames.Store(t, names)
	return names
}
