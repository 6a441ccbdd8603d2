package roles_test

import (
	"testing"

	"github.com/robotmoney/mcp/infra/roles"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// What a function has no business with it cannot read, alone or in a batch with
// what it may: mcp neither the journal nor what payments are made with, execute
// neither what is said about people nor pages.
func TestWhatIsNotRead(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	journal := []string{key.JournalPartition(acme), key.JournalEntries(acme, 1), key.JournalMarks(acme, 1), key.AnchorHead(acme).PK, key.AnchorPaths(acme, 9)}
	for function, c := range map[string]struct{ may, not []string }{
		"McpFunction": {
			[]string{key.Settings(acme).PK, key.Ledger(acme, id.Account, "acct_1").PK, key.AgentPartition("agt_1"), key.ProofEvents(acme, "pi_1"), key.Individual(acme, "mbr_1", "").PK},
			append(journal, key.Execution(acme, "exec_1").PK, key.Reserved(acme, "acct_1").PK, key.Turn(acme, "acct_1").PK, key.Spent(acme, "obl_1").PK,
				key.Paid(acme, "cp_1", "outflow", "1", "USD").PK, key.Mapping(acme, "m").PK, key.OutboxPartition(1), key.DuePartition(1), key.JournalsPartition, key.AnchorsPartition),
		},
		"ExecuteFunction": {
			[]string{key.Settings(acme).PK, key.Ledger(acme, id.PaymentIntent, "pi_1").PK, key.AgentPartition("agt_1"), key.MemberPartition(acme, "mbr_1"), key.Raw(acme, "raw_1").PK},
			append(journal, key.Individual(acme, "mbr_1", "").PK, key.Page(acme, "x").PK, key.Mapping(acme, "m").PK, key.Replay(acme, "agt_1", "x", "y").PK,
				key.APIKey("x").PK, key.Capability("x").PK, key.Suffix(acme, "x", "cp_1").PK, key.RollupMonths(acme)),
		},
	} {
		role := load(t)[function]
		read := func(pks ...string) bool {
			return role.Allows(roles.Request{Action: "dynamodb:BatchGetItem", Resource: "Table", Context: map[string][]string{"dynamodb:LeadingKeys": pks}})
		}
		if !read(c.may...) {
			t.Errorf("%s may not read %v in one batch", function, c.may)
		}
		for _, pk := range c.not {
			if read(pk) || read(append([]string{pk}, c.may...)...) {
				t.Errorf("%s may read %s", function, pk)
			}
		}
	}
}
