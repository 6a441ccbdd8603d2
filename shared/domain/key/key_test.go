package key_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func tenant(t *testing.T, id string) identity.Tenant {
	t.Helper()
	tenant, err := identity.OperatorTenant(id)
	if err != nil {
		t.Fatal(err)
	}
	return tenant
}

var noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// TestKeys pins every key: what lies in a deployed table is found by no other.
func TestKeys(t *testing.T) {
	acme := tenant(t, "acme")
	k := func(pk, sk string) key.Key { return key.Key{PK: pk, SK: sk} }
	const digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // SHA-256 of "secret"
	for name, c := range map[string]struct{ got, want key.Key }{
		"agent":          {key.AgentRecord("agt_1"), k("agent#agt_1", "record")},
		"agent's chain":  {key.AgentChain("agt_1"), k("agent#agt_1", "chain")},
		"revoked token":  {key.Revoked(key.AgentPartition("agt_1"), "j"), k("agent#agt_1", "jti#j")},
		"member":         {key.MemberRecord(acme, "mbr_1"), k("tenant#acme#member#mbr_1", "record")},
		"individual":     {key.Individual(acme, "mbr_1", "profile"), k("tenant#acme#individual#mbr_1", "profile")},
		"API key":        {key.APIKey("secret"), k("apikey#"+digest, "record")},
		"capability":     {key.Capability("secret"), k("capability#"+digest, "record")},
		"rate":           {key.Rate(acme), k("tenant#acme", "rate")},
		"ledger row":     {key.Ledger(acme, id.Transaction, "tx_1"), k("tenant#acme#tx#tx_1", "row")},
		"balance":        {key.Balance(acme, "acct_1", "2025"), k("tenant#acme#acct#acct_1", "balance#2025")},
		"list":           {key.LedgerList(acme, id.Transaction, "2025-09-30", "tx_1"), k("tenant#acme#tx", "2025-09-30#tx_1")},
		"list of an own": {key.LedgerListOf(acme, id.Transaction, "acct_1", "2025-09-30", "tx_1"), k("tenant#acme#tx@acct_1", "2025-09-30#tx_1")},
		"rollup":         {key.Rollup(acme, "days/category", "USD", "outflow", "2025-09", "cloud"), k("tenant#acme#rollup#days/category#USD#outflow", "2025-09#cloud")},
		"month":          {key.RollupMonth(acme, "2025-09", "USD", "outflow"), k("tenant#acme#rollup#months", "2025-09#USD#outflow")},
		"month of one":   {key.RollupOf(acme, "cp_1", "2025-09", "USD", "outflow"), k("tenant#acme#rollup#of#cp_1", "2025-09#USD#outflow")},
		"page":           {key.Page(acme, "/accounts/acct_1"), k("tenant#acme#page", "/accounts/acct_1")},
		"page by its id": {key.PageByID(acme, "wpg_1"), k("tenant#acme#pageid", "wpg_1")},
		"artifact":       {key.Raw(acme, "raw_1"), k("tenant#acme#raw#raw_1", "row")},
		"its content":    {key.RawContent(acme, digest), k("tenant#acme#raw#"+digest, "content")},
		"artifacts of":   {key.RawCount(acme, "agt_1"), k("tenant#acme#raw#agt_1", "count")},
		"replay":         {key.Replay(acme, "agt_1", "raw.contribute", "secret"), k("tenant#acme#replay#agt_1", "raw.contribute#"+digest)},
		"outbox":         {key.Outbox("evt_1", noon), k("outbox#02", "2025-09-30T12:00:00.000Z#evt_1")},
	} {
		t.Run(name, func(t *testing.T) { equal(t, "key", c.got, c.want) })
	}
}

// No two things share a place, and no tenant's partition is the beginning of
// another's but for the separator.
func TestNothingCollides(t *testing.T) {
	seen := map[key.Key]string{}
	place := func(what string, k key.Key) {
		t.Helper()
		if other, taken := seen[k]; taken {
			t.Errorf("%s and %s both lie under %v", what, other, k)
		}
		seen[k] = what
	}
	for _, name := range []string{"a", "a-tx", "tx", "page", "rollup", "member"} {
		own := tenant(t, name)
		place(name+" rate", key.Rate(own))
		place(name+" member", key.MemberRecord(own, "mbr_1"))
		place(name+" individual", key.Individual(own, "mbr_1", "record"))
		place(name+" page", key.Page(own, "/x"))
		place(name+" page by id", key.PageByID(own, "/x"))
		for _, kind := range []id.Prefix{id.Account, id.Transaction, id.Counterparty, id.Obligation, id.Invoice, id.PaymentIntent} {
			place(name+" row", key.Ledger(own, kind, string(kind)+"_1"))
			place(name+" list", key.LedgerList(own, kind, "o", string(kind)+"_1"))
			place(name+" list of", key.LedgerListOf(own, kind, "cp_1", "o", string(kind)+"_1"))
		}
		place(name+" balance", key.Balance(own, "acct_1", "x"))
		place(name+" rollup", key.Rollup(own, "day", "USD", "inflow", "p", "v"))
		place(name+" month", key.RollupMonth(own, "p", "USD", "inflow"))
		place(name+" month of one", key.RollupOf(own, "cp_1", "p", "USD", "inflow"))
	}
	place("agent", key.AgentRecord("a"))
	place("chain", key.AgentChain("a"))
	place("revoked", key.Revoked(key.AgentPartition("a"), "record"))
}

// A balance lies before its account's row and later ones after earlier ones: a
// descending read of two items is the row and its latest balance.
func TestBalancesLieBeforeTheRow(t *testing.T) {
	acme := tenant(t, "acme")
	sorted := []string{
		key.Balance(acme, "acct_1", "2024-12-31T23:59:59.999Z").SK, key.Balance(acme, "acct_1", "2025-01-01T00:00:00.000Z").SK,
		key.Balance(acme, "acct_1", "9999-12-31T23:59:59.999Z").SK, key.Ledger(acme, id.Account, "acct_1").SK,
	}
	equal(t, "in order", slices.IsSorted(sorted), true)
	equal(t, "one partition", key.Balance(acme, "acct_1", "x").PK, key.Ledger(acme, id.Account, "acct_1").PK)
}

// The outbox is spread over all its shards, an event has one place, and its
// shard's partition is one that a sweep reads.
func TestOutboxShards(t *testing.T) {
	counts := map[string]int{}
	for shard := range key.OutboxShards {
		counts[key.OutboxPartition(shard)] = 0
	}
	equal(t, "partitions", len(counts), 16)
	for i := range 1600 {
		event := fmt.Sprintf("evt_%026d", i)
		k := key.Outbox(event, noon.In(time.FixedZone("", 7200)))
		equal(t, "one place", k, key.Outbox(event, noon))
		if _, swept := counts[k.PK]; !swept {
			t.Fatalf("no sweep reads %s", k.PK)
		}
		counts[k.PK]++
	}
	for partition, n := range counts {
		if n < 50 {
			t.Errorf("%d of 1600 events lie in %s", n, partition)
		}
	}
	if !(key.Outbox("evt_2", noon).SK < key.Outbox("evt_1", noon.Add(time.Millisecond)).SK) {
		t.Error("a shard is not in the order of time")
	}
}

func TestZero(t *testing.T) {
	equal(t, "zero", key.Key{}.Zero(), true)
	equal(t, "sort key alone", key.Key{SK: "x"}.Zero(), false)
	equal(t, "no secret in a key", strings.Contains(fmt.Sprint(key.APIKey("bak_secret"), key.Capability("cap_secret")), "secret"), false)
}
