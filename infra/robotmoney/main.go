// Command robotmoney is the operator's program. It talks to the endpoints of
// the local stack, or to those its environment names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Exit codes. A script may rely on them.
const (
	exitOK     = 0
	exitFailed = 1 // the command was understood and did not succeed
	exitUsage  = 2 // the command was not understood
)

// command is one entry of the table of commands.
type command struct {
	name string // one or two words
	args string
	help string
	run  func(ctx context.Context, c *call) error
}

// commands are all of them. It is a function, because completing reads the table
// it stands in.
func commands() []command {
	return []command{
		{"token", "--principal ID [--tenant T] [--scopes a,b] [--ttl 10m]", "mint a token of the local stack's issuer", token},
		{"tenant create", "ID [--signer 0x] [--quorum N] [--pending-days N] [--second-above 50000USD] [--time-zone Z]", "enter a company and its first signer on the chain", tenantCreate},
		{"agent register", "ID --tenant T --name N --scopes a,b [--role R] [--created-by MEMBER] [--address 0x]", "register an agent on the chain and enter its record", agentRegister},
		{"agent trust", "ID", "vouch for what an agent contributes; what waits in quarantine is parsed", agentTrust},
		{"agent distrust", "ID", "vouch for it no more", agentDistrust},
		{"key create", "AGENT [--scopes a,b] [--ttl 2160h]", "make an agent API key and print it once", keyCreate},
		{"key account", "KMS-KEY", "print the account on the chain of a key in KMS, such as the payer's", keyAccount},
		{"agent show", "ID", "print an agent's record and its registration on the chain", agentShow},
		{"agent quarantine", "ID", "stop an agent within five seconds; it can be activated again", agentQuarantine},
		{"agent activate", "ID", "let a quarantined agent act again", agentActivate},
		{"agent revoke", "ID", "revoke an agent on the chain and in its record, for good", agentRevoke},
		{"policy lint", "FILE", "say what is wrong with a policy, without asking anybody", policyLint},
		{"policy sign", "FILE --tenant T", "add a signature of the tenant's signer to FILE.sig", policySign},
		{"policy activate", "FILE --tenant T", "put a signed policy in force", policyActivate},
		{"policy show", "--tenant T", "print the policy in force, its signatures checked", policyShow},
		{"policy simulate", "FILE --tenant T [--since DAY --until DAY] | FILE [--action A --amount N --currency C --counterparty ID ...]", "judge a tenant's past proposals, or made-up facts, by a policy that need not be in force", policySimulate},
		{"member list", "--tenant T", "print a tenant's people and what they may approve", memberList},
		{"member add", "ID --tenant T --name N --role R [--domains a,b --limit 10000USD]", "enter a person", memberAdd},
		{"member set", "ID --tenant T [--role R --status S --domains a,b --limit 10000USD]", "change what a person may do", memberSet},
		{"intent pause", "ID --tenant T", "keep an approved payment intent from being executed", intentPause},
		{"intent resume", "ID --tenant T", "let a paused payment intent go on", intentResume},
		{"intent stop", "ID --tenant T", "cancel a paused payment intent, for good", intentStop},
		{"import", "--tenant T [--account A --currency C --mapping M --dry-run] FILE...", "load bank files and our own lines into a tenant's ledger", importFiles},
		{"audit check", "--tenant T [--file F]", "walk a tenant's audit chain and name the first fault in it", auditCheck},
		{"audit export", "--tenant T", "print a tenant's audit chain, an entry a line", auditExport},
		{"rollups check", "--tenant T", "hold a tenant's rollups against its rows and name the first that differs", rollupsCheck},
		{"rollups rebuild", "--tenant T", "make a tenant's rollups the sum of its rows, while others write", rollupsRebuild},
		{"proof get", "ID --tenant T", "print the proof of an action", proofGet},
		{"proof verify", "FILE [--rpc URL] [--contract 0x...]", "check a proof: hashes, paths and claims, and with --rpc the chain", proofVerify},
		{"proof show", "FILE", "print what a proof says", proofShow},
		{"proof html", "FILE", "print a proof as a page that loads nothing", proofHTML},
		{"registry deploy", "[--admin 0x]", "put the registry of agents on the chain, before the first deployment", registryDeploy},
		{"anchor deploy", "--publisher 0x | --publisher-key KMS-KEY", "put the contract of anchors on the chain, after the first deployment", anchorDeploy},
		{"smoke", "[--url URL] [--token TOKEN]", "check a deployed endpoint: discovery, challenge, one read", smoke},
		{"completion", "bash|zsh|fish", "print what makes a shell complete commands and flags", completion},
	}
}

// call is one run of a command.
type call struct {
	flags *flag.FlagSet
	args  []string // what is left after the flags
	json  bool
	out   io.Writer
	errs  io.Writer // for what passes, such as how far a command is
	env   func(string) string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run finds the command and runs it; flags may stand before or after its
// arguments.
func run(ctx context.Context, args []string, out, errs io.Writer, env func(string) string) int {
	if len(args) > 0 && args[0] == "complete" { // for the scripts of completion
		for _, word := range candidates(ctx, args[1:]) {
			fmt.Fprintln(out, word)
		}
		return exitOK
	}
	cmd, rest, ok := find(args)
	if !ok {
		return usage(args, errs)
	}
	c := newCall(cmd, rest, out, errs, env)
	err := cmd.run(ctx, c)
	var wrong usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &wrong):
		fmt.Fprintf(errs, "robotmoney %s: %v\n", cmd.name, err)
		c.flags.Usage()
		return exitUsage
	}
	fmt.Fprintf(errs, "robotmoney %s: %s\n", cmd.name, explain(err))
	return exitFailed
}

func newCall(cmd command, args []string, out, errs io.Writer, env func(string) string) *call {
	c := &call{flags: flag.NewFlagSet(cmd.name, flag.ContinueOnError), args: args, out: out, errs: errs, env: env}
	c.flags.SetOutput(errs)
	c.flags.BoolVar(&c.json, "json", false, "print JSON")
	c.flags.Usage = func() {
		fmt.Fprintf(errs, "robotmoney %s %s\n  %s\n", cmd.name, cmd.args, cmd.help)
		c.flags.PrintDefaults()
	}
	return c
}

func find(args []string) (command, []string, bool) {
	for _, cmd := range commands() {
		words := strings.Fields(cmd.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == cmd.name {
			return cmd, args[len(words):], true
		}
	}
	return command{}, nil, false
}

// usage tells what there is when no command was found: of a group of commands,
// such as agent, what it has.
func usage(args []string, w io.Writer) int {
	asked := slices.ContainsFunc(args, func(word string) bool { return word == "--help" || word == "-h" || word == "help" })
	var group []command
	for _, cmd := range commands() {
		if len(args) > 0 && strings.HasPrefix(cmd.name, args[0]+" ") {
			group = append(group, cmd)
		}
	}
	if len(group) > 0 {
		fmt.Fprintf(w, "robotmoney %s COMMAND [flags]\n\nCommands:\n", args[0])
		for _, cmd := range group {
			fmt.Fprintf(w, "  %s %s\n      %s\n", cmd.name, cmd.args, cmd.help)
		}
	} else {
		if len(args) > 0 && !asked {
			fmt.Fprintf(w, "robotmoney: there is no command %.40q.\n\n", strings.Join(args, " "))
		}
		fmt.Fprintln(w, "robotmoney COMMAND [flags]\n\nCommands:")
		for _, cmd := range commands() {
			fmt.Fprintf(w, "  %-18s %s\n", cmd.name, cmd.help)
		}
		fmt.Fprintln(w, settings)
	}
	if asked {
		return exitOK
	}
	return exitUsage
}

const settings = `
Each takes --json, and --help for its flags; "robotmoney GROUP --help" tells of one
group, such as agent. Without further settings they speak to the local stack of
this folder. Elsewhere set AWS_REGION and credentials, TABLE_NAME, BUS_NAME,
RPC_URLS, CHAIN_ID, REGISTRY_ADDRESS, and for what is written on the chain
ROBOTMONEY_SENDER_KEY (pays) and ROBOTMONEY_SIGNER_KEY (the tenant's).

Exit codes: 0 it is done; 1 it was understood and did not succeed, or what was
checked does not hold; 2 the command line was not understood.`

// usageError is a command line that was not understood.
type usageError string

func (e usageError) Error() string { return string(e) }

// some is for a command that takes any number of arguments but none.
const some = -1

// parse reads the flags, which may stand before or after the arguments, and
// checks how many arguments there are.
func (c *call) parse(arguments int) error {
	var plain []string
	for rest := c.args; ; rest = c.flags.Args()[1:] {
		if err := c.flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return err
		} else if err != nil {
			return usageError("the flags are not understood")
		}
		if c.flags.NArg() == 0 {
			break
		}
		plain = append(plain, c.flags.Arg(0))
	}
	if arguments == some && len(plain) == 0 {
		return usageError("want some arguments, got none")
	}
	if arguments != some && len(plain) != arguments {
		return usageError(fmt.Sprintf("want %d argument(s), got %d", arguments, len(plain)))
	}
	c.args = plain
	return nil
}

// forTenant reads the flags of a command that is about one tenant's things, and so
// many arguments.
func (c *call) forTenant(arguments int) (identity.Tenant, error) {
	name := c.flags.String("tenant", "", "the tenant")
	if err := c.parse(arguments); err != nil {
		return identity.Tenant{}, err
	}
	t, err := identity.OperatorTenant(*name)
	if err != nil {
		return identity.Tenant{}, usageError("--tenant: " + err.Error())
	}
	return t, nil
}

// print writes a result: as JSON, or as lines of name and value.
func (c *call) print(value any, lines ...[2]string) error {
	if c.json {
		enc := json.NewEncoder(c.out)
		enc.SetIndent("", "  ")
		return enc.Encode(value)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(c.out, "%-16s %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

// explain writes an error for a person: an operator may see the cause.
func explain(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Cause != nil {
		return fmt.Sprintf("%s (%s: %v)", f.Message, f.Code, f.Cause)
	}
	if f != nil {
		return fmt.Sprintf("%s (%s)", f.Message, f.Code)
	}
	return err.Error()
}
