// Package key says where every item of the table lives. It is arithmetic and
// nothing else: pure functions from ids to keys, all in this file, so that one
// look shows what may collide and what a role's key condition must cover.
//
// Every key of a tenant's data takes an identity.Tenant, which only a
// credential, a verified event or an operator can make.
package key

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Key is an item's place in the table or in one of its indexes.
type Key struct{ PK, SK string }

// Compare orders keys by partition, then by sort key.
func Compare(a, b Key) int { return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK)) }

// Zero says that the item is not in that index.
func (k Key) Zero() bool { return k == Key{} }

// Sort keys that are names and not values.
const (
	Record = "record" // the one item of a partition that is the thing itself
	Chain  = "chain"  // the registry's answer about an agent, cached
	Row    = "row"    // a ledger row; sorts after "balance#", see Balances
)

// Prefixes of sort keys that hold many items.
const (
	RevokedPrefix  = "jti#"
	BalancePrefix  = "balance#"
	DecisionPrefix = "decision#"
)

// OutboxShards is how many partitions the outbox is spread over. A sweep reads
// each; lowering it leaves the items of the dropped shards behind.
const OutboxShards = 16

// DueShards is how many partitions what expires is spread over.
const DueShards = 4

// AgentPartition holds an agent's record, the chain's answer about it and its
// revoked token ids, so that one consistent query reads all three.
func AgentPartition(agent string) string { return "agent#" + agent }

// AgentRecord is an agent's own record.
func AgentRecord(agent string) Key { return Key{AgentPartition(agent), Record} }

// AgentChain is the cached answer of the registry about an agent.
func AgentChain(agent string) Key { return Key{AgentPartition(agent), Chain} }

// MemberPartition holds a member's record and revoked token ids.
func MemberPartition(t identity.Tenant, member string) string {
	return "tenant#" + t.String() + "#member#" + member
}

// MemberRecord is a member's own record.
func MemberRecord(t identity.Tenant, member string) Key {
	return Key{MemberPartition(t, member), Record}
}

// Individual is a part of what is kept about a member as a person. It lies apart
// from the member's record: the door reads that partition whole for every
// request, and has no business with a profile.
func Individual(t identity.Tenant, member, part string) Key {
	return Key{"tenant#" + t.String() + "#individual#" + member, part}
}

// Revoked marks a token id as revoked in its principal's partition.
func Revoked(partition, jti string) Key { return Key{partition, RevokedPrefix + jti} }

// APIKey is the record of an agent API key. The key itself is never stored.
func APIKey(secret string) Key { return Key{"apikey#" + digest(secret), Record} }

// Capability is the record of a capability token. The token is never stored.
func Capability(secret string) Key { return Key{"capability#" + digest(secret), Record} }

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Rate counts a tenant's requests in the current minute.
func Rate(t identity.Tenant) Key { return Key{"tenant#" + t.String(), "rate"} }

// Ledger is the row of an entity. Each row has a
// partition of its own: a tenant with a million rows is not one hot partition.
func Ledger(t identity.Tenant, kind id.Prefix, name string) Key {
	return Key{"tenant#" + t.String() + "#" + string(kind) + "#" + name, Row}
}

// Balance is an account's balance as of an instant. It lies in the account's
// partition before the row, so that a descending read of two items gives the
// row and its latest balance.
func Balance(t identity.Tenant, account, asOf string) Key {
	return Key{Ledger(t, id.Account, account).PK, BalancePrefix + asOf}
}

// LedgerList orders all rows of a kind in the first index: transactions and
// obligations by date, the others by their own order value.
func LedgerList(t identity.Tenant, kind id.Prefix, order, name string) Key {
	return Key{"tenant#" + t.String() + "#" + string(kind), order + "#" + name}
}

// LedgerListOf orders the rows of a kind that belong to another entity, such as
// an account's transactions (second index) or a counterparty's (third).
func LedgerListOf(t identity.Tenant, kind id.Prefix, owner, order, name string) Key {
	return Key{"tenant#" + t.String() + "#" + string(kind) + "@" + owner, order + "#" + name}
}

// Revision counts the transactions that wrote to a tenant's ledger.
func Revision(t identity.Tenant) Key { return Key{"tenant#" + t.String() + "#revision", Record} }

// Rollup is the sum of a slice of transactions over a month, or over each day of
// it. The month comes first so that a range of months is one query.
func Rollup(t identity.Tenant, dimension, currency, direction, month, value string) Key {
	return Key{"tenant#" + t.String() + "#rollup#" + dimension + "#" + currency + "#" + direction, month + "#" + value}
}

// Promises are what was promised for one subject of a policy's caps: an agent, a
// counterparty, or the tenant itself (of is then empty).
func Promises(t identity.Tenant, per, of string) Key {
	return Key{"tenant#" + t.String() + "#promises#" + per + "#" + of, Record}
}

// PolicyHead says which version of a tenant's policy is active.
func PolicyHead(t identity.Tenant) Key { return Key{"tenant#" + t.String() + "#policy", "head"} }

// PolicyMark is the highest version of a tenant's policy there ever was. It lies
// apart from the head: who puts back an old head has not put back this one.
func PolicyMark(t identity.Tenant) Key { return Key{"tenant#" + t.String() + "#policymark", Record} }

// PolicyVersion is one version of a tenant's policy, as it was signed.
func PolicyVersion(t identity.Tenant, version int64) Key {
	return Key{"tenant#" + t.String() + "#policy", fmt.Sprintf("version#%019d", version)}
}

// Settings are a tenant's own choices.
func Settings(t identity.Tenant) Key { return Key{"tenant#" + t.String(), "settings"} }

// Decision is a policy decision, in the partition of what it decided about.
func Decision(t identity.Tenant, subject id.Prefix, name, decision string) Key {
	return Key{Ledger(t, subject, name).PK, DecisionPrefix + decision}
}

// Same is the mark of what an agent proposed, by the hash of its arguments: the
// place where two identical proposals meet.
func Same(t identity.Tenant, caller, tool, sum string) Key {
	return Key{"tenant#" + t.String() + "#replay#" + caller, tool + "=" + sum}
}

// Feed orders all proposals of a tenant, payments and others, in an index.
func Feed(t identity.Tenant, createdAt, name string) Key {
	return Key{"tenant#" + t.String() + "#feed", createdAt + "#" + name}
}

// Due is the mark of something that expires, in the order of its time, for the
// sweep that sees to it. The shard spreads the writes.
func Due(t identity.Tenant, at time.Time, name string) Key {
	h := fnv.New32a()
	h.Write([]byte(name))
	return Key{DuePartition(int(h.Sum32() % DueShards)), at.UTC().Format("2006-01-02T15:04:05.000Z") + "#" + t.String() + "#" + name}
}

// DuePartition is one shard of what expires.
func DuePartition(shard int) string { return fmt.Sprintf("due#%02d", shard) }

// ReceiptsPartition is where the receipts lie that are waited for, the first due first.
const ReceiptsPartition = "due#receipts"

// Receipt is the mark of an execution whose receipt is waited for until at. It is
// apart from what expires: nothing ends when its time is over.
func Receipt(t identity.Tenant, at time.Time, execution string) Key {
	return Key{ReceiptsPartition, at.UTC().Format("2006-01-02T15:04:05.000Z") + "#" + t.String() + "#" + execution}
}

// Page is a wiki page under its slug, which is stable across renderings.
func Page(t identity.Tenant, slug string) Key {
	return Key{"tenant#" + t.String() + "#page", slug}
}

// PageByID is a page's place in the first index, by the id of its latest
// rendering: older ids name nothing.
func PageByID(t identity.Tenant, page string) Key {
	return Key{"tenant#" + t.String() + "#pageid", page}
}

// Raw is the row of a raw artifact.
func Raw(t identity.Tenant, name string) Key {
	return Key{"tenant#" + t.String() + "#raw#" + name, Row}
}

// RawContent names the artifact that has bytes with this SHA-256, in
// hexadecimal: the place where two contributions of the same bytes meet.
func RawContent(t identity.Tenant, sum string) Key {
	return Key{"tenant#" + t.String() + "#raw#" + sum, "content"}
}

// RawCount counts an agent's first contributions.
func RawCount(t identity.Tenant, agent string) Key {
	return Key{"tenant#" + t.String() + "#raw#" + agent, "count"}
}

// Replay remembers what a caller's idempotency key was used for, by tool. The
// key's text is the caller's, so only its hash becomes part of ours.
func Replay(t identity.Tenant, caller, tool, text string) Key {
	return Key{"tenant#" + t.String() + "#replay#" + caller, tool + "#" + digest(text)}
}

// Outbox is an event that waits for the bus. The shard spreads the writes; the
// time keeps a sweep in order.
func Outbox(event string, at time.Time) Key {
	h := fnv.New32a()
	h.Write([]byte(event))
	return Key{OutboxPartition(int(h.Sum32() % OutboxShards)), at.UTC().Format("2006-01-02T15:04:05.000Z") + "#" + event}
}

// OutboxPartition is one shard of the outbox.
func OutboxPartition(shard int) string { return fmt.Sprintf("outbox#%02d", shard) }

// Count counts the rows of a kind that share the values a list filters by.
func Count(t identity.Tenant, kind id.Prefix, values string) Key {
	return Key{"tenant#" + t.String() + "#count#" + string(kind), values}
}

// Suffix is a part of a counterparty's name, from some letter to its end, so
// that a search inside names is a search for what begins with something.
func Suffix(t identity.Tenant, suffix, counterparty string) Key {
	return Key{"tenant#" + t.String() + "#suffix", suffix + "#" + counterparty}
}

// JournalShards is how many partitions a tenant's journal is spread over, and
// JournalBlock how many entries in a row lie in the same one. Either is part of
// every entry's place: with another value what was written is not found.
//
// Appending fills one block after the other, and one partition takes a few
// hundred entries a second at best. Spread out, the journal as a whole takes
// what its head allows.
const (
	JournalShards = 16
	JournalBlock  = 64
)

// JournalPartition holds the head of a tenant's journal.
func JournalPartition(t identity.Tenant) string { return "tenant#" + t.String() + "#journal" }

// JournalHead says where a tenant's journal ends.
func JournalHead(t identity.Tenant) Key { return Key{JournalPartition(t), "head"} }

// JournalEntry is one entry of a tenant's journal, by its number from 0.
func JournalEntry(t identity.Tenant, seq int64) Key {
	shard := int(seq / JournalBlock % JournalShards)
	return Key{JournalEntries(t, shard), fmt.Sprintf("%019d", seq)}
}

// JournalEntries is one partition of entries, in their order.
func JournalEntries(t identity.Tenant, shard int) string {
	return fmt.Sprintf("%s#entry#%02d", JournalPartition(t), shard)
}

// JournalMark says that an event is in a tenant's journal, and where.
func JournalMark(t identity.Tenant, event string) Key {
	h := fnv.New32a()
	h.Write([]byte(event))
	return Key{JournalMarks(t, int(h.Sum32()%JournalShards)), event}
}

// JournalMarks is one partition of marks, by the events' ids. They lie in few
// partitions so that a check finds a mark without an entry, which would keep an
// event out for ever.
func JournalMarks(t identity.Tenant, shard int) string {
	return fmt.Sprintf("%s#mark#%02d", JournalPartition(t), shard)
}

// Execution is the record of an intent's way over a rail.
func Execution(t identity.Tenant, name string) Key { return Ledger(t, id.Execution, name) }

// Reserved counts what dispatched payments will take from an account.
func Reserved(t identity.Tenant, account string) Key {
	return Key{"tenant#" + t.String() + "#reserved#" + account, Record}
}

// Turn says which execution may change an account's balance: one at a time.
func Turn(t identity.Tenant, account string) Key {
	return Key{"tenant#" + t.String() + "#turn#" + account, Record}
}

// Spent marks an obligation, an invoice or a piece of evidence that a payment was
// made for.
func Spent(t identity.Tenant, name string) Key {
	return Key{"tenant#" + t.String() + "#spent#" + name, Record}
}

// Paid marks an amount that a counterparty was paid, or was collected from it:
// the place where two payments that look alike meet.
func Paid(t identity.Tenant, counterparty, direction, amount, currency string) Key {
	return Key{"tenant#" + t.String() + "#paid#" + counterparty, direction + "#" + currency + "#" + amount}
}

// Nonce is the next number of an account on a chain. The account is ours and
// not a tenant's: all tenants' transfers take their numbers from one row.
func Nonce(chain uint64, account string) Key {
	return Key{fmt.Sprintf("nonce#%d#%s", chain, account), Record}
}

// Journals are the tenants that have a journal: one mark each, by name, so that
// who goes through all journals finds them.
func Journals(t identity.Tenant) Key { return Key{JournalsPartition, t.String()} }

// JournalsPartition holds the marks of all tenants with a journal.
const JournalsPartition = "journals"

// ProofEvents is the partition, in an index, of what a proof of an action is made
// of: the journal's entries about the action, and the path of each.
func ProofEvents(t identity.Tenant, action string) string {
	return "tenant#" + t.String() + "#proof#" + action
}

// ProofEntry is an entry's place among what a proof is made of.
func ProofEntry(t identity.Tenant, action string, seq int64) Key {
	return Key{ProofEvents(t, action), fmt.Sprintf("%019d", seq)}
}

// ProofPath is the place of an entry's path, right behind the entry.
func ProofPath(t identity.Tenant, action string, seq int64) Key {
	return Key{ProofEvents(t, action), fmt.Sprintf("%019d#path", seq)}
}

// AnchorHead says up to where a tenant's journal has been cut into periods.
func AnchorHead(t identity.Tenant) Key { return Key{"tenant#" + t.String() + "#anchor", "head"} }

// AnchorPeriod is a period whose root is final, by the number of its last entry.
func AnchorPeriod(t identity.Tenant, last int64) Key {
	return Key{AnchorHead(t).PK, fmt.Sprintf("period#%019d", last)}
}

// AnchorPaths is the partition of a period's paths, and AnchorPath the path of
// one of its entries.
func AnchorPaths(t identity.Tenant, last int64) string {
	return fmt.Sprintf("%s#path#%019d", AnchorHead(t).PK, last)
}

// AnchorPath is the path of an entry to the root of its period.
func AnchorPath(t identity.Tenant, last, seq int64) Key {
	return Key{AnchorPaths(t, last), fmt.Sprintf("%019d", seq)}
}

// AnchorsPartition holds what the function anchor has not finished, of all
// tenants: the periods whose roots are not final, and the transaction in flight.
const AnchorsPartition = "anchors"

// AnchorOpen is a period whose root is not final yet.
func AnchorOpen(t identity.Tenant, last int64) Key {
	return Key{AnchorsPartition, fmt.Sprintf("open#%s#%019d", t, last)}
}

// AnchorFlight is the transaction that is on its way to the chain.
func AnchorFlight() Key { return Key{AnchorsPartition, "flight"} }

// RollupMonths is the partition of what each month came to, whatever the currency
// and the direction: the partitions of the other rollups are found by who knows
// both.
func RollupMonths(t identity.Tenant) string { return "tenant#" + t.String() + "#rollup#months" }

// RollupMonth is what a month came to in one currency and direction.
func RollupMonth(t identity.Tenant, month, currency, direction string) Key {
	return Key{RollupMonths(t), month + "#" + currency + "#" + direction}
}

// RollupsOf is the partition of a counterparty's own months.
func RollupsOf(t identity.Tenant, counterparty string) string {
	return "tenant#" + t.String() + "#rollup#of#" + counterparty
}

// RollupOf is what a month came to with one counterparty, in one currency and
// direction.
func RollupOf(t identity.Tenant, counterparty, month, currency, direction string) Key {
	return Key{RollupsOf(t, counterparty), month + "#" + currency + "#" + direction}
}

// Mapping is a tenant's own way to read a table of columns, by its name.
func Mapping(t identity.Tenant, name string) Key {
	return Key{"tenant#" + t.String() + "#mapping", name}
}
