package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/footprint"
)

// section is a part of the report.
type section struct {
	title string
	rows  []report.Row
}

const preface = `# Performance

Written by ` + "`infra/bench/run --write`" + ` on %s. Run it again to get the figures of your machine; ` + "`--strict`" + ` makes a missed target an error.

Machine: %s.

Every comparison is made inside one run: both sides take turns, round after round, and the median round counts. Other work and other machines move the ratios much less than the times and rates, but not by nothing: run it on a machine that does nothing else. A KB is 1024 bytes, an MB 1024 KB.

`

const method = `
## How it is measured

- **Dispatcher against the MCP Go SDK.** The same 20 tools, each with an input and an output schema, called with the same request of protocol version 2026-07-28, in one process and without a network. Ours: from the body of the request to the body of the reply. The SDK: a stateless ` + "`StreamableHTTPHandler`" + ` that answers in JSON, called with a request and a writer that cost next to nothing. Both check the arguments against the schema and answer structured content and a text block; a test holds that the answers are equal. The whole edge adds what the SDK's server does not do here: the Lambda event in and out, the ES256 token, the checks of the agent, the rate, the audit event, a log line.
- **Small things.** A list is held against an absolute bound, so single calls are timed and the median one counts, which other work on the machine moves little. The row below it is the mean over many calls, their garbage collected.
- **Lists over many rows.** Tool calls in this process, over the table's own code and the table engine with its file on disk; the engine's work is most of the time. The rows are what the ledger's writer stores, which a test holds, written once in bulk without the writer's rollups and events, and kept in ` + "`.local/bench`" + `: the first run fills the file for some minutes. Every name has eight parts that a search may begin with, so 100,000 names are 900,000 items; longer names have up to 45. The search is for four digits that most of the names it finds have in the middle, and gives a full page; another finds nothing. What they look for lies near the end of all parts, so that an engine that reads them from the beginning would be seen. Each part holds the row it leads to, so a search is one query as a page is. The local engine shows how the reads grow with the rows, not how fast DynamoDB is. The counts below the times are of one call: the row after a page says that there is more.
- **Bank files.** A company's year in each format, the same entries in all: from its bytes to the last entry, the survey of a CSV file's columns among it. Then the CSV file goes into the empty ledger of a new company as the function ` + "`ingest`" + ` takes it in, in this process over the table engine with its file on disk: the survey of the whole, evidence, counterparties, rows with their rollups and events; only the bus takes everything and the store of bytes is in memory. Memory is what the runtime holds beyond what it held before, the file's own text not among it. The floor repeats the transactions of a smaller file under other keys, as many at a time: what is above it is reading the file, and removing the marks of the events. The rate is the engine's, which does one transaction after the other.
- **The money path.** The desk of the function in this process, over the stack's table engine and chain and a bus like the stack's that nothing hangs on. The policy that judges has 200 rules, of which all apply to the payment, with three or four conditions each and lists of 1,000 payees; a proposal is judged by one evaluation, an approval by another. The calls of a proposal are counted at the SDK's clients once the policy has been checked in this process. The deletion of the marks of published events is a write after the change: it is counted apart, and a proposal whose marks stay is complete. Its time is set against its own calls repeated alone: the same batch, a transaction of the same items under other keys, written whatever is there, the same events; the search for the payee's largest payment, which needs no transaction, and the deletion of the marks are ours. For the crowd fifty agents of one tenant propose a payment each at the same moment, under caps of the agent, the payee and the tenant, so that all move the same counters. A retry is any transaction of a proposal after its first, whether it met another one or a condition no longer held. What the counters hold afterwards, as the headroom of a decision tells it, is compared with the sum of what was approved. The local engine runs one transaction after the other, so it shows conditions that fail and no collisions; the table's code tries those again by itself.
- **The audit chain and proofs.** Events of one tenant go into its journal as the function enters them, 98 a call, over the stack's table engine; reading their text is part of the time, and the median call counts. Its floor is one batch read and two transactions of the same items under other keys, which the engine writes again and again instead of growing by them. The tree is over 100,000 entries, the size of a large period, and its time is that of the processor: it computes for longer than a busy machine lets it run at a time, so the clock, which stands beside it, tells what else ran. The proof is that of the demo's payment, which two people approved and a rail executed. Its floor is the very query it makes, repeated alone with the same client: what is above it is reading the entries, deriving the claims and writing the proof. It is then checked as an auditor does without a node: every hash and path computed again, every claim derived again.
- **Warm read.** ` + "`resources/read`" + ` of one transaction over a kept connection through the local stack: gateway, Runtime API, the real ` + "`bootstrap`" + `, the table engine, the bus. The floors take turns with it: the same request to a function that answers the same bytes at once; one consistent GetItem of the same row and one PutEvents of an event as large, each repeated in a function's process of its own with the clients the function has. A round's figure is its median operation, the ratio the median of the rounds' ratios. The last comparison, without a target, is a function that makes those two calls and nothing else: one call after the other in a request costs more than the sum of calls repeated alone, and what is left above it is ours.
- **Eight clients.** The same read, eight connections. The peer is one Node process: Express, a new server and transport for each request, the AWS SDK for JavaScript on the same table, as the TypeScript SDK's documentation shows a stateless server. It checks no token and keeps no audit event. Ours is measured twice: whole, through the local gateway and the Runtime API to one process a concurrent request, each read with its token, rate and audit event; and the surface alone, served like the peer by one HTTP server. The ceiling is what the local gateway, which is not part of a deployment, lets through to a function that does nothing. The clients, the servers and the engines share the machine.
- **Program.** The zip holds the arm64 build with the flags of ` + "`make build`" + `. Exec to ready is from the start of the process to its first call for work, of the build for this machine; the floor is a function that makes the clients of DynamoDB and EventBridge and nothing else. Memory is what Linux counts as resident.
`

// document writes the report as a page of the documentation.
func document(ctx context.Context, path string, sections []section) error {
	machine, err := machine(ctx)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, preface, time.Now().UTC().Format(time.DateOnly), machine)
	var all []report.Row
	for i, s := range sections {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "## %s\n\n", s.title)
		report.Markdown(&out, s.rows)
		all = append(all, s.rows...)
	}
	out.WriteString(method)
	if missed := report.Missed(all); missed > 0 {
		fmt.Fprintf(&out, "\n## Missed\n\n")
		for _, r := range all {
			if r.Judged && !r.OK {
				fmt.Fprintf(&out, "- %s: %s, the target is %s.\n", r.What, got(r), r.Target)
			}
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// got is the figure a target is held against.
func got(r report.Row) string {
	if r.Ratio != "" {
		return r.Ratio
	}
	return r.Ours
}

// machine describes this machine without naming it.
func machine(ctx context.Context) (string, error) {
	text, err := footprint.Machine()
	if err != nil {
		return "", err
	}
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("node --version: %w", err)
	}
	return text + ", Node " + strings.TrimSpace(string(node)), nil
}
