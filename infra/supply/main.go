// Command supply tells what the functions are made of, and whether it may be:
//
//	supply licences [-write]    docs/licences.md against what is linked now
//	supply vulnerabilities      known ones in what is reachable
//	supply sbom FOLDER          a bill of materials for each FOLDER/NAME/bootstrap
//
// It runs in the module's root.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/robotmoney/mcp/infra/supply/advisories"
	"github.com/robotmoney/mcp/infra/supply/bill"
	"github.com/robotmoney/mcp/infra/supply/linked"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

const usage = "want licences [-write], vulnerabilities or sbom FOLDER"

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%s", usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	write := flags.Bool("write", false, "licences: rewrite the document")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch {
	case args[0] == "licences" && flags.NArg() == 0:
		return licences(".", *write, out)
	case args[0] == "vulnerabilities" && flags.NArg() == 0:
		return advisories.Check(".", out)
	case args[0] == "sbom" && flags.NArg() == 1:
		return bills(flags.Arg(0), out)
	}
	return fmt.Errorf("%s, not %q", usage, args)
}

// deployed is how the functions are built.
func deployed(root string) linked.Build {
	return linked.Build{Folder: root, Env: []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, Flags: []string{"-tags", "lambda.norpc"}}
}

// bills writes a bill of materials beside each function's folder of programs.
func bills(folder string, out io.Writer) error {
	programs, err := filepath.Glob(filepath.Join(folder, "*", "bootstrap"))
	if err != nil || len(programs) == 0 {
		return fmt.Errorf("no program in %s: make build first (%w)", folder, err)
	}
	modules, err := deployed(".").Modules("./functions/...")
	if err != nil {
		return err
	}
	licences := map[string][]string{}
	for _, m := range modules {
		names, err := namesOf(m)
		if err != nil {
			return err
		}
		for _, name := range names {
			licences[m.Path] = append(licences[m.Path], string(name))
		}
	}
	for _, program := range programs {
		name := filepath.Base(filepath.Dir(program))
		text, err := bill.Of(name, program, licences)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, name+".cdx.json")
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, to)
	}
	return nil
}
