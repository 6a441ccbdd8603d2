// Command verify checks a proof of an action. It needs nothing of who made the
// proof but the file: no account, no key, no network. With --rpc it also asks an
// Ethereum node of your choice whether the roots are published.
//
// It is small on purpose. Besides the standard library it is Keccak from
// golang.org/x/crypto, the package verify beside it, and the package that says
// which claim follows from which event.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/robotmoney/mcp/infra/verify/verify"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns 0 for a proof that holds, 1 for one that does not or cannot be
// read, 2 for a command line that is not understood.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	flags.SetOutput(errs)
	rpc := flags.String("rpc", "", "an Ethereum node to ask for the roots")
	contract := flags.String("contract", "", "the address the anchors must be at; with it a proof cannot name a contract of its own")
	flags.Usage = func() {
		fmt.Fprintln(errs, "verify [--rpc URL] [--contract 0x...] FILE   (- is the standard input)")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	raw, err := read(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	report := verify.Proof(ctx, raw, verify.Options{RPC: *rpc, Contract: *contract})
	report.Print(out)
	if !report.Holds() {
		return 1
	}
	return 0
}

// read reads a file, or the standard input for -.
func read(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(path)
}
