package proof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/proof"
)

// An id that is not one is answered as an action without a proof, and the reader
// has no table to ask for it.
func TestNoSuchAction(t *testing.T) {
	tenant, err := identity.OperatorTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"", "pi_", "pi", "_a", "{action_id}", "pi_a#x", "pi_a/b", "pi_a\n", "PI_a", "pi_ä", "p_a", "proposal_a", "pi_" + strings.Repeat("a", 65)} {
		_, err := (&proof.Reader{}).Proof(t.Context(), tenant, action)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.ProofNotFound {
			t.Errorf("action %q: error = %v", action, err)
		}
	}
}
