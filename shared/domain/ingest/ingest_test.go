package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	columns "github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// entry is a line of a file that a test makes.
type entry struct{ date, amount, ref, name, memo string }

// ofx is a statement of one account in OFX.
func ofx(closing string, entries ...entry) string {
	var b strings.Builder
	b.WriteString("OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>10020030<ACCTID>1234567890<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST>")
	for _, e := range entries {
		fmt.Fprintf(&b, "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>%s<TRNAMT>%s", strings.ReplaceAll(e.date, "-", ""), e.amount)
		for _, field := range [][2]string{{"FITID", e.ref}, {"NAME", e.name}, {"MEMO", e.memo}} {
			if field[1] != "" {
				b.WriteString("<" + field[0] + ">" + field[1])
			}
		}
		b.WriteString("</STMTTRN>")
	}
	b.WriteString("</BANKTRANLIST>")
	if closing != "" {
		b.WriteString("<LEDGERBAL><BALAMT>" + closing + "<DTASOF>20250430</LEDGERBAL>")
	}
	b.WriteString("</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>")
	return b.String()
}

// csv is a statement in columns, which does not say its account.
func csv(entries ...entry) string {
	var b strings.Builder
	b.WriteString("Date,Amount,Currency,Payee,Description\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "%s,%s,EUR,%s,%s\n", e.date, e.amount, e.name, e.memo)
	}
	return b.String()
}

var april = []entry{
	{"2025-04-02", "-12.50", "F1", "Acme GmbH", "Invoice 7"},
	{"2025-04-03", "-3.20", "F2", "Café Noir", "Coffee"},
	{"2025-04-03", "-3.20", "F3", "CAFE  NOIR", "Coffee"},
	{"2025-04-04", "1000.00", "F4", "Globex Ltd", "Salary"},
}

func TestFirstFile(t *testing.T) {
	w := newWorld(t)
	artifact := w.bring(t, operator, ofx("981.10", april...), "")
	report := w.take(t, artifact)
	equal(t, "facts", w.facts(t), `2025-04-02 Account …7890/EUR outflow 12.50 EUR posted [acme gmbh] Invoice 7
2025-04-03 Account …7890/EUR outflow 3.20 EUR posted [cafe noir] Coffee
2025-04-03 Account …7890/EUR outflow 3.20 EUR posted [cafe noir] Coffee
2025-04-04 Account …7890/EUR inflow 1000.00 EUR posted [globex ltd] Salary`)
	w.sound(t, 4)
	equal(t, "transactions", report.Transactions, ingest.Count{New: 4})
	equal(t, "counterparties", report.Counterparties, ingest.Count{New: 3})
	equal(t, "accounts", report.Accounts, ingest.Count{New: 1})
	equal(t, "days", report.From+" "+report.To, "2025-04-02 2025-04-04")

	account := all[ledger.Account](t, w, id.Account)[0]
	equal(t, "balance", *account.CurrentBalance+" "+*account.BalanceAsOf, "981.10 2025-04-30T23:59:59.999Z")
	equal(t, "institution and number", *account.Institution+" "+*account.ExternalAccountID, "10020030 1234567890")
	for _, c := range all[ledger.Counterparty](t, w, id.Counterparty) {
		equal(t, "verified", c.VerifiedStatus, "unverified")
	}
	for _, x := range all[ledger.Transaction](t, w, id.Transaction) {
		equal(t, "sources", strings.Join(x.SourceIDs, " "), artifact.ID)
		equal(t, "evidence", strings.Join(x.EvidenceIDs, " "), raw.EvidenceID(artifact.ID, "1"))
		equal(t, "provenance", x.Provenance, "extracted")
	}
	after, err := w.archive.Artifact(t.Context(), w.tenant, artifact.ID)
	noError(t, err)
	equal(t, "state", after.State, raw.Extracted)
	equal(t, "events", len(w.bus.of(t, raw.ActionExtracted)), 1)
}

func TestSameFileTwice(t *testing.T) {
	for name, text := range map[string]string{"ofx": ofx("981.10", april...), "csv": csv(april...)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.load(t, text)
			facts, changes := w.facts(t), w.store.changes.Load()
			// The same bytes are the same artifact: nothing is looked at again.
			out, err := w.intake.Take(t.Context(), w.tenant, "req_3", w.bring(t, operator, text, "").ID)
			noError(t, err)
			equal(t, "state", out.State, raw.Extracted)
			equal(t, "looked at", out.Report != nil, false)
			equal(t, "changes", w.store.changes.Load(), changes)
			// The same entries in other bytes are another artifact and the same rows.
			report := w.load(t, text+"\n")
			equal(t, "transactions", report.Transactions, ingest.Count{Known: 4})
			equal(t, "counterparties", report.Counterparties, ingest.Count{})
			equal(t, "facts", w.facts(t), facts)
			w.sound(t, 4)
		})
	}
}

// may overlaps april by two days, in the bank's other order, with a longer text.
var may = []entry{
	{"2025-05-02", "-40.00", "F5", "Acme GmbH", "Invoice 8"},
	{"2025-04-04", "1000.00", "F4", "Globex Ltd", "Salary for April"},
	{"2025-04-03", "-3.20", "F3", "CAFE  NOIR", "Coffee"},
	{"2025-04-03", "-3.20", "F2", "Café Noir", "Coffee"},
}

// Two files that overlap give the same rows whichever is first. Where the bank
// gives no reference, equal rows are counted.
func TestOverlap(t *testing.T) {
	bare := func(entries []entry) (without []entry) {
		for _, e := range entries {
			e.ref = ""
			if e.memo == "Salary for April" {
				e.memo = "Salary"
			}
			without = append(without, e)
		}
		return without
	}
	for name, files := range map[string][2]string{
		"by reference": {ofx("", april...), ofx("", may...)},
		"by content":   {csv(bare(april)...), csv(bare(may)...)},
		"half without": {ofx("", append(bare(april[:3]), april[3])...), ofx("", may[0], may[1], bare(may)[2], bare(may)[3])},
	} {
		t.Run(name, func(t *testing.T) {
			var facts [2]string
			for i, order := range [][2]int{{0, 1}, {1, 0}} {
				w := newWorld(t)
				first, second := w.load(t, files[order[0]]), w.load(t, files[order[1]])
				equal(t, "rows of both", first.Transactions.New+second.Transactions.New, 5)
				equal(t, "known", second.Transactions.Known, 3)
				w.sound(t, 5)
				// A text is the first file's, and the rest is the same.
				facts[i] = strings.ReplaceAll(w.facts(t), "Salary for April", "Salary")
			}
			equal(t, "facts in the other order", facts[1], facts[0])
		})
	}
}

// Banks give one reference to two entries, and none to others.
func TestReferencesThatDoNotNameOne(t *testing.T) {
	w := newWorld(t)
	text := ofx("",
		entry{"2025-04-02", "-1.00", "X", "A1", "one"}, entry{"2025-04-02", "-2.00", "X", "B2", "two"}, // one reference, two amounts
		entry{"2025-04-02", "-3.00", "Y", "A1", "same"}, entry{"2025-04-02", "-3.00", "Y", "A1", "same"}, // all of it equal
		entry{"2025-04-02", "-4.00", "", "A1", "bare"}, entry{"2025-04-02", "-4.00", "", "A1", "bare"}, // no reference, equal
		entry{"2025-05-02", "-1.00", "X", "A1", "one"}) // the reference again, a month later
	equal(t, "transactions", w.load(t, text).Transactions, ingest.Count{New: 7})
	equal(t, "once more", w.load(t, text+" ").Transactions, ingest.Count{Known: 7})
	w.sound(t, 7)
}

// A process that is gone after any of its changes leaves an artifact that the next
// delivery finishes: the same rows as without it.
func TestCrashAtEveryChange(t *testing.T) {
	text := ofx("981.10", april...)
	whole := newWorld(t)
	whole.load(t, text)
	changes, facts := whole.store.changes.Load(), whole.facts(t)
	for at := int64(1); at <= changes; at++ {
		w := newWorld(t)
		artifact := w.bring(t, operator, text, "")
		w.store.left.Store(at)
		_, err := w.intake.Take(t.Context(), w.tenant, "req_2", artifact.ID)
		done := err == nil // what is not needed any more may fail
		w.store.left.Store(0)
		out, err := w.intake.Take(t.Context(), w.tenant, "req_3", artifact.ID)
		noError(t, err)
		equal(t, "state", out.State, raw.Extracted)
		if out.Report != nil {
			equal(t, fmt.Sprintf("new after a crash at change %d", at), out.Report.Transactions, ingest.Count{New: 4})
			equal(t, "counterparties", out.Report.Counterparties, ingest.Count{New: 3})
		} else if !done && at < changes {
			t.Errorf("a crash at change %d of %d left nothing to do", at, changes)
		}
		equal(t, "facts", w.facts(t), facts)
		w.sound(t, 4)
	}
}

// The same event delivered twice at one time, and two files of the same entries.
func TestAtOnce(t *testing.T) {
	w := newWorld(t)
	text := ofx("981.10", april...)
	first, second := w.bring(t, operator, text, ""), w.bring(t, operator, text+"\n", "")
	var group errgroup.Group
	for _, a := range []raw.Artifact{first, first, second, first, second} {
		group.Go(func() error {
			_, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
			return err
		})
	}
	noError(t, group.Wait())
	equal(t, "counterparties", len(all[ledger.Counterparty](t, w, id.Counterparty)), 3)
	equal(t, "accounts", len(all[ledger.Account](t, w, id.Account)), 1)
	w.sound(t, 4)
}

// What an agent brings is believed half, changes nothing of what is trusted, and
// gives way to what an operator brings.
func TestAgentsFile(t *testing.T) {
	agent := raw.Origin{Actor: identity.Actor{Type: "agent", ID: "agt_1"}, AgentID: "agt_1", Trusted: true}
	w := newWorld(t)
	forged := []entry{april[0], {"2025-04-04", "1000.00", "F4", "Mallory", "Salary"}}
	w.take(t, w.bring(t, agent, ofx("99999.00", forged...), ""))
	for _, x := range all[ledger.Transaction](t, w, id.Transaction) {
		equal(t, "provenance", x.Provenance, "agent_contributed")
		equal(t, "confidence", x.Confidence, 0.5)
	}
	report := w.load(t, ofx("981.10", april...))
	equal(t, "transactions", report.Transactions, ingest.Count{New: 2, Changed: 2})
	account := all[ledger.Account](t, w, id.Account)[0]
	equal(t, "account", account.Provenance+" "+*account.CurrentBalance, "extracted 981.10")
	if facts := w.facts(t); strings.Contains(facts, "mallory") {
		t.Errorf("an agent's payee is there still: %s", facts)
	}
	w.sound(t, 4)
	w.take(t, w.bring(t, agent, ofx("5.00", april...), ""))
	equal(t, "balance", *all[ledger.Account](t, w, id.Account)[0].CurrentBalance, "981.10")
	for _, x := range all[ledger.Transaction](t, w, id.Transaction) {
		equal(t, "provenance", x.Provenance, "extracted")
	}
}

// A quarantined artifact is left alone until somebody trusts its agent.
func TestQuarantine(t *testing.T) {
	w := newWorld(t)
	a := w.bring(t, raw.Origin{Actor: identity.Actor{Type: "agent", ID: "agt_1"}, AgentID: "agt_1"}, ofx("", april...), "")
	out, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
	noError(t, err)
	equal(t, "state", out.State, raw.Quarantined)
	w.sound(t, 0)
	_, err = w.archive.Accept(t.Context(), w.tenant, identity.Actor{Type: "user", ID: "mbr_1"}, "req_3", "agt_1")
	noError(t, err)
	equal(t, "transactions", w.take(t, a).Transactions, ingest.Count{New: 4})
}

// One bad row refuses the whole file, and says where it is.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text, source, says string
		line               int
	}{
		"a bad amount":        {csv(append(april[:3:3], entry{"2025-04-05", "12.345", "", "Acme", "x"})...), "", "12.345", 5},
		"a date":              {csv(entry{"2025-04-31", "1.00", "", "Acme", "x"}), "", "2025-04-31", 2},
		"no format":           {"hello", "", "format", 1},
		"an archive":          {"PK\x03\x04" + strings.Repeat("\x00", 100), "", "ZIP", 1},
		"entities":            {`<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">&b;</Document>`, "", "", 1},
		"an unknown mapping":  {csv(april...), `{"mapping":"none"}`, "no mapping", 0},
		"an unknown account":  {csv(april...), `{"account":"acct_none"}`, "no account acct_none", 0},
		"a line of our own":   {`{"type":"invoice","number":"7","counterparty":"Acme","direction":"payable","amount_due":"1.00","currency":"EUR","issue_date":"2025-04-01","due_date":"soon"}`, "", "due_date", 1},
		"a field nobody has":  {`{"type":"counterparty","name":"Acme","iban":"DE02"}`, "", "iban", 1},
		"an id of another":    {`{"type":"counterparty","name":"Acme","id":"tx_1"}`, "", "tx_1", 1},
		"nameless":            {`{"type":"counterparty","name":" - "}`, "", "name is missing", 1},
		"an amount in floats": {`{"type":"obligation","kind":"rent","counterparty":"L","direction":"payable","amount_due":1e3,"currency":"EUR","due_date":"2025-05-01"}`, "", "amount", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.bring(t, operator, c.text, c.source)
			before := w.store.changes.Load()
			out, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
			noError(t, err)
			equal(t, "state", out.State, raw.Failed)
			if f := out.Report.Failure; f == nil || f.Line != c.line || !strings.Contains(f.Message, c.says) {
				t.Errorf("failure %+v, want line %d and %q", f, c.line, c.says)
			}
			w.sound(t, 0)
			equal(t, "accounts", len(all[ledger.Account](t, w, id.Account)), 0)
			// The report, the state with its event, and the event's way out.
			equal(t, "changes", w.store.changes.Load()-before, 3)
			for _, e := range w.bus.of(t, raw.ActionFailed) {
				if said := fmt.Sprint(e.Outputs); c.says != "" && strings.Contains(said, c.says) {
					t.Errorf("the event repeats the file: %s", said)
				}
			}
		})
	}
}

// A file that was refused is read again when an operator says how.
func TestRetry(t *testing.T) {
	w := newWorld(t)
	text := "Wann;Wieviel;Wer\n02.04.2025;-12,50;Acme\n03.04.2025;7,00;Globex\n"
	a := w.bring(t, operator, text, "")
	out, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
	noError(t, err)
	equal(t, "state", out.State, raw.Failed)
	m := columns.Mapping{Header: []string{"Wann", "Wieviel", "Wer"}, Currency: "EUR", Columns: map[int]columns.Field{0: columns.Booked, 1: columns.Amount, 2: columns.Name}}
	noError(t, w.intake.SaveMapping(t.Context(), w.tenant, operator.Actor, "req_3", "odd", m))
	_, err = w.archive.Retry(t.Context(), w.tenant, operator.Actor, "req_4", a.ID, []byte(`{"mapping":"odd","account":"DE02 1203 0000 0000 2020 51"}`))
	noError(t, err)
	equal(t, "events", len(w.bus.of(t, raw.ActionAccepted)), 1)
	equal(t, "transactions", w.take(t, a).Transactions, ingest.Count{New: 2})
	equal(t, "account", *all[ledger.Account](t, w, id.Account)[0].ExternalAccountID, "DE02120300000000202051")
	_, err = w.archive.Retry(t.Context(), w.tenant, operator.Actor, "req_5", a.ID, nil)
	noError(t, err)
	equal(t, "events after it is extracted", len(w.bus.of(t, raw.ActionAccepted)), 1)
}

// Counterparties that are there are found by name and alias, and accounts by
// their number, however it is written.
func TestWhatIsThere(t *testing.T) {
	w := newWorld(t)
	meta := func(name string) ledger.Meta {
		return ledger.Meta{ID: name, Provenance: "human_confirmed", Confidence: 1}
	}
	number := "1234 567890"
	_, err := w.intake.Ledger.Write(t.Context(), w.tenant, operator.Actor, "req_1",
		&ledger.Counterparty{Meta: meta("cp_acme"), Name: "ACME gmbh", Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified"},
		&ledger.Counterparty{Meta: meta("cp_cafe"), Name: "Black Coffee Corp", Aliases: []string{"cafe noir", "Cafe"}, Type: "merchant", RiskLevel: "low", VerifiedStatus: "unverified"},
		&ledger.Counterparty{Meta: meta("cp_other"), Name: "Globex Ltd Holding", Type: "other", RiskLevel: "low", VerifiedStatus: "unverified"},
		&ledger.Account{Meta: meta("acct_main"), ExternalAccountID: &number, AccountType: "bank_checking", Name: "Main", Currency: "EUR", Status: "active"})
	noError(t, err)
	report := w.load(t, ofx("981.10", april...))
	equal(t, "counterparties", report.Counterparties, ingest.Count{New: 1, Known: 2})
	equal(t, "accounts", report.Accounts, ingest.Count{Known: 1})
	equal(t, "facts", w.facts(t), `2025-04-02 Main/EUR outflow 12.50 EUR posted [acme gmbh] Invoice 7
2025-04-03 Main/EUR outflow 3.20 EUR posted [black coffee corp] Coffee
2025-04-03 Main/EUR outflow 3.20 EUR posted [black coffee corp] Coffee
2025-04-04 Main/EUR inflow 1000.00 EUR posted [globex ltd] Salary`)
}

// What people made of a row stays, and a pending entry becomes a booked one.
func TestRowsThatChanged(t *testing.T) {
	w := newWorld(t)
	lines := func(status string) string {
		return `{"type":"account","account":"A1","currency":"EUR"}` + "\n" +
			`{"type":"transaction","id":"T1","amount":"-5.00","date":"2025-04-02","status":"` + status + `","counterparty":"Acme"}` + "\n"
	}
	w.load(t, lines("pending"))
	w.sound(t, 1)
	row := all[*ledger.Transaction](t, w, id.Transaction)[0]
	category := "travel"
	row.Category = &category
	_, err := w.intake.Ledger.Write(t.Context(), w.tenant, operator.Actor, "req_1", row)
	noError(t, err)
	equal(t, "booked", w.load(t, lines("posted")).Transactions, ingest.Count{Changed: 1})
	row = all[*ledger.Transaction](t, w, id.Transaction)[0]
	equal(t, "status and category", row.Status+" "+*row.Category, "posted travel")
	w.sound(t, 1)
	equal(t, "pending again", w.load(t, lines("pending")+"\n").Transactions, ingest.Count{Known: 1})
}

// Our own lines bring what is no bank's.
func TestOwnLines(t *testing.T) {
	w := newWorld(t)
	text := `{"type":"invoice","number":"INV-7","counterparty":"Acme GmbH","direction":"payable","amount_due":"119.00","currency":"EUR","issue_date":"2025-04-01","due_date":"2025-05-01"}
{"type":"obligation","id":"obl_rent","kind":"rent","counterparty":"Landlord","direction":"payable","amount_due":900.5,"currency":"EUR","due_date":"2025-05-01","recurrence":"FREQ=MONTHLY"}
{"type":"account","account":"A1","currency":"EUR","name":"Main"}
{"type":"balance","level":"closing","amount":"70.00","date":"2025-04-30"}
{"type":"transaction","amount":"-5.00","date":"2025-04-02","counterparty":"ACME"}
{"type":"counterparty","name":"Acme GmbH","kind":"vendor","aliases":["Acme"]}
{"type":"counterparty","name":"ACME gmbh"}
`
	report := w.load(t, text)
	equal(t, "invoices", report.Invoices, ingest.Count{New: 1})
	equal(t, "obligations", report.Obligations, ingest.Count{New: 1})
	equal(t, "transactions", report.Transactions, ingest.Count{New: 1})
	invoice, rent := all[ledger.Invoice](t, w, id.Invoice)[0], all[ledger.Obligation](t, w, id.Obligation)[0]
	parties := map[string]ledger.Counterparty{}
	for _, c := range all[ledger.Counterparty](t, w, id.Counterparty) {
		parties[c.ID] = c
	}
	equal(t, "counterparties", len(parties), 2)
	equal(t, "invoice of", parties[invoice.CounterpartyID].Name+" "+parties[invoice.CounterpartyID].Type, "Acme GmbH vendor")
	equal(t, "rent", rent.ID+" "+rent.AmountDue+" "+parties[rent.CounterpartyID].Name, "obl_rent 900.50 Landlord")
	equal(t, "facts", w.facts(t), "2025-04-02 Main/EUR outflow 5.00 EUR posted [acme gmbh] -")
	again := w.load(t, text+"\n")
	equal(t, "known", fmt.Sprint(again.Invoices, again.Obligations, again.Transactions), "{0 0 1} {0 0 1} {0 0 1}")
}

// Balances that do not add up are findings, and the file is stored.
func TestFindings(t *testing.T) {
	lines := func(closing string) string {
		return `{"type":"account","account":"A1","currency":"EUR"}` + "\n" + `{"type":"balance","level":"opening","amount":"10.00","date":"2025-04-01"}` + "\n" +
			`{"type":"transaction","amount":"-5.00","date":"2025-04-02"}` + "\n" + `{"type":"balance","level":"closing","amount":"` + closing + `","date":"2025-04-30"}` + "\n"
	}
	running := func(balances ...string) string {
		text := "Date,Amount,Currency,Description,Balance\n"
		for i, b := range balances {
			text += fmt.Sprintf("2025-04-0%d,1.00,EUR,x,%s\n", i+1, b)
		}
		return text
	}
	for name, c := range map[string]struct{ text, kind, stated string }{
		"adds up":               {lines("5.00"), "", ""},
		"a closing balance":     {lines("6.00"), "balance_mismatch", "6.00"},
		"a column adds up":      {running("1.00", "2.00", "3.00"), "", ""},
		"from the last":         {running("3.00", "2.00", "1.00"), "", ""},
		"a column with a break": {running("1.00", "2.00", "9.00"), "running_balance", "9.00"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			report := w.load(t, c.text)
			if c.kind == "" {
				equal(t, "findings", report.FindingsTotal, 0)
				return
			}
			if len(report.Findings) != 1 || report.Findings[0].Kind != c.kind || report.Findings[0].Stated != c.stated {
				t.Fatalf("findings %+v", report.Findings)
			}
			event := w.bus.of(t, raw.ActionExtracted)[0]
			equal(t, "in the event", fmt.Sprint(event.Outputs["findings"]), "1")
		})
	}
}

// A preview counts as the import does, and writes nothing.
func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.load(t, ofx("", april[:2]...))
	before := w.store.changes.Load()
	report, err := w.intake.Preview(t.Context(), w.tenant, []byte(ofx("981.10", april...)), "text/plain", ingest.Hints{}, nil)
	noError(t, err)
	equal(t, "transactions", report.Transactions, ingest.Count{New: 2, Known: 2})
	equal(t, "counterparties", report.Counterparties, ingest.Count{New: 1, Known: 1})
	refused, err := w.intake.Preview(t.Context(), w.tenant, []byte("hello"), "text/plain", ingest.Hints{}, nil)
	noError(t, err)
	equal(t, "refused", refused.Failure != nil, true)
	equal(t, "changes", w.store.changes.Load(), before)
}
