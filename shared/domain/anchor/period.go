package anchor

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// planned is the state of a period before its root is published; afterwards it
// is that of the anchor, claim.Pending or claim.Final.
const planned = "planned"

// period is a part of a tenant's journal with its root.
type period struct {
	Tenant string        `json:"tenant"`
	Root   identity.Hash `json:"root"`
	First  int64         `json:"first_seq"`
	Last   int64         `json:"last_seq"`
	Start  int64         `json:"period_start"` // Unix seconds of its first event in time
	End    int64         `json:"period_end"`
	State  string        `json:"state"`
	Place
	TxHash  identity.Hash `json:"tx_hash"`
	Block   uint64        `json:"block_number"`
	Written string        `json:"written"` // what the paths say, see mark; empty before there are any

	tenant  identity.Tenant
	version int64
}

// root is what is published of a period.
func (p *period) root() Root {
	return Root{
		Tenant: identity.TenantHash(p.Tenant), Root: p.Root,
		Start: uint64(p.Start), End: uint64(p.End), First: uint64(p.First), Last: uint64(p.Last),
	}
}

// anchor is what the paths say of a published root.
func (p *period) anchor() claim.Anchor {
	return claim.Anchor{
		Root: p.Root.String(), TxHash: p.TxHash.String(), BlockNumber: p.Block, Contract: p.Contract, ChainID: p.ChainID, Status: p.State,
	}
}

// mark tells apart what the paths can say.
func (p *period) mark() string { return fmt.Sprintf("%s %s %d", p.State, p.TxHash, p.Block) }

// published takes note of the transaction that published the root.
func (p *period) published(by *Mined, where Place) {
	p.State, p.TxHash, p.Block, p.Place = claim.Pending, by.Hash, by.Block, where
}

// unpublished forgets a transaction that is no more. The paths go on to name it
// until there is another: they say that it is pending, which means just that.
func (p *period) unpublished() {
	p.State, p.TxHash, p.Block = planned, identity.Hash{}, 0
}

// put is the operation that stores an open period.
func (p *period) put() record.Put {
	return record.Put{Item: record.Item{Key: key.AnchorOpen(p.tenant, p.Last), Body: body(p)}, Was: p.version}
}

// readPeriod reads an open period.
func readPeriod(item record.Item) (*period, error) {
	p := &period{version: item.Version}
	if err := json.Unmarshal(item.Body, p); err != nil {
		return nil, fmt.Errorf("read the period %s: %w", item.Key.SK, err)
	}
	var err error
	p.tenant, err = identity.OperatorTenant(p.Tenant)
	return p, err
}

// head says how far a journal is cut: the entry that was last in a period.
type head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// flight is the transaction on its way. Its parts are the periods it publishes.
type flight struct {
	Place
	Signed
	Hashes []identity.Hash `json:"hashes"` // of all transactions that were offered under its nonce
	Parts  []part          `json:"parts"`
	At     time.Time       `json:"at"` // when it was signed

	version int64
}

// part names a period.
type part struct {
	Tenant string `json:"tenant"`
	Last   int64  `json:"last_seq"`
}

func (p *period) part() part { return part{p.Tenant, p.Last} }

func (f *flight) put() record.Put {
	return record.Put{Item: record.Item{Key: key.AnchorFlight(), Body: body(f)}, Was: f.version}
}

// body writes what is ours and holds nothing that JSON cannot.
func body(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
