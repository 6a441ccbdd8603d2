package render

import (
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// Month is the facts of a monthly summary.
type Month struct {
	Month      string               `json:"month"`      // YYYY-MM
	Totals     []Sum                `json:"totals"`     // by currency and direction
	Categories []Sum                `json:"categories"` // ranked, inflow and outflow
	Parties    []Sum                `json:"parties"`    // ranked, inflow and outflow
	Uncounted  []string             `json:"uncounted"`  // rankings that are left out, for they are too long
	Names      map[string]string    `json:"names"`      // of the parties, by id; from outside
	Recent     []ledger.Transaction `json:"recent"`     // the latest of the month, the newest first
	Largest    []ledger.Transaction `json:"largest"`    // of the largest parties
}

func (f Month) sheet() (*sheet, error) {
	at, err := time.Parse("2006-01", f.Month)
	if err != nil {
		return nil, fmt.Errorf("month %.20q: %w", f.Month, err)
	}
	s := titled("%s", at.Format("January 2006"))
	if err := s.flow(f.Totals); err != nil {
		return nil, err
	}
	for _, sum := range f.Categories {
		verb, what := "Received for", fence.Text(sum.Value)
		if sum.Direction == "outflow" {
			verb = "Spent on"
		}
		if sum.Value == "-" { // a rollup's value for none
			what = "what has no category"
		}
		s.add(truth, "%s %s: %s", verb, what, sum.money())
	}
	s.add(linked, "[Cash flow](/cash-flow/%s)", f.Month)
	for _, sum := range f.Parties {
		word := "received"
		if sum.Direction == "outflow" {
			word = "paid"
		}
		name := f.Names[sum.Value]
		if name == "" {
			name = sum.Value
		}
		s.add(linked, "[%s](/counterparties/%s): %s %s in %s", fence.Text(name), sum.Value, word, sum.money(), plural(sum.Count, "transaction"))
	}
	for _, x := range f.Largest {
		s.cite("transactions", x.ID)
	}
	s.moves(f.Recent)
	for _, ranking := range f.Uncounted {
		s.add(questions, "There are too many %s to rank them here", ranking)
	}
	return s, nil
}

// flow tells what came and went, by currency.
func (s *sheet) flow(sums []Sum) error {
	all, err := totals(sums)
	if err != nil {
		return err
	}
	for _, sum := range all {
		s.add(truth, "%s: %s in %s", capital(sum.Direction), sum.money(), plural(sum.Count, "transaction"))
	}
	if len(all) == 0 {
		s.add(truth, "No money moved")
	}
	return nil
}

// CashFlow is the facts of the cash flow of a month or a quarter.
type CashFlow struct {
	Period string               `json:"period"` // YYYY-MM or YYYY-Qn
	Totals []Sum                `json:"totals"` // by month, currency and direction
	Steps  []Sum                `json:"steps"`  // by day for a month, by month for a quarter
	Recent []ledger.Transaction `json:"recent"` // the latest of the period, the newest first
}

func (f CashFlow) sheet() (*sheet, error) {
	s := titled("Cash flow %s", f.Period)
	if err := s.flow(f.Totals); err != nil {
		return nil, err
	}
	all, err := nets(f.Totals)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		s.add(truth, "Net: %s", n.money())
		if n.sign < 0 {
			s.add(risks, "More %s went out than came in", n.Currency)
		}
	}
	months, quarter, err := Months(f.Period)
	if err != nil {
		return nil, err
	}
	for _, month := range months {
		s.add(linked, "[Summary of %s](/monthly-summaries/%s)", month, month)
	}
	if len(months) == 1 {
		s.add(linked, "[Cash flow %s](/cash-flow/%s)", quarter, quarter)
	} else {
		for _, month := range months {
			s.add(linked, "[Cash flow %s](/cash-flow/%s)", month, month)
		}
	}
	s.moves(f.Recent)
	lines, err := periods(f.Steps, false)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		s.add(timeline, "%s", line)
	}
	return s, nil
}

// quarters are the first months of quarters, as they stand in a date.
var quarters = []string{"01", "04", "07", "10"}

// Months are the months of a period, YYYY-MM or YYYY-Qn, and the quarter it is or
// lies in. It fails for what is neither.
func Months(period string) (months []string, quarter string, err error) {
	if len(period) != len("2006-01") {
		return nil, "", fmt.Errorf("period %.20q: want YYYY-MM or YYYY-Qn", period)
	}
	year, part := period[:5], period[5:]
	if part[0] == 'Q' && part[1] >= '1' && part[1] <= '4' {
		part = quarters[part[1]-'1']
		quarter = period
	}
	first, err := time.Parse("2006-01", year+part)
	if err != nil {
		return nil, "", fmt.Errorf("period %.20q: want YYYY-MM or YYYY-Qn", period)
	}
	if quarter == "" {
		return []string{period}, fmt.Sprintf("%sQ%d", year, (int(first.Month())+2)/3), nil
	}
	for range 3 {
		months = append(months, first.Format("2006-01"))
		first = first.AddDate(0, 1, 0)
	}
	return slices.Clip(months), quarter, nil
}
