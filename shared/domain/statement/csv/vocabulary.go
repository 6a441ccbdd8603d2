package csv

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// language is one headers are known in.
type language uint8

const (
	english language = 1 << iota
	german
	french
	dutch
	spanish
	portuguese
	anywhere = english | german | french | dutch | spanish | portuguese
)

// vocabulary has the headers of bank exports, as folded. Within a field the
// better ones come first: of "posting date" and "transaction date" the first is
// the day of booking.
var vocabulary = []struct {
	field    Field
	language language
	phrases  string
}{
	{Booked, english, "booking date, posting date, posted date, post date, date posted, date booked, completed date, booked, transaction date, trans date, date, date utc"},
	{Booked, german, "buchungstag, buchungsdatum, buchung, datum"},
	{Booked, french, "date de comptabilisation, date comptable, date d operation, date de l operation, date operation, date de transaction, date"},
	{Booked, dutch, "boekdatum, boekingsdatum, transactiedatum, datum"},
	{Booked, spanish, "fecha contable, fecha de operacion, fecha operacion, f operacion, fecha de movimiento, fecha"},
	{Booked, portuguese, "data contabilistica, data do movimento, data movimento, data mov, data operacao, data da operacao, data lancamento, data do lancamento, data"},
	{Value, english, "value date"},
	{Value, german, "valutadatum, wertstellung, wertstellungsdatum, wert, valuta"},
	{Value, french, "date de valeur, date valeur, valeur"},
	{Value, dutch, "valutadatum, rentedatum"},
	{Value, spanish, "fecha valor, fecha de valor, f valor"},
	{Value, portuguese, "data valor, data de valor"},
	{Amount, english, "amount, transaction amount, net amount"},
	{Amount, german, "betrag, umsatz, buchungsbetrag"},
	{Amount, french, "montant, montant de l operation"},
	{Amount, dutch, "bedrag, transactiebedrag"},
	{Amount, spanish, "importe, monto, cantidad"},
	{Amount, portuguese, "valor, montante, importancia, quantia"},
	{Debit, english, "debit, debits, debit amount, money out, paid out, withdrawal, withdrawals, withdrawal amount, withdrawal amt"},
	{Debit, german, "soll, belastung, belastungen, lastschrift, ausgang, ausgaben"},
	{Debit, french, "debit, debits"},
	{Debit, dutch, "debet, af"},
	{Debit, spanish, "cargo, cargos, debe, adeudo, debito, debitos"},
	{Debit, portuguese, "debito, debitos, saida, saidas"},
	{Credit, english, "credit, credits, credit amount, money in, paid in, deposit, deposits, deposit amount, deposit amt"},
	{Credit, german, "haben, gutschrift, gutschriften, eingang, einnahmen"},
	{Credit, french, "credit, credits"},
	{Credit, dutch, "credit, bij"},
	{Credit, spanish, "abono, abonos, haber, ingreso, credito, creditos"},
	{Credit, portuguese, "credito, creditos, entrada, entradas"},
	{Sign, english, "debit credit, credit debit, dr cr, cr dr, d c, c d, debit credit indicator, credit debit indicator, direction, sign"},
	{Sign, german, "soll haben, soll haben kennzeichen, s h, haben soll, umsatz soll haben"},
	{Sign, french, "sens, debit credit"},
	{Sign, dutch, "af bij, bij af, debet credit"},
	{Sign, spanish, "debe haber, cargo abono, signo"},
	{Sign, portuguese, "debito credito, natureza, d c"},
	{Currency, english, "currency, currency code, ccy"},
	{Currency, german, "wahrung, waehrung"},
	{Currency, french, "devise, monnaie"},
	{Currency, dutch, "munt, muntsoort"},
	{Currency, spanish, "divisa, moneda"},
	{Currency, portuguese, "moeda, divisa"},
	{Name, english, "counterparty name, counterparty, payee name, beneficiary name, merchant, payee payer, beneficiary payer, partner name, name"},
	{Name, german, "auftraggeber empfanger, empfanger auftraggeber, begunstigter zahlungspflichtiger, beguenstigter zahlungspflichtiger, auftraggeber begunstigter, name zahlungsbeteiligter, empfanger zahlungspflichtiger"},
	{Name, french, "tiers, contrepartie, nom de la contrepartie, nom"},
	{Name, dutch, "naam tegenpartij, tegenpartij, naam omschrijving, naam"},
	{Name, spanish, "beneficiario ordenante, contraparte, nombre"},
	{Name, portuguese, "contraparte, nome"},
	{Payer, english, "payer, payer name"},
	{Payer, german, "auftraggeber, zahlungspflichtige r, zahlungspflichtiger"},
	{Payer, spanish | portuguese, "ordenante"},
	{Payee, english, "payee, beneficiary"},
	{Payee, german, "empfanger, zahlungsempfanger, zahlungsempfanger in, begunstigter"},
	{Payee, french, "beneficiaire"},
	{Payee, spanish | portuguese, "beneficiario"},
	{Account, anywhere, "counterparty iban, iban"},
	{Account, english, "counterparty account, counterparty account number, payee account, beneficiary account, partner iban"},
	{Account, german, "kontonummer iban, iban zahlungsbeteiligter, gegenkonto"},
	{Account, french, "iban contrepartie, compte contrepartie"},
	{Account, dutch, "tegenrekening iban bban, tegenrekening"},
	{Account, spanish, "cuenta contraparte, cuenta de destino"},
	{Bank, anywhere, "bic swift code, bic swift, bic, bic tegenpartij, blz, bic zahlungsbeteiligter"},
	{Memo, english, "description, transaction description, details, memo, narrative, purpose, remittance information, payment details, notes, additional information"},
	{Memo, german, "verwendungszweck, vorgang verwendungszweck, beschreibung, zahlungszweck, zahlungsgrund, avisierungstext, mitteilung, text"},
	{Memo, french, "libelle, libelle operation, libelle de l operation, description, motif, communication, details"},
	{Memo, dutch, "omschrijving, omschrijving 1, omschrijving 2, omschrijving 3, mededelingen, mededeling"},
	{Memo, spanish, "concepto, descripcion, observaciones, mas datos"},
	{Memo, portuguese, "descricao, descritivo, historico, descricao do movimento"},
	{Reference, english, "transaction id, bank reference, transaction reference, fitid, reference number, reference, ref, id"},
	{Reference, german, "referenznummer, bankreferenz, transaktions id, referenz"},
	{Reference, french, "reference bancaire, reference operation, reference"},
	{Reference, dutch, "volgnr, transactiereferentie, referentie"},
	{Reference, spanish | portuguese, "referencia, numero de referencia"},
	{EndToEnd, anywhere, "end to end id, end to end reference, end to end referenz, kundenreferenz end to end, kundenreferenz, betalingskenmerk"},
	{Mandate, anywhere, "mandate reference, mandate, mandatsreferenz, machtigingskenmerk, reference mandat"},
	{Creditor, anywhere, "creditor id, glaubiger id, glaeubiger id, incassant id"},
	{Check, english, "check number, cheque number, check or slip, check, cheque"},
	{Type, english, "transaction type, type, code"},
	{Type, german, "buchungstext, umsatzart, umsatztyp, buchungsart"},
	{Type, french, "type d operation, type operation"},
	{Type, dutch, "mutatiesoort, code"},
	{Type, spanish | portuguese, "tipo, tipo de movimiento, tipo de movimento"},
	{Status, anywhere, "status, state, estado, statut"},
	{Balance, english, "running balance, balance, account balance, balance after, closing balance"},
	{Balance, german, "saldo nach buchung, kontostand, saldo"},
	{Balance, french, "solde, solde apres operation"},
	{Balance, dutch, "saldo na mutatie, saldo na trn, saldo"},
	{Balance, spanish, "saldo, saldo disponible"},
	{Balance, portuguese, "saldo, saldo contabilistico, saldo apos movimento"},
	{Own, english, "account number, own account, account"},
	{Own, german, "auftragskonto, iban auftragskonto, konto"},
	{Own, french, "numero de compte, compte"},
	{Own, dutch, "iban bban, rekeningnummer, rekening"},
	{Own, spanish, "cuenta, numero de cuenta"},
	{Own, portuguese, "conta, numero de conta"},
}

// meaning is what a header says.
type meaning struct {
	field    Field
	language language
	rank     int // within the field, 0 is best
}

var meanings = func() map[string]meaning {
	m := map[string]meaning{}
	for _, v := range vocabulary {
		for rank, phrase := range strings.Split(v.phrases, ", ") {
			known, there := m[phrase]
			if !there {
				m[phrase] = meaning{v.field, v.language, rank}
			} else if known.field == v.field {
				known.language |= v.language
				m[phrase] = known
			}
		}
	}
	return m
}()

// fold spells a header for comparison: no accents, lower case, signs as blanks.
func fold(cell string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ReplaceAll(cell, "ß", "ss")) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// maxHeader is how long a header is. What is longer is a text.
const maxHeader = 80

// understand is what a header means, and the currency that stands in it, as in
// "Betrag (EUR)", "Amount in USD" or "Montant €".
func understand(cell string) (m meaning, c money.Currency, ok bool) {
	if cell == "" || len(cell) > maxHeader {
		return m, c, false
	}
	folded := fold(cell)
	if m, ok = meanings[folded]; ok {
		if strings.Contains(cell, "€") {
			c = money.MustParse("EUR")
		}
		return m, c, true
	}
	words := strings.Fields(folded)
	n := len(words) - 1
	if n < 1 {
		return m, c, false
	}
	c, err := money.Parse(strings.ToUpper(words[n]))
	if err != nil {
		return m, c, false
	}
	if n > 1 && words[n-1] == "in" {
		n--
	}
	m, ok = meanings[strings.Join(words[:n], " ")]
	return m, c, ok
}

// columns are what the cells of a header line hold, the languages they may be in
// and the currency of the amounts. It is no header line when ok is false.
func columns(cells []string) (found map[int]Field, spoken language, c money.Currency, ok bool) {
	found, spoken = map[int]Field{}, anywhere
	best := map[Field]int{} // the column that holds it
	ranks := map[Field]int{}
	for i, cell := range cells {
		m, own, known := understand(strings.TrimSpace(cell))
		if !known {
			continue
		}
		if both := spoken & m.language; both != 0 {
			spoken = both
		}
		money := m.field == Amount || m.field == Debit || m.field == Credit
		if money && c.IsZero() {
			c = own
		}
		if old, there := best[m.field]; there && m.field != Memo {
			if ranks[m.field] <= m.rank {
				continue
			}
			delete(found, old)
		}
		found[i], best[m.field], ranks[m.field] = m.field, i, m.rank
	}
	_, signless := best[Amount]
	if _, debit := best[Debit]; debit && signless {
		// A column of amounts beside two of them is another currency's or a sum.
		delete(found, best[Amount])
	}
	return found, spoken, c, complete(found) == nil
}
