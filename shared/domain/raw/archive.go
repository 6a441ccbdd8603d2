package raw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// Quarantine is how many contributions of an agent nobody vouched for wait
	// for a member. They are counted up to here and no further, so that an agent
	// that has passed it writes to no shared item.
	Quarantine = 10
	// keyLife is how long an idempotency key is remembered. Callers are promised
	// 24 h.
	keyLife = 48 * time.Hour
	// maxTries is how often a contribution is decided anew after another one came
	// in between. An agent's first ones meet on its count, where one of those that
	// meet always gets through: Quarantine of them, one on the hash, some to spare.
	maxTries = Quarantine + 6
	// ActionContributed is the event of a new artifact.
	ActionContributed = "raw.contributed"
	// tool is whose idempotency keys these are.
	tool = "raw.contribute"
)

// Archive keeps artifacts.
type Archive struct {
	Store record.Store
	Blobs Blobs
	Trail *audit.Trail
	IDs   *id.Source
	Now   func() time.Time
}

// Receipt is the artifact a contribution ended as. Deduplicated says that it was
// there before: the same bytes, or the same idempotency key.
type Receipt struct {
	Artifact
	Deduplicated bool
}

// known is what the table holds about a contribution before it is made.
type known struct {
	first  string      // the artifact that has these bytes; empty when none has
	replay record.Item // under the idempotency key; Version 0 when there is none or none is asked for
	used   bool        // the key was used for these bytes and still counts
	count  record.Item // the agent's contributions so far
	number int
}

// Contribute stores bytes and what is known of them, once: the same bytes give
// the first artifact, whoever brings them. An idempotency key, of the tenant's
// one agent, that was used for other bytes is a conflict. The bytes are in the
// blob store before the row is, and a row and its event are one transaction:
// what fails in between leaves a blob nobody speaks of, and the same call again
// finishes it.
func (a *Archive) Contribute(ctx context.Context, t identity.Tenant, by Origin, requestID string, c Contribution) (Receipt, error) {
	if err := c.check(by); err != nil {
		return Receipt{}, err
	}
	name, err := a.IDs.New(id.RawArtifact)
	if err != nil {
		return Receipt{}, fmt.Errorf("name an artifact: %w", err)
	}
	made := Artifact{
		ID: name, TenantID: t.String(), SHA256: payload.Sum(c.Payload), Size: len(c.Payload), MIMEType: c.MIMEType,
		AgentID: by.AgentID, AgentRole: by.AgentRole, Registration: by.Registration, SourceRef: c.SourceRef,
		CreatedAt: a.Now().UTC().Format(audit.TimeForm),
	}
	stored := false
	for try := 1; ; try++ {
		k, err := a.look(ctx, t, by, made.SHA256, c.IdempotencyKey)
		if err != nil {
			return Receipt{}, err
		}
		if k.first != "" {
			err = a.remember(ctx, t, by, c.IdempotencyKey, made.SHA256, k)
		} else {
			if !stored {
				if err := a.Blobs.Put(ctx, blobName(t, made.SHA256), c.Payload); err != nil {
					return Receipt{}, err
				}
				stored = true
			}
			err = a.keep(ctx, t, by, requestID, &made, c.IdempotencyKey, k)
		}
		switch {
		case errors.Is(err, record.ErrConflict) && try < maxTries:
			continue
		case errors.Is(err, record.ErrConflict):
			return Receipt{}, fault.Because(err, fault.DependencyUnavailable, "Too many contributions arrive at once. Try again.")
		case err != nil:
			return Receipt{}, err
		case k.first == "":
			return Receipt{Artifact: made}, nil
		}
		first, err := a.Artifact(ctx, t, k.first)
		// What waited for a member's trust waits no longer when somebody trusted
		// brings the same.
		if err == nil && first.State == Quarantined && (by.Trusted || by.AgentID == "") {
			first, err = a.Advance(ctx, t, by.Actor, requestID, first.ID, Accepted, nil)
		}
		// A write whose answer was lost finds itself.
		return Receipt{first, first.ID != made.ID}, err
	}
}

// look reads all that decides about a contribution, in one read.
func (a *Archive) look(ctx context.Context, t identity.Tenant, by Origin, sum, idempotencyKey string) (known, error) {
	content, count := key.RawContent(t, sum), key.RawCount(t, by.Actor.ID)
	keys := []key.Key{content, count}
	var replay key.Key
	if idempotencyKey != "" {
		replay = key.Replay(t, by.Actor.ID, tool, idempotencyKey)
		keys = append(keys, replay)
	}
	items, err := a.Store.GetMany(ctx, keys)
	if err != nil {
		return known{}, err
	}
	k := known{replay: items[replay], count: items[count]}
	if k.first, err = text(items[content], "raw_id"); err != nil {
		return known{}, err
	}
	if k.count.Version > 0 {
		var counted struct{ Contributed int }
		if err := json.Unmarshal(k.count.Body, &counted); err != nil {
			return known{}, fmt.Errorf("decode count of %s: %w", by.Actor.ID, err)
		}
		k.number = counted.Contributed
	}
	if k.replay.Version == 0 || !k.replay.Expires.After(a.Now()) {
		return k, nil
	}
	used, err := text(k.replay, "sha256")
	if err != nil {
		return known{}, err
	}
	if used != sum {
		return known{}, fault.New(fault.Conflict, "This idempotency_key was used for another payload. Use a new key for a new payload, and the old one only to retry.")
	}
	k.used = true
	return k, nil
}

// text reads one member of a stored object; an item that is not there has none.
func text(item record.Item, member string) (string, error) {
	if item.Version == 0 {
		return "", nil
	}
	var members map[string]string
	if err := json.Unmarshal(item.Body, &members); err != nil || members[member] == "" {
		return "", fmt.Errorf("item %s %s has no %s: %w", item.Key.PK, item.Key.SK, member, err)
	}
	return members[member], nil
}

// remember binds a key to bytes that are stored already.
func (a *Archive) remember(ctx context.Context, t identity.Tenant, by Origin, idempotencyKey, sum string, k known) error {
	if idempotencyKey == "" || k.used {
		return nil
	}
	put, err := a.replayOf(t, by, idempotencyKey, sum, k)
	if err != nil {
		return err
	}
	return a.Store.Commit(ctx, record.Change{Puts: []record.Put{put}})
}

func (a *Archive) replayOf(t identity.Tenant, by Origin, idempotencyKey, sum string, k known) (record.Put, error) {
	return put(record.Item{Key: key.Replay(t, by.Actor.ID, tool, idempotencyKey), Expires: a.Now().Add(keyLife)}, k.replay.Version, map[string]string{"sha256": sum})
}

// keep writes a new artifact: its row, the mark under its hash, the count of the
// agent's first ones, the idempotency key and the event, all or nothing.
func (a *Archive) keep(ctx context.Context, t identity.Tenant, by Origin, requestID string, made *Artifact, idempotencyKey string, k known) error {
	made.State = Accepted
	waits := !by.Trusted && k.number < Quarantine
	if waits {
		made.State = Quarantined
	}
	row := record.Item{Key: key.Raw(t, made.ID), Index: [3]key.Key{key.LedgerList(t, id.RawArtifact, made.CreatedAt, made.ID)}}
	if by.AgentID != "" {
		row.Index[1] = key.LedgerListOf(t, id.RawArtifact, by.AgentID, made.CreatedAt, made.ID)
	}
	var change record.Change
	add := func(item record.Item, was int64, body any) error {
		p, err := put(item, was, body)
		change.Puts = append(change.Puts, p)
		return err
	}
	err := errors.Join(
		add(row, 0, made),
		add(record.Item{Key: key.RawContent(t, made.SHA256)}, 0, map[string]string{"raw_id": made.ID}))
	if waits {
		err = errors.Join(err, add(record.Item{Key: key.RawCount(t, by.Actor.ID)}, k.count.Version, map[string]int{"contributed": k.number + 1}))
	}
	if idempotencyKey != "" {
		replay, failed := a.replayOf(t, by, idempotencyKey, made.SHA256, k)
		err = errors.Join(err, failed)
		change.Puts = append(change.Puts, replay)
	}
	if err != nil {
		return err
	}
	event, err := a.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerRaw, Actor: by.Actor, Action: ActionContributed, RequestID: requestID,
		Inputs:  map[string]any{"sha256": made.SHA256, "size_bytes": made.Size, "mime_type": made.MIMEType},
		Outputs: map[string]any{"raw_id": made.ID, "state": made.State},
	})
	if err != nil {
		return err
	}
	return a.Trail.Commit(ctx, change, event)
}

func put(item record.Item, was int64, body any) (record.Put, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return record.Put{}, fmt.Errorf("encode item %s: %w", item.Key.PK, err)
	}
	item.Body = encoded
	return record.Put{Item: item, Was: was}, nil
}

// Artifact returns an artifact's row. A malformed, missing or foreign id is
// raw_artifact_not_found all the same.
func (a *Archive) Artifact(ctx context.Context, t identity.Tenant, name string) (Artifact, error) {
	missing := fault.New(fault.RawArtifactNotFound, "There is no such raw artifact. Ids come from raw.contribute and from the source_ids of rows.")
	if id.Check(id.RawArtifact, name) != nil {
		return Artifact{}, missing
	}
	item, found, err := a.Store.Get(ctx, key.Raw(t, name))
	if err != nil {
		return Artifact{}, err
	}
	if !found {
		return Artifact{}, missing
	}
	var artifact Artifact
	if err := json.Unmarshal(item.Body, &artifact); err != nil {
		return Artifact{}, fmt.Errorf("decode artifact %s: %w", name, err)
	}
	return artifact, nil
}

// Payload returns an artifact's bytes, held against its size and hash: what
// differs was changed behind our back and is an error.
func (a *Archive) Payload(ctx context.Context, t identity.Tenant, artifact Artifact) ([]byte, error) {
	body, err := a.Blobs.Get(ctx, blobName(t, artifact.SHA256), artifact.Size)
	if err != nil {
		return nil, fmt.Errorf("read bytes of artifact %s: %w", artifact.ID, err)
	}
	if len(body) != artifact.Size || payload.Sum(body) != artifact.SHA256 {
		return nil, fmt.Errorf("bytes of artifact %s are not those that were stored", artifact.ID)
	}
	return body, nil
}
