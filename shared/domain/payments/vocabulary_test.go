package payments_test

import (
	"slices"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/payments"
)

// TestVocabulary: each way to pay stands once, in its place, and says what it
// needs without saying it twice.
func TestVocabulary(t *testing.T) {
	want := []payments.ActionType{
		"ach_outbound", "ach_inbound", "wire", "card_payment", "erp_writeback", "onchain_transfer", "x402_settle", "escrow_release",
	}
	var got []payments.ActionType
	for _, action := range payments.Vocabulary {
		got = append(got, action.Type)
		if action.Description == "" || action.Currencies == "" || action.HumanFloor == "" {
			t.Errorf("%s leaves something unsaid: %+v", action.Type, action)
		}
		for _, field := range []string{"source_account_id", "destination_counterparty_id", "amount", "currency"} {
			if !slices.Contains(action.RequiredFields, field) {
				t.Errorf("%s does not need %s", action.Type, field)
			}
		}
		all := slices.Sorted(slices.Values(slices.Concat(action.RequiredFields, action.OptionalFields)))
		if len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s names a field twice: %v", action.Type, all)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("types = %v, want %v", got, want)
	}
}

// What one type needs beyond the others is not in the others' lists: they are
// made from one.
func TestOwnFields(t *testing.T) {
	own := map[payments.ActionType][]string{payments.X402Settle: {"pay_to"}, payments.EscrowRelease: {"escrow_id", "job_terms_hash"}}
	for _, action := range payments.Vocabulary {
		if got := action.RequiredFields[4:]; !slices.Equal(got, own[action.Type]) {
			t.Errorf("%s needs %v of its own, want %v", action.Type, got, own[action.Type])
		}
	}
}
