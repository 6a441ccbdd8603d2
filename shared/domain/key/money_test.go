package key_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// TestMoneyKeys pins the keys of the money path.
func TestMoneyKeys(t *testing.T) {
	acme := tenant(t, "acme")
	k := func(pk, sk string) key.Key { return key.Key{PK: pk, SK: sk} }
	for name, c := range map[string]struct{ got, want key.Key }{
		"an agent's promises":   {key.Promises(acme, "agent", "agt_1"), k("tenant#acme#promises#agent#agt_1", "record")},
		"a payee's":             {key.Promises(acme, "counterparty", "cp_1"), k("tenant#acme#promises#counterparty#cp_1", "record")},
		"the tenant's":          {key.Promises(acme, "tenant", ""), k("tenant#acme#promises#tenant#", "record")},
		"policy head":           {key.PolicyHead(acme), k("tenant#acme#policy", "head")},
		"policy mark":           {key.PolicyMark(acme), k("tenant#acme#policymark", "record")},
		"policy version":        {key.PolicyVersion(acme, 12), k("tenant#acme#policy", "version#0000000000000000012")},
		"settings":              {key.Settings(acme), k("tenant#acme", "settings")},
		"decision":              {key.Decision(acme, id.PaymentIntent, "pi_1", "pd_1"), k("tenant#acme#pi#pi_1", "decision#pd_1")},
		"the same":              {key.Same(acme, "agt_1", "payment_intent.propose", "abc"), k("tenant#acme#replay#agt_1", "payment_intent.propose=abc")},
		"feed":                  {key.Feed(acme, "2025-09-30T12:00:00.000Z", "pi_1"), k("tenant#acme#feed", "2025-09-30T12:00:00.000Z#pi_1")},
		"own intents":           {key.LedgerListOf(acme, id.PaymentIntent, "agt_1", "2025", "pi_1"), k("tenant#acme#pi@agt_1", "2025#pi_1")},
		"an intent that is due": {key.Due(acme, noon, "pi_1"), k("due#02", "2025-09-30T12:00:00.000Z#acme#pi_1")},
	} {
		t.Run(name, func(t *testing.T) { equal(t, "key", c.got, c.want) })
	}
}

// Marks of what is due lie in the order of their times, in the partitions a
// sweep goes through, and those of two tenants or two cases apart.
func TestDue(t *testing.T) {
	acme, globex := tenant(t, "acme"), tenant(t, "globex")
	partitions := map[string]int{}
	for i := range 400 {
		name := "pi_" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		k := key.Due(acme, noon, name)
		partitions[k.PK]++
		later := key.Due(acme, noon.Add(time.Millisecond), name)
		if later.PK != k.PK || later.SK <= k.SK {
			t.Errorf("%v is not after %v", later, k)
		}
		if key.Due(globex, noon, name) == k {
			t.Errorf("two tenants share %v", k)
		}
	}
	equal(t, "partitions", len(partitions), key.DueShards)
	for shard := range key.DueShards {
		if partitions[key.DuePartition(shard)] < 400/key.DueShards/3 {
			t.Errorf("%s has %d of 400", key.DuePartition(shard), partitions[key.DuePartition(shard)])
		}
	}
	zone := time.FixedZone("", 7200)
	equal(t, "the zone does not matter", key.Due(acme, noon.In(zone), "pi_1"), key.Due(acme, noon, "pi_1"))
}

// What a caller writes as a key never becomes the mark of what is identical
// without one, and versions of a policy sort as numbers.
func TestReplayAndSame(t *testing.T) {
	acme := tenant(t, "acme")
	for _, text := range []string{"", "=abc", "#abc", "abc", "payment_intent.propose=abc"} {
		if key.Replay(acme, "agt_1", "payment_intent.propose", text) == key.Same(acme, "agt_1", "payment_intent.propose", text) {
			t.Errorf("%q is both", text)
		}
	}
	var versions []string
	for _, version := range []int64{1, 2, 9, 10, 99, 100, 1 << 53} {
		versions = append(versions, key.PolicyVersion(acme, version).SK)
	}
	if !slices.IsSorted(versions) || versions[0] < "head" {
		t.Errorf("versions sort as %v, beside %s", versions, key.PolicyHead(acme).SK)
	}
}
