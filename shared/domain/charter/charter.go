// Package charter keeps a tenant's policy in force: which version is active, that
// it is the one the tenant's signers signed, and that no older one comes back.
//
// The table is not trusted with it. The hash and the signatures are checked
// against the chain's registry when a version is loaded, and a version below the
// highest ever activated is refused. What fails these checks denies everything;
// that the chain cannot be asked is an error and decides nothing.
package charter

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// Chain is what a charter asks of the chain: who signed, and whether the registry
// lists the account as a signer of the tenant. Signer fails for a signature that
// is none; IsTenantSigner fails with onchain_unavailable.
type Chain interface {
	Signer(digest identity.Hash, signature []byte) (identity.Address, error)
	IsTenantSigner(ctx context.Context, tenant identity.Hash, signer identity.Address) (bool, error)
}

// Version is one version of a policy, as it is stored.
type Version struct {
	Version     int64           `json:"version"`
	Hash        string          `json:"hash"`     // SHA-256 of the canonical document, 64 hexadecimal digits
	Document    json.RawMessage `json:"document"` // as it was signed
	Signatures  []Signature     `json:"signatures"`
	Signers     []string        `json:"signers"` // who they are, for people: it is the signatures that count
	ActivatedAt string          `json:"activated_at"`
}

// head is the stored pointer to the active version, and mark the highest ever.
type head struct {
	Version int64  `json:"version"`
	Hash    string `json:"hash"`
}

// Active is a policy in force. With Invalid set there is none, and everything is
// denied for that reason.
type Active struct {
	Version  int64
	Hash     string
	Signers  []string
	Document policy.Document
	Invalid  string
}

// Evaluate judges facts by the policy in force.
func (a Active) Evaluate(f policy.Facts) policy.Verdict {
	if a.Invalid == "" {
		return a.Document.Evaluate(f)
	}
	return policy.Verdict{
		Outcome: policy.Reject, Matched: []string{}, Approvers: []string{}, EvidenceKinds: []string{}, Headroom: []policy.Headroom{},
		Trace: []policy.RuleTrace{{Rule: "", Execute: policy.Reject, Applies: true, Matched: true, Conditions: []policy.ConditionTrace{
			{Condition: "policy", Passed: true, Undecided: true, Reason: a.Invalid},
		}}},
	}
}

// Register reads and activates policies.
type Register struct {
	Store  record.Store
	Chain  Chain
	Domain Domain
	Trail  *audit.Trail // of activations; nil where none are made

	mu      sync.Mutex
	checked map[string]Active // versions whose signatures held, by tenant and hash
	highest map[string]int64  // the highest version of each tenant this process has seen
}

// maxChecked bounds the memory the checked versions take.
const maxChecked = 512

// Keys are what Load wants read: with the rest of a request's reads, in one.
func Keys(t identity.Tenant) []key.Key { return []key.Key{key.PolicyHead(t), key.PolicyMark(t)} }

// Load returns the policy in force, given what lies under Keys. A version that
// this process has checked is not read again.
func (r *Register) Load(ctx context.Context, t identity.Tenant, items map[key.Key]record.Item) (Active, error) {
	stored := items[key.PolicyHead(t)]
	if stored.Version == 0 {
		if r.seen(t, 0) > 0 || items[key.PolicyMark(t)].Version > 0 {
			return Active{Invalid: "the tenant's policy is gone from its place"}, nil
		}
		return Active{Invalid: "the tenant has no policy"}, nil
	}
	var now, highest head
	if json.Unmarshal(stored.Body, &now) != nil || json.Unmarshal(items[key.PolicyMark(t)].Body, &highest) != nil {
		return Active{Invalid: "the record of the tenant's policy cannot be read"}, nil
	}
	if now.Version < max(highest.Version, r.seen(t, 0)) {
		return Active{Invalid: "the tenant's policy was set back to an older version"}, nil
	}
	name := t.String() + " " + now.Hash
	r.mu.Lock()
	active, known := r.checked[name]
	r.mu.Unlock()
	if known && active.Version == now.Version {
		return active, nil
	}
	item, found, err := r.Store.Get(ctx, key.PolicyVersion(t, now.Version))
	if err != nil {
		return Active{}, err
	}
	if !found {
		return Active{Invalid: "the active version of the tenant's policy is not there"}, nil
	}
	settings, found, err := r.Store.Get(ctx, key.Settings(t))
	if err != nil {
		return Active{}, err
	}
	if !found {
		settings = record.Item{}
	}
	active, err = r.check(ctx, t, now, item, settings)
	if err != nil || active.Invalid != "" {
		return active, err
	}
	r.seen(t, now.Version) // and not before: what did not hold proves nothing
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checked == nil || len(r.checked) >= maxChecked {
		r.checked = map[string]Active{}
	}
	r.checked[name] = active
	return active, nil
}

// seen is the highest version this process knows of, the given one included.
func (r *Register) seen(t identity.Tenant, version int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.highest == nil {
		r.highest = map[string]int64{}
	}
	r.highest[t.String()] = max(r.highest[t.String()], version)
	return r.highest[t.String()]
}

// check holds a stored version against its hash and its signatures.
func (r *Register) check(ctx context.Context, t identity.Tenant, now head, item, settings record.Item) (Active, error) {
	var v Version
	if json.Unmarshal(item.Body, &v) != nil {
		return Active{Invalid: "the active version of the tenant's policy cannot be read"}, nil
	}
	hash, err := policy.Hash(v.Document)
	if err != nil || hex.EncodeToString(hash[:]) != now.Hash {
		return Active{Invalid: "the tenant's policy is not the one that was activated: its hash differs"}, nil
	}
	document, err := policy.Parse(v.Document)
	if err != nil || document.Version != now.Version {
		return Active{Invalid: "the tenant's policy cannot be read"}, nil
	}
	chosen, err := tenant.Read(settings)
	if err != nil {
		return Active{}, err
	}
	signers, err := r.signers(ctx, t, now.Version, hash, v.Signatures)
	var refused *Refused
	if errors.As(err, &refused) {
		return Active{Invalid: "the tenant's policy is not signed: " + refused.Reason}, nil
	}
	if err != nil {
		return Active{}, err
	}
	if len(signers) < chosen.PolicyQuorum {
		return Active{Invalid: fmt.Sprintf("the tenant's policy has %d of the %d signatures it needs", len(signers), chosen.PolicyQuorum)}, nil
	}
	return Active{Version: now.Version, Hash: now.Hash, Signers: signers, Document: document}, nil
}

// Refused says why a policy or a signature does not count.
type Refused struct{ Reason string }

// Error is the reason.
func (r *Refused) Error() string { return r.Reason }

// signers are the accounts that signed, each once and each a signer of the tenant.
func (r *Register) signers(ctx context.Context, t identity.Tenant, version int64, hash [32]byte, signatures []Signature) ([]string, error) {
	digest := r.Domain.Digest(t, version, hash)
	var names []string
	for i, signature := range signatures {
		signer, err := r.Chain.Signer(digest, signature)
		if err != nil {
			return nil, &Refused{fmt.Sprintf("signature %d is none of this document: %v", i+1, err)}
		}
		if slices.Contains(names, signer.String()) {
			continue // one person twice is one person
		}
		listed, err := r.Chain.IsTenantSigner(ctx, identity.TenantHash(t.String()), signer)
		if err != nil {
			return nil, fmt.Errorf("ask whether %s signs for %s: %w", signer, t, err)
		}
		if !listed {
			return nil, &Refused{fmt.Sprintf("%s is no signer of the tenant", signer)}
		}
		names = append(names, signer.String())
	}
	slices.Sort(names)
	return names, nil
}

// ActionActivated is the event of a new policy.
const ActionActivated = "policy.activated"

// Activate puts a version in force. It is refused when a rule of it is broken,
// when it is not above the highest version there ever was, and without as many
// signatures of the tenant's signers as the tenant wants.
func (r *Register) Activate(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, raw []byte, signatures []Signature) (Version, error) {
	document, err := policy.Parse(raw)
	if err != nil {
		return Version{}, fault.New(fault.InvalidArgument, "policy: %v", err)
	}
	for _, finding := range policy.Lint(document) {
		if finding.Level == policy.Refuse {
			return Version{}, fault.New(fault.InvalidArgument, "policy, rule %s: %s", finding.Rule, finding.Message)
		}
	}
	hash, err := policy.Hash(raw)
	if err != nil {
		return Version{}, fmt.Errorf("hash policy: %w", err)
	}
	items, err := r.Store.GetMany(ctx, append(Keys(t), key.Settings(t)))
	if err != nil {
		return Version{}, err
	}
	chosen, err := tenant.Read(items[key.Settings(t)])
	if err != nil {
		return Version{}, err
	}
	var highest head
	if mark := items[key.PolicyMark(t)]; mark.Version > 0 {
		if err := json.Unmarshal(mark.Body, &highest); err != nil {
			return Version{}, fmt.Errorf("decode the highest version: %w", err)
		}
	}
	if document.Version <= highest.Version {
		return Version{}, fault.New(fault.Conflict, "Version %d of the policy is not above %d, the highest there ever was. Versions only grow.", document.Version, highest.Version)
	}
	signers, err := r.signers(ctx, t, document.Version, hash, signatures)
	var refused *Refused
	if errors.As(err, &refused) {
		return Version{}, fault.New(fault.InvalidArgument, "The policy is not signed: %s.", refused.Reason)
	}
	if err != nil {
		return Version{}, err
	}
	if len(signers) < chosen.PolicyQuorum {
		return Version{}, fault.New(fault.InvalidArgument, "The policy has the signatures of %d of the tenant's signers and needs %d.", len(signers), chosen.PolicyQuorum)
	}
	v := Version{
		Version: document.Version, Hash: hex.EncodeToString(hash[:]), Document: raw, Signatures: signatures, Signers: signers,
		ActivatedAt: r.Trail.Now().UTC().Format(audit.TimeForm),
	}
	err = r.activate(ctx, t, actor, requestID, v, items)
	if errors.Is(err, record.ErrConflict) {
		return Version{}, fault.New(fault.Conflict, "Another version of the policy was activated at the same time. Look at it before you try again.")
	}
	return v, err
}

func (r *Register) activate(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, v Version, items map[key.Key]record.Item) error {
	var before head
	old := items[key.PolicyHead(t)]
	if old.Version > 0 {
		if err := json.Unmarshal(old.Body, &before); err != nil {
			return fmt.Errorf("decode the policy's head: %w", err)
		}
	}
	now, err := json.Marshal(head{v.Version, v.Hash})
	if err != nil {
		return fmt.Errorf("encode the policy's head: %w", err)
	}
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the policy: %w", err)
	}
	event, err := r.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerPolicy, Actor: actor, Action: ActionActivated, RequestID: requestID,
		Inputs:      map[string]any{"version": v.Version, "hash": v.Hash, "signers": v.Signers},
		Outputs:     map[string]any{"ok": true},
		BeforeState: map[string]any{"version": before.Version, "hash": before.Hash},
		AfterState:  map[string]any{"version": v.Version, "hash": v.Hash},
	})
	if err != nil {
		return err
	}
	return r.Trail.Commit(ctx, record.Change{Puts: []record.Put{
		{Item: record.Item{Key: key.PolicyHead(t), Body: now}, Was: old.Version},
		{Item: record.Item{Key: key.PolicyMark(t), Body: now}, Was: items[key.PolicyMark(t)].Version},
		{Item: record.Item{Key: key.PolicyVersion(t, v.Version), Body: body}},
	}}, event)
}
