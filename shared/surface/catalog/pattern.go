package catalog

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxURI bounds the URIs that are looked at. No id or slug comes near it.
const maxURI = 2 << 10

// pattern matches URIs against an RFC 6570 template of literals, simple
// expressions {x} and reserved ones {+x}.
type pattern struct {
	parts []part
}

// part is a variable and the literal text that follows it; the first part of a
// pattern has no variable.
type part struct {
	name     string
	reserved bool // the value may hold slashes
	literal  string
}

var (
	expression   = regexp.MustCompile(`\{[^{}]*\}`)
	variableForm = regexp.MustCompile(`^\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// parsePattern reads a template. Two variables side by side are refused: nobody
// could say where one ends.
func parsePattern(template string) (pattern, error) {
	var p pattern
	at := 0
	current := part{}
	for _, span := range expression.FindAllStringIndex(template, -1) {
		current.literal = template[at:span[0]]
		if current.name != "" && current.literal == "" {
			return p, errors.New("two variables side by side")
		}
		p.parts = append(p.parts, current)
		form := variableForm.FindStringSubmatch(template[span[0]:span[1]])
		if form == nil {
			return p, fmt.Errorf("expression %s is neither {x} nor {+x}", template[span[0]:span[1]])
		}
		if slices.Contains(p.variables(), form[2]) {
			return p, fmt.Errorf("the variable %s stands twice", form[2])
		}
		current = part{name: form[2], reserved: form[1] == "+"}
		at = span[1]
	}
	current.literal = template[at:]
	p.parts = append(p.parts, current)
	for _, part := range p.parts {
		if strings.ContainsAny(part.literal, "{}") {
			return p, errors.New("a brace that belongs to no expression")
		}
	}
	return p, nil
}

// match returns the variables of a URI, percent-decoded once, and false when
// the URI is not of this family. A simple variable holds no slash as written,
// though its decoded value may; no variable is empty.
func (p pattern) match(uri string) (Vars, bool) {
	if len(uri) > maxURI {
		return nil, false
	}
	vars := Vars{}
	rest, ok := strings.CutPrefix(uri, p.parts[0].literal)
	if !ok {
		return nil, false
	}
	for i, part := range p.parts[1:] {
		value := rest
		switch last := i == len(p.parts)-2; {
		case last:
			if value, ok = strings.CutSuffix(rest, part.literal); !ok {
				return nil, false
			}
			rest = ""
		default:
			if value, rest, ok = strings.Cut(rest, part.literal); !ok {
				return nil, false
			}
		}
		if !part.reserved && strings.ContainsAny(value, "/?#") {
			return nil, false
		}
		decoded, err := url.PathUnescape(value)
		if err != nil || decoded == "" {
			return nil, false
		}
		vars[part.name] = decoded
	}
	return vars, rest == ""
}

// variables lists the names in order.
func (p pattern) variables() []string {
	var names []string
	for _, part := range p.parts[1:] {
		names = append(names, part.name)
	}
	return names
}

// Has says whether the template has a variable of that name.
func (t *Template) Has(variable string) bool {
	return slices.Contains(t.pattern.variables(), variable)
}
