// Package advisories looks for known vulnerabilities in what the functions can
// reach, with govulncheck and the database of the Go project.
//
// Where that database cannot be reached, a copy of it that is pinned here is
// looked at instead: it is a Go module, and comes like any other. A copy does not
// know what was found since, and the check says so.
package advisories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	scanner = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"
	// copied is the database as of the day in its version. A newer one is found with
	// go list -m golang.org/x/vulndb@latest.
	copied = "golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018"
)

// Finding is a vulnerable function that ours can reach.
type Finding struct {
	ID     string // of the Go project, such as GO-2026-6605
	Module string // stdlib for Go's own library
	Found  string // the version that is linked
	Fixed  string // the first that is not affected; empty when there is none
	Trace  string // the function of ours it is reached from
}

// accepted is the file of findings that are known and why they stay.
const accepted = "infra/supply/advisories/accepted.txt"

// Check scans the functions of the module in a folder. A finding that is not
// accepted is an error; that nothing could be looked at is none, since whoever
// works offline could do nothing about it, but is said in capitals.
func Check(root string, out io.Writer) error {
	known, err := readAccepted(filepath.Join(root, accepted))
	if err != nil {
		return err
	}
	if _, err := command(root, "run", scanner, "-version"); err != nil {
		fmt.Fprintf(out, "NOT CHECKED for known vulnerabilities: the scanner %s cannot be had: %v\n", scanner, err)
		return nil
	}
	source := "the live database"
	report, err := scan(root)
	if err != nil && !strings.Contains(err.Error(), unreached) {
		return err
	}
	if err != nil {
		fmt.Fprintf(out, "NOTE  the live database of vulnerabilities cannot be reached: %v\n", err)
		folder, missing := database(root)
		if missing != nil {
			fmt.Fprintf(out, "NOT CHECKED for known vulnerabilities: neither the database nor its copy %s can be had: %v\n", copied, missing)
			return nil
		}
		source = "the copy " + copied
		fmt.Fprintf(out, "NOTE  looking at %s instead: WHAT WAS FOUND SINCE IS NOT IN IT\n", source)
		if report, err = scan(root, "-db", "file://"+folder); err != nil {
			return err
		}
	}
	findings, err := Read(report)
	if err != nil {
		return err
	}
	return Judge(findings, known, source, out)
}

// unreached is what govulncheck says when the database does not answer. Anything
// else that goes wrong, such as source that does not compile, is an error.
const unreached = "fetching vulnerabilities"

// scan runs govulncheck over the functions and returns what it reports.
func scan(root string, more ...string) ([]byte, error) {
	return command(root, slices.Concat([]string{"run", scanner, "-format", "json", "-tags", "lambda.norpc"}, more, []string{"./functions/..."})...)
}

// command runs the go command and returns what it prints.
func command(root string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	return out, nil
}

// database is the folder of the pinned copy's entries.
func database(root string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", copied)
	cmd.Dir = root
	out, err := cmd.Output() // says what went wrong in its JSON
	var module struct{ Dir, Error string }
	if json.Unmarshal(out, &module) == nil && module.Error != "" {
		return "", errors.New(module.Error)
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(module.Dir, "data", "osv"), nil
}

// Read reads the messages of govulncheck and returns the first finding of each
// vulnerability that is reached by a call. One that is only imported or required
// is none: no input gets there.
func Read(report []byte) ([]Finding, error) {
	var found []Finding
	for dec := json.NewDecoder(bytes.NewReader(report)); ; {
		var message struct {
			Finding *struct {
				OSV   string
				Fixed string `json:"fixed_version"`
				Trace []struct {
					Module, Version, Package, Function string
					Receiver                           string
				}
			}
		}
		if err := dec.Decode(&message); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("read govulncheck: %w", err)
		}
		f := message.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" || slices.ContainsFunc(found, func(o Finding) bool { return o.ID == f.OSV }) {
			continue
		}
		last := f.Trace[len(f.Trace)-1]
		name := last.Function
		if last.Receiver != "" {
			name = last.Receiver + "." + name
		}
		found = append(found, Finding{f.OSV, f.Trace[0].Module, f.Trace[0].Version, f.Fixed, last.Package + "." + name})
	}
}

// Judge prints the findings and returns an error when one is not accepted. known
// are the reasons of the accepted, by id.
func Judge(findings []Finding, known map[string]string, source string, out io.Writer) error {
	refused := 0
	for _, f := range findings {
		fixed := "no version is free of it"
		if f.Fixed != "" {
			fixed = "free of it from " + f.Fixed
		}
		reason, stays := known[f.ID]
		if stays {
			fmt.Fprintf(out, "KNOWN %s in %s %s, %s: %s\n", f.ID, f.Module, f.Found, fixed, reason)
			continue
		}
		refused++
		fmt.Fprintf(out, "FOUND %s in %s %s, %s; reached from %s\n", f.ID, f.Module, f.Found, fixed, f.Trace)
	}
	if refused > 0 {
		return fmt.Errorf("%d known vulnerabilities are reachable, by %s: update what holds them, or say in %s why they stay", refused, source, accepted)
	}
	fmt.Fprintf(out, "ok    vulnerabilities: %d reachable and none that is not accepted, by %s\n", len(findings), source)
	return nil
}

// readAccepted reads lines of an id, a blank and the reason why it stays.
func readAccepted(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("accepted vulnerabilities: %w", err)
	}
	defer file.Close()
	known := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			return nil, fmt.Errorf("%s: %s stays without a reason", path, id)
		}
		known[id] = reason
	}
	return known, lines.Err()
}
