// Package checks is the table of what every client must be able to do and see,
// and what drivers read and print to have it done.
package checks

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
)

// Table is checks.json: every check is made with every client.
type Table struct {
	Clients []Client `json:"clients"`
	Checks  []Check  `json:"checks"`
}

// Client is a client in one of its modes.
type Client struct {
	Name   string            `json:"name"`
	Driver string            `json:"driver"` // a program of drivers/
	Way    string            `json:"way"`    // which of the driver's clients
	Mode   string            `json:"mode"`   // how it agrees on a protocol version
	Speaks string            `json:"speaks"` // the version it must end up with; empty where it does not tell
	Cannot map[string]string `json:"cannot"` // verbs the client does not have, and why
	Sees   map[string]Sight  `json:"sees"`   // by check, where the client shows something else
}

// Sight is what one client shows in a check in place of what the check says.
type Sight struct {
	Shows []string `json:"shows"`
	Why   string   `json:"why"`
}

// Check is one thing a client does and what it must see.
type Check struct {
	Name    string   `json:"name"`
	Refused bool     `json:"refused,omitempty"` // the client must see an error
	Shows   []string `json:"shows,omitempty"`   // patterns in the result, or in the error, without regard to case

	// The rest is for the drivers.
	As        string          `json:"as"` // whose token, as in stack.json; "agent" when it is not said
	Do        string          `json:"do"` // one of verbs
	What      string          `json:"what,omitempty"`
	URI       string          `json:"uri,omitempty"`
	Template  string          `json:"template,omitempty"`
	Argument  string          `json:"argument,omitempty"`
	Value     string          `json:"value,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Prompt    string          `json:"prompt,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Keep are patterns by name: the first match of each in the result stands for
	// $NAME in the arguments of later checks.
	Keep map[string]string `json:"keep,omitempty"`
}

// verbs are what every driver can do with a client: connect; list what
// (resources, templates, tools, prompts); read a uri; complete a template's
// argument from a value; call a tool and get a prompt with arguments.
var verbs = []string{"connect", "list", "read", "complete", "call", "prompt"}

// Job is what a driver reads from its standard input.
type Job struct {
	URL       string            `json:"url"`
	Tokens    map[string]string `json:"tokens"`
	Installed string            `json:"installed"` // where the clients are installed
	Scratch   string            `json:"scratch"`   // a folder for what a client wants to remember
	Way       string            `json:"way"`
	Mode      string            `json:"mode"`
	Checks    []Check           `json:"checks"`
}

// Outcome is what a driver prints for a check, one a line: whether the client
// got a result, and the result or the error as the client shows it.
type Outcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Read reads a table. A member, a verb or a check that nobody knows is an error:
// it would check nothing and nobody would notice.
func Read(path string) (Table, error) {
	var t Table
	file, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	dec := json.NewDecoder(file)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return t, fmt.Errorf("read %s: %w", path, err)
	}
	for i := range t.Checks {
		if t.Checks[i].As == "" {
			t.Checks[i].As = "agent"
		}
	}
	if err := t.valid(); err != nil {
		return t, fmt.Errorf("read %s: %w", path, err)
	}
	return t, nil
}

// placeholder is what stands for something kept.
var placeholder = regexp.MustCompile(`"\$(\w+)"`)

func (t Table) valid() error {
	patterns, names, kept := []string{}, map[string]bool{}, map[string]bool{}
	for _, k := range t.Checks {
		if !slices.Contains(verbs, k.Do) {
			return fmt.Errorf("%s: there is no verb %q", k.Name, k.Do)
		}
		for _, used := range placeholder.FindAllStringSubmatch(string(k.Arguments), -1) {
			if !kept[used[1]] {
				return fmt.Errorf("%s: nothing before keeps %q", k.Name, used[1])
			}
		}
		for name, pattern := range k.Keep {
			kept[name], patterns = true, append(patterns, pattern)
		}
		names[k.Name] = true
		patterns = append(patterns, k.Shows...)
	}
	for _, c := range t.Clients {
		for verb := range c.Cannot {
			if !slices.Contains(verbs, verb) {
				return fmt.Errorf("%s: there is no verb %q", c.Name, verb)
			}
		}
		for name, sight := range c.Sees {
			if !names[name] {
				return fmt.Errorf("%s: there is no check %q", c.Name, name)
			}
			patterns = append(patterns, sight.Shows...)
		}
	}
	for _, pattern := range patterns {
		if _, err := regexp.Compile(pattern); err != nil {
			return err
		}
	}
	return nil
}

// For returns the checks a client can make, with what it shows.
func (t Table) For(c Client) []Check {
	var own []Check
	for _, k := range t.Checks {
		if c.Cannot[k.Do] != "" {
			continue
		}
		if sight, differs := c.Sees[k.Name]; differs {
			k.Shows = sight.Shows
		}
		if k.Do == "connect" && c.Speaks != "" {
			k.Shows = append(slices.Clone(k.Shows), regexp.QuoteMeta(c.Speaks))
		}
		own = append(own, k)
	}
	return own
}

// Judge says what is wrong with an outcome; empty when nothing is.
func (k Check) Judge(got Outcome) string {
	switch {
	case got.OK && k.Refused:
		return "was not refused: " + got.Text
	case !got.OK && !k.Refused:
		return "failed: " + got.Text
	}
	for _, pattern := range k.Shows {
		if !regexp.MustCompile("(?i)" + pattern).MatchString(got.Text) {
			return "does not show " + pattern + ": " + got.Text
		}
	}
	return ""
}
