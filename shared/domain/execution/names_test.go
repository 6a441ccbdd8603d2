package execution_test

import (
	"testing"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// What lies in a deployed table, or was handed to a rail, is found by no other name.
func TestNames(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	for _, c := range []struct {
		got  key.Key
		want string
	}{
		{key.Execution(acme, "exec_1"), "tenant#acme#exec#exec_1 row"},
		{key.Reserved(acme, "acct_1"), "tenant#acme#reserved#acct_1 record"},
		{key.Turn(acme, "acct_1"), "tenant#acme#turn#acct_1 record"},
		{key.Spent(acme, "inv_1"), "tenant#acme#spent#inv_1 record"},
		{key.Paid(acme, "cp_1", "payable", "1.00", "USD"), "tenant#acme#paid#cp_1 payable#USD#1.00"},
		{key.Nonce(31337, "0xAb"), "nonce#31337#0xAb record"},
	} {
		equal(t, "key", c.got.PK+" "+c.got.SK, c.want)
	}
	equal(t, "execution", execution.NameOf("pi_a_b"), "exec_a_b")
	// printf 'acme/pi_1' | sha256sum
	equal(t, "idempotency key", execution.KeyOf(acme, "pi_1"), "de896ad62fcf3ec5eef6f4d45ef5aab4d58420de8bc5c35495eeaa2b68f9e994")
}
