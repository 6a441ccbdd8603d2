package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// statementFile writes a file into a folder of the test's own.
func statementFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const aprilRows = "Date,Amount,Currency,Payee,Description\n2025-04-02,-12.50,EUR,Acme GmbH,Invoice 7\n2025-04-03,-3.20,EUR,Cafe Noir,Coffee\n"

// TestImport takes files the whole way: stored, announced on the bus, taken in by
// the function, and reported.
func TestImport(t *testing.T) {
	must[any](t, "tenant", "create", "loadco")
	april := statementFile(t, "april.csv", aprilRows)
	load := func(args ...string) imported {
		return must[imported](t, append([]string{"import", "--tenant", "loadco", "--account", "DE02120300000000202051"}, args...)...)
	}
	if got := load("--dry-run", april); got.TransactionsNew != 2 || !got.DryRun {
		t.Errorf("dry run: %+v", got)
	}
	if got := load(april); got.TransactionsNew != 2 || got.AccountsNew != 1 || got.CounterpartiesNew != 2 || got.Refused != 0 || got.Files[0].State != "extracted" {
		t.Errorf("first: %+v", got)
	}
	if got := load(april); got.TransactionsNew != 0 || got.TransactionsKnown != 2 || !got.Files[0].Known {
		t.Errorf("the same again: %+v", got)
	}
	longer := statementFile(t, "may.csv", aprilRows+"2025-05-02,-40.00,EUR,Acme GmbH,Invoice 8\n")
	if got := load(longer, april); got.TransactionsNew != 1 || got.TransactionsKnown != 4 || got.AccountsNew+got.CounterpartiesNew != 0 {
		t.Errorf("one that overlaps: %+v", got)
	}
}

// TestImportRefused: a file that is refused has a place and a reason, the others
// of the command are stored, and a mapping that is saved reads it the next time.
func TestImportRefused(t *testing.T) {
	must[any](t, "tenant", "create", "oddco")
	odd, good := statementFile(t, "odd.csv", "Wann;Wieviel;Wer\n02.04.2025;-12,50;Acme\n"), statementFile(t, "april.csv", aprilRows)
	code, out, errs := commandLine(t, "import", "--tenant", "oddco", odd, good)
	if code != exitFailed || !strings.Contains(errs, "1 of 2 files were refused") || !strings.Contains(out, "2 new") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	refused(t, exitFailed, "1 of 1 files", "import", "--tenant", "oddco", statementFile(t, "empty.csv", ""))

	mapping := statementFile(t, "bank.json", `{"header": ["Wann", "Wieviel", "Wer"], "columns": {"0": "booked", "1": "amount", "2": "name"}, "currency": "EUR"}`)
	if got := must[imported](t, "import", "--tenant", "oddco", "--mapping", mapping, odd); got.TransactionsNew != 1 {
		t.Errorf("with a mapping: %+v", got)
	}
	next := statementFile(t, "next.csv", "Wann;Wieviel;Wer\n03.04.2025;-1,00;Acme\n")
	if got := must[imported](t, "import", "--tenant", "oddco", "--mapping", "bank", next); got.TransactionsNew != 1 {
		t.Errorf("with the saved mapping: %+v", got)
	}
	refused(t, exitUsage, "some arguments", "import", "--tenant", "oddco")
	refused(t, exitUsage, "unknown field", "import", "--tenant", "oddco", "--mapping", statementFile(t, "bad.json", `{"colums": {}}`), odd)
	refused(t, exitFailed, "no such file", "import", "--tenant", "oddco", filepath.Join(t.TempDir(), "nothing.csv"))
}
