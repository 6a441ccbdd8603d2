package ingest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
)

// salaries is a booking of several payments, as a bank notifies of each of them
// (camt.054) or states their sum (camt.053).
type salaries struct {
	ref, sum, status string
	amounts          []string
}

var payday = salaries{ref: "B1", sum: "600.00", status: "BOOK", amounts: []string{"100.00", "200.00", "300.00"}}

func (s salaries) entry(details string) string {
	return fmt.Sprintf(`<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>%s</Sts><BookgDt><Dt>2025-05-28</Dt></BookgDt><AcctSvcrRef>%s</AcctSvcrRef>%s</Ntry>`, s.sum, s.status, s.ref, details)
}

const camtAccount = `<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>EUR</Ccy></Acct>`

func (s salaries) statement() string {
	return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt>` + camtAccount + s.entry("") + `</Stmt></BkToCstmrStmt></Document>`
}

func (s salaries) notification() string {
	var details strings.Builder
	for i, amount := range s.amounts {
		fmt.Fprintf(&details, `<TxDtls><Refs><EndToEndId>E%d</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy="EUR">%s</Amt></TxAmt></AmtDtls><RltdPties><Cdtr><Nm>Person %d</Nm></Cdtr></RltdPties></TxDtls>`, i, amount, i)
	}
	return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.02"><BkToCstmrDbtCdtNtfctn><Ntfctn>` + camtAccount + s.entry("<NtryDtls>"+details.String()+"</NtryDtls>") + `</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`
}

// amounts are those of the tenant's rows, in words, so many of each.
func (w *world) amounts(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, x := range all[ledger.Transaction](t, w, id.Transaction) {
		found[x.Status+" "+x.Amount]++
	}
	return found
}

func (w *world) holds(t *testing.T, what string, rows ...string) {
	t.Helper()
	want := map[string]int{}
	for _, row := range rows {
		want[row]++
	}
	equal(t, what, fmt.Sprint(w.amounts(t)), fmt.Sprint(want))
	w.sound(t, len(rows))
}

var (
	single = []string{"posted 100.00", "posted 200.00", "posted 300.00"}
	whole  = []string{"posted 600.00"}
)

// A booking is in the ledger once: as its payments or as its sum, whichever file
// came first, and however often either comes again.
func TestPaymentsAndTheirSum(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  []string
	}{
		"the payments first": {[]string{payday.notification(), payday.statement(), payday.notification(), payday.statement()}, single},
		"the sum first":      {[]string{payday.statement(), payday.notification(), payday.statement(), payday.notification()}, whole},
		"the payments alone": {[]string{payday.notification(), payday.notification()}, single},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for i, file := range c.files {
				report := w.load(t, file+strings.Repeat("\n", i)) // other bytes, which are another artifact
				if i > 0 {
					equal(t, "new", report.Transactions.New+report.Transactions.Changed, 0)
				}
			}
			w.holds(t, "rows", c.want...)
		})
	}
}

// The report says what was left out, once a booking.
func TestLeftOutPaymentsAreNoted(t *testing.T) {
	w := newWorld(t)
	w.load(t, payday.statement())
	report := w.load(t, payday.notification())
	equal(t, "known", report.Transactions.Known, 3)
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0].Text, "600.00") {
		t.Errorf("notes: %+v", report.Notes)
	}
}

// Bookings that only resemble each other are two.
func TestOtherBookings(t *testing.T) {
	other, larger := payday, payday
	other.ref = "B2"
	larger.sum = "601.00"
	w := newWorld(t)
	w.load(t, payday.notification())
	w.load(t, other.statement())
	w.load(t, larger.statement())
	w.holds(t, "rows", append(append([]string{}, single...), "posted 600.00", "posted 601.00")...)
}

// A sum that was pending gives way to the payments that are booked.
func TestAPendingSum(t *testing.T) {
	pending := payday
	pending.status = "PDNG"
	w := newWorld(t)
	w.load(t, pending.statement())
	w.load(t, payday.notification())
	w.holds(t, "rows", single...)
}

// Whoever is believed more: a sum and its payments do not take each other's place.
func TestPaymentsOfAnAgentAndASum(t *testing.T) {
	agent := raw.Origin{Actor: operator.Actor, AgentID: "agt_1", Trusted: true}
	for name, c := range map[string]struct {
		agents, operators string
		want              []string
	}{
		"the payments": {payday.notification(), payday.statement(), single},
		"the sum":      {payday.statement(), payday.notification(), whole},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.take(t, w.bring(t, agent, c.agents, ""))
			w.load(t, c.operators)
			w.holds(t, "rows", c.want...)
		})
	}
}

// Both files at one time: the booking is there once all the same.
func TestPaymentsAndTheirSumAtOnce(t *testing.T) {
	for range 12 {
		w := newWorld(t)
		artifacts := []raw.Artifact{w.bring(t, operator, payday.statement(), ""), w.bring(t, operator, payday.notification(), "")}
		var group errgroup.Group
		for _, a := range artifacts {
			group.Go(func() error {
				_, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
				return err
			})
		}
		noError(t, group.Wait())
		if got := fmt.Sprint(w.amounts(t)); got != fmt.Sprint(map[string]int{"posted 600.00": 1}) && got != fmt.Sprint(map[string]int{"posted 100.00": 1, "posted 200.00": 1, "posted 300.00": 1}) {
			t.Errorf("rows: %s", got)
		}
	}
}

// A crash at any change, then the sum, then the file again: the payments are all
// there, since their first one was, and the sum is not; or the other way round.
func TestACrashBetweenPayments(t *testing.T) {
	for crash := int64(1); ; crash++ {
		w := newWorld(t)
		a := w.bring(t, operator, payday.notification(), "")
		w.store.left.Store(crash)
		_, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
		w.store.left.Store(0)
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		w.load(t, payday.statement())
		out, again := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
		noError(t, again)
		if got := fmt.Sprint(w.amounts(t)); got != fmt.Sprint(map[string]int{"posted 600.00": 1}) && got != fmt.Sprint(map[string]int{"posted 100.00": 1, "posted 200.00": 1, "posted 300.00": 1}) {
			t.Errorf("a crash at change %d: %s", crash, got)
		}
		if err == nil {
			equal(t, "looked at again", out.Report == nil, true)
			return
		}
	}
}
