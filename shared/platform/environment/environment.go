// Package environment reads the variables a function is started with.
package environment

import (
	"fmt"
	"strings"
)

// Reader reads variables and remembers what is missing, so that a function that
// cannot start says all of it at once.
type Reader struct {
	get     func(string) string
	missing []string
}

// From reads with get, which is os.Getenv in a function.
func From(get func(string) string) *Reader { return &Reader{get: get} }

// Need returns a variable that must be there; without it Missing is an error.
func (r *Reader) Need(name string) string {
	value := r.get(name)
	if value == "" {
		r.missing = append(r.missing, name)
	}
	return value
}

// Get returns a variable that may be empty.
func (r *Reader) Get(name string) string { return r.get(name) }

// Missing names every variable that was needed and is not there.
func (r *Reader) Missing() error {
	if r.missing == nil {
		return nil
	}
	return fmt.Errorf("missing environment: %s", strings.Join(r.missing, ", "))
}

// List splits a comma list; an empty text is an empty list.
func List(text string) []string {
	var items []string
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
