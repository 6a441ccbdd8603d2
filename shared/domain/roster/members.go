package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The events of members.
const (
	ActionMemberAdded   = "member.added"
	ActionMemberChanged = "member.changed"
)

// member reads a member's record. A missing one, or another tenant's, is
// actor_unresolved.
func (r *Roster) member(ctx context.Context, t identity.Tenant, name string) (identity.MemberRecord, record.Item, error) {
	item, found, err := r.Store.Get(ctx, key.MemberRecord(t, name))
	if err != nil {
		return identity.MemberRecord{}, item, err
	}
	if !found {
		return identity.MemberRecord{}, item, fault.New(fault.ActorUnresolved, "There is no member %.80q.", name)
	}
	var rec identity.MemberRecord
	if err := json.Unmarshal(item.Body, &rec); err != nil {
		return rec, item, fmt.Errorf("decode member %s: %w", name, err)
	}
	return rec, item, nil
}

// Members lists a tenant's people by their ids.
func (r *Roster) Members(ctx context.Context, t identity.Tenant) ([]identity.MemberRecord, error) {
	var all []identity.MemberRecord
	for query := (record.Query{Index: 1, PK: key.LedgerList(t, id.Member, "", "").PK}); ; {
		page, err := r.Store.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var rec identity.MemberRecord
			if err := json.Unmarshal(item.Body, &rec); err != nil {
				return nil, fmt.Errorf("decode member %s: %w", item.Key.PK, err)
			}
			all = append(all, rec)
		}
		if page.Next == nil {
			return all, nil
		}
		query.After = page.Next
	}
}

// MemberItem is a member as it is stored.
func MemberItem(t identity.Tenant, rec identity.MemberRecord) (record.Item, error) {
	body, err := json.Marshal(rec)
	if err != nil {
		return record.Item{}, fmt.Errorf("encode member %s: %w", rec.ID, err)
	}
	return record.Item{
		Key: key.MemberRecord(t, rec.ID), Body: body, Index: [3]key.Key{key.LedgerList(t, id.Member, "", rec.ID)},
	}, nil
}

// AddMember enters a person, as invited or active. An id that is taken is a
// conflict.
func (r *Roster) AddMember(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, rec identity.MemberRecord) (identity.MemberRecord, error) {
	rec.TenantID, rec.CreatedAt = t.String(), r.Trail.Now().UTC().Format(audit.TimeForm)
	if err := checkMember(rec); err != nil {
		return rec, err
	}
	err := r.keepMember(ctx, t, actor, requestID, ActionMemberAdded, identity.MemberRecord{}, rec, 0)
	if errors.Is(err, record.ErrConflict) {
		return rec, fault.New(fault.Conflict, "There is a member %s already.", rec.ID)
	}
	return rec, err
}

// ChangeMember changes what a tenant knows about a person: role, state, approval
// domains and limits. The change is made anew when somebody else changed the
// record in between.
func (r *Roster) ChangeMember(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, change func(*identity.MemberRecord)) (identity.MemberRecord, error) {
	for try := 1; ; try++ {
		before, item, err := r.member(ctx, t, name)
		if err != nil {
			return before, err
		}
		after := before
		change(&after)
		after.ID, after.TenantID, after.CreatedAt = before.ID, before.TenantID, before.CreatedAt
		if err := checkMember(after); err != nil {
			return before, err
		}
		err = r.keepMember(ctx, t, actor, requestID, ActionMemberChanged, before, after, item.Version)
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return after, err
	}
}

func (r *Roster) keepMember(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, action string, before, after identity.MemberRecord, was int64) error {
	item, err := MemberItem(t, after)
	if err != nil {
		return err
	}
	event := audit.Event{Action: action, Inputs: map[string]any{"member_id": after.ID}, AfterState: authority(after)}
	if was > 0 {
		event.BeforeState = authority(before)
	}
	return r.enter(ctx, t, actor, requestID, event, record.Put{Item: item, Was: was})
}

// authority is what a person may do, as events keep it.
func authority(rec identity.MemberRecord) map[string]any {
	return map[string]any{
		"role": rec.Role, "status": rec.Status, "approval_domains": rec.Domains, "approval_limits": rec.Limits, "second_approver_above": rec.SecondApprover,
	}
}

// checkMember refuses a record nobody could act by.
func checkMember(rec identity.MemberRecord) error {
	wrong := func(format string, args ...any) error { return fault.New(fault.InvalidArgument, format, args...) }
	if err := id.Check(id.Member, rec.ID); err != nil {
		return wrong("%v.", err)
	}
	if rec.Name == "" {
		return wrong("A member needs a name.")
	}
	if !slices.Contains([]identity.Role{identity.Viewer, identity.Approver, identity.Admin}, rec.Role) {
		return wrong("role %.40q: want viewer, approver or admin.", rec.Role)
	}
	if !slices.Contains([]identity.Status{identity.Invited, identity.Active, identity.Deactivated}, rec.Status) {
		return wrong("status %.40q: want invited, active or deactivated.", rec.Status)
	}
	for i, domain := range rec.Domains {
		if !slices.Contains(identity.Domains, domain) || slices.Contains(rec.Domains[:i], domain) {
			return wrong("approval domain %.40q: want each of %v at most once.", domain, identity.Domains)
		}
	}
	for i, limit := range rec.Limits {
		if _, err := limit.Read(); err != nil {
			return wrong("approval limit: %v.", err)
		}
		for _, other := range rec.Limits[:i] {
			if other.Currency == limit.Currency {
				return wrong("There are two approval limits in %s.", limit.Currency)
			}
		}
	}
	if rec.SecondApprover != nil {
		if _, err := rec.SecondApprover.Read(); err != nil {
			return wrong("second approver threshold: %v.", err)
		}
	}
	return nil
}
