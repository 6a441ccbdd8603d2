package main

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/footprint"
)

// What is assumed of what cannot be counted here.
const (
	memoryMB    = 512
	platformLog = 400 // bytes that Lambda itself logs of an invocation
	accessLog   = 450 // bytes of the gateway's line of a request
	traceShare  = 20  // one trace in so many is recorded, the default of X-Ray beyond the first of a second
)

// line is a part of a cost: so many units at a price.
type line struct {
	price price
	n     *big.Rat
}

func of(n int64, per int64) *big.Rat { return big.NewRat(n, per) }

// served is how often functions were invoked, all together, and what they took.
func (u Use) served() (invocations int64, took time.Duration) {
	for function, n := range u.Invocations {
		invocations += int64(n)
		took += u.Took[function]
	}
	return invocations, took
}

// lines are what one request of a kind uses.
func (u Use) lines() []line {
	n := int64(u.Requests)
	invocations, took := u.served()
	// A message is sent, received and deleted; the last two in batches, which a
	// batch of one is the dearest of.
	queueCalls := 3 * int64(u.Units.Messages)
	logs := u.Units.LogBytes + platformLog*invocations + accessLog*n
	return []line{
		{apiRequest, of(1, 1)},
		{invocation, of(invocations, n)},
		{gigabyteSec, new(big.Rat).Mul(of(int64(took), n*int64(time.Second)), of(memoryMB, 1024))},
		{readRequest, of(int64(u.Units.HalfReads), 2*n)},
		{writeUnits, of(int64(u.Units.Writes), n)},
		{event, of(int64(u.Units.Events), n)},
		{queueCall, of(queueCalls, n)},
		{storedPut, of(int64(u.Units.Stored), n)},
		{fetchedGet, of(int64(u.Units.Fetched), n)},
		{logByte, of(logs, n)},
		{traceKept, of(invocations, n*traceShare)},
	}
}

// perMillion is what a million requests cost.
func perMillion(lines []line) *big.Rat {
	sum := new(big.Rat)
	for _, l := range lines {
		sum.Add(sum, new(big.Rat).Mul(l.price.usd, l.n))
	}
	return sum.Mul(sum, big.NewRat(million, 1))
}

// mixed is the mean of a request of the mix, line by line. A kind counts by its
// weight and by the requests it is made of.
func mixed(used []Use) []line {
	var mean []line
	total := new(big.Rat)
	for _, u := range used {
		total.Add(total, u.share())
	}
	for _, u := range used {
		for i, l := range u.lines() {
			if len(mean) <= i {
				mean = append(mean, line{l.price, new(big.Rat)})
			}
			mean[i].n.Add(mean[i].n, new(big.Rat).Mul(l.n, new(big.Rat).Quo(u.share(), total)))
		}
	}
	return mean
}

// share is how many requests a kind makes among a hundred that are sent.
func (u Use) share() *big.Rat { return of(int64(u.Weight)*int64(u.Requests), int64(u.Sent)) }

// monthly is what is paid whether or not anybody asks.
var monthly = []struct {
	what  string
	n     int64
	price price
}{
	{"keys: of the data, of the anchors' publisher, of the payer of tokens if there is one (each rotation of the first adds one)", 3, keyMonth},
	{"the cursor key", 1, secretMonth},
	{"alarms", 18, alarmMonth},
	{"the dashboard", 1, dashboardMonth},
	{"metrics of our own: requests by method and outcome, payments, files, events, pages, and those with an alarm", 41, metricMonth},
	{"Lambda's own looking into four queues, five at a time, every 20 s", 4 * 5 * 3 * 60 * 24 * 30, queueCall},
	{"the outbox looked through every minute, 21 partitions", 21 * 60 * 24 * 30, readRequest},
	{"the outbox and the anchors' rounds: invocations", 60*24*30 + 12*24*30, invocation},
}

func report(used []Use) string {
	var b bytes.Buffer
	b.WriteString("## What a request uses\n\nWith all that follows from it: a payment is executed, settled, entered in the journal and on its wiki page, a file becomes rows.\n\n")
	b.WriteString("| request | read units | write units | events | messages | invocations | ms of functions | log KB | S3 put, get |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, u := range used {
		invocations, took := u.served()
		n := float64(u.Requests)
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.0f | %.1f | %.1f, %.1f |\n", u.Kind, float64(u.Units.HalfReads)/2/n, float64(u.Units.Writes)/n,
			float64(u.Units.Events)/n, float64(u.Units.Messages)/n, float64(invocations)/n, float64(took.Milliseconds())/n, float64(u.Units.LogBytes)/n/1024, float64(u.Units.Stored)/n, float64(u.Units.Fetched)/n)
	}
	mean := mixed(used)
	b.WriteString("\n## What a million requests cost\n\n| request | of a hundred | USD per million |\n|---|---:|---:|\n")
	for _, u := range used {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", u.Kind, u.Weight, perMillion(u.lines()).FloatString(2))
	}
	fmt.Fprintf(&b, "| **the mix** | 100 | **%s** |\n\n", perMillion(mean).FloatString(2))
	b.WriteString("Where the mix's money goes:\n\n| | of one request | USD per million |\n|---|---:|---:|\n")
	for _, l := range mean {
		digits := 2
		if l.price.what == gigabyteSec.what {
			digits = 4
		}
		fmt.Fprintf(&b, "| %s, %s | %s | %s |\n", l.price.what, strings.Replace(l.price.unit, "GB taken in", "byte", 1), l.n.FloatString(digits), perMillion([]line{l}).FloatString(2))
	}
	slow := mixed(used)
	for i := range slow {
		if slow[i].price.what == gigabyteSec.what {
			slow[i].n.Mul(slow[i].n, big.NewRat(2, 1))
		}
	}
	fmt.Fprintf(&b, "\nWith functions that take twice as long as here: %s USD.\n\n", perMillion(slow).FloatString(2))
	b.WriteString("## What a month costs without a request\n\n| | number | USD |\n|---|---:|---:|\n")
	sum := new(big.Rat)
	for _, m := range monthly {
		cost := new(big.Rat).Mul(m.price.usd, big.NewRat(m.n, 1))
		sum.Add(sum, cost)
		fmt.Fprintf(&b, "| %s | %d | %s |\n", m.what, m.n, cost.FloatString(2))
	}
	fmt.Fprintf(&b, "| **together** | | **%s** |\n", sum.FloatString(2))
	return b.String()
}

// document writes the report with what it rests on.
func document(path, text string) error {
	machine, err := footprint.Machine()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Cost

Written by %s on %s: each kind of request of [the load's](load.md) mix was sent %d times by the agents of %d companies on a stack of its own, with a tap before
everything the functions call. What the calls ask and answer is counted by the rules AWS bills by; what functions took is this machine's (%s), whose processors,
and the distance to whose table, are not Lambda's. No free tier is taken off.

`, "`make cost WRITE=1`", time.Now().Format(time.DateOnly), sent, companies, machine)
	b.WriteString(text)
	fmt.Fprintf(&b, `
## What is counted how

- A read unit is 4 KB read consistently, half of one otherwise; a batch rounds each row up, a query the whole. A write unit is 1 KB, two in a transaction. It goes by the
  larger of the row before and after, both of which are read past the tap. An index the row enters, leaves or stays in is written once more, one it moves in twice; a condition
  that fails is paid for by the row it looked at.
- The mix counts requests: a payment that a member decides is two of them.
- A message costs three requests of SQS: sent, received, deleted. Lambda receives up to ten at once, so that is the most.
- Functions have %d MB. Lambda's own lines are taken for %d bytes an invocation, the gateway's for %d a request. One trace in %d is recorded.
- Each kind is sent %d times in a row, so the journal takes several events at a time. A caller who comes alone has an invocation and a turn of the journal for itself, and costs more.
- What the function anchor writes of a payment, its path in a tree, is not counted.
- The processes are warm: a cold start adds one read and an RPC call, and %s. Answers to questions are counted before they are kept for 300 s.
- Calls of KMS are few enough to leave out: DynamoDB keeps its table key and the bucket its own for minutes.
- Not in it: what the chain's RPC endpoints and gas cost, storage (0.25 USD a GB and month in the table, four times over for a row that is in three indexes), data that leaves
  AWS, the archive (0.10 USD a GB of events), support, and a Bedrock model, where one plans questions.

## Prices

%s, looked up on %s. What is not confirmed is what others quote of AWS's page: hold it against the page before you rely on it.

| | of | USD | source |
|---|---|---:|---|
`, memoryMB, platformLog, accessLog, traceShare, sent, "init time, which Lambda bills", priceRegion, lookedUp)
	for _, p := range prices {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.what, p.unit, scaled(p), p.source())
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// scaled is a price as AWS writes it: of a million where one is a fraction of a
// cent.
func scaled(p price) string {
	if strings.HasPrefix(p.unit, "GB") && p != gigabyteSec {
		return new(big.Rat).Mul(p.usd, big.NewRat(1<<30, 1)).FloatString(2)
	}
	if p.usd.Cmp(big.NewRat(1, 100)) < 0 {
		return new(big.Rat).Mul(p.usd, big.NewRat(million, 1)).FloatString(3) + " a million"
	}
	return p.usd.FloatString(2)
}
