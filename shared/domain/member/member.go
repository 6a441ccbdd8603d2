// Package member holds what is kept about a member as a person: a profile, the
// tiers of traits, a portfolio of competencies. It is the individual's own and
// is read by nobody else; no agent's work depends on it.
package member

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Part names an item of an individual's partition.
type Part string

// The parts there are.
const (
	ProfilePart      Part = "profile"      // an Assessment
	TraitsPart       Part = "traits"       // Traits
	CompetenciesPart Part = "competencies" // a Portfolio
)

// notStarted is the phase of an individual nothing has been stored for.
const notStarted = "not_started"

// Assessment is the stored part of a profile.
type Assessment struct {
	Phase      string  `json:"assessment_phase"` // not_started, in_progress, completed
	Archetype  *string `json:"archetype"`
	Engagement *int    `json:"engagement_level"`
}

// Profile is an individual's profile. Status and creation are those of the
// member's record; what no assessment has found yet is null.
type Profile struct {
	MemberID      string  `json:"member_id"`
	Phase         string  `json:"assessment_phase"`
	AccountStatus string  `json:"account_status"`
	CreatedAt     string  `json:"created_at"` // RFC 3339
	Archetype     *string `json:"archetype"`
	Engagement    *int    `json:"engagement_level"`
}

// Trait is one trait by its tier. There is no field for a score, here or
// anywhere in this package: a score that was stored beside it cannot get out.
type Trait struct {
	Name       string `json:"trait_name"`
	Tier       Tier   `json:"tier"`
	Category   string `json:"category"`
	ComputedAt string `json:"computed_at"` // RFC 3339
}

// Tier is the label of a tier, in words.
type Tier string

var tierForm = lazy.Pattern(`^[A-Za-z]+([ -][A-Za-z]+){0,3}$`)

// UnmarshalJSON takes words and nothing else: a number under this name, or text
// with a digit in it, is a score that somebody stored in the wrong place.
func (t *Tier) UnmarshalJSON(raw []byte) error {
	var label string
	if err := json.Unmarshal(raw, &label); err != nil || len(label) > 32 || !tierForm().MatchString(label) {
		return fmt.Errorf("a trait's tier is no label of up to four words")
	}
	*t = Tier(label)
	return nil
}

// Traits is an individual's trait vector.
type Traits struct {
	MemberID string  `json:"member_id"`
	Count    int     `json:"trait_count"`
	Traits   []Trait `json:"traits"`
}

// Competency is one thing an individual has shown to be able to do.
type Competency struct {
	Name             string  `json:"name"`
	Level            string  `json:"level"`
	EvidenceCount    int     `json:"evidence_count"`
	Verified         bool    `json:"verified"`
	LastDemonstrated *string `json:"last_demonstrated"` // RFC 3339
}

// Badge is an award.
type Badge struct {
	Name      string `json:"name"`
	AwardedAt string `json:"awarded_at"` // RFC 3339
	Category  string `json:"category"`
}

// Portfolio is what an individual can do, and the badges for it.
type Portfolio struct {
	MemberID          string       `json:"member_id"`
	Competencies      []Competency `json:"competencies"`
	Badges            []Badge      `json:"badges"`
	TotalCompetencies int          `json:"total_competencies"`
	TotalBadges       int          `json:"total_badges"`
}

// Reader reads what is kept about individuals, each part with one read. It takes
// the member's verified record and no id, so that nobody can name another.
type Reader struct{ Store record.Store }

// Profile returns a member's own profile.
func (r *Reader) Profile(ctx context.Context, t identity.Tenant, m identity.MemberRecord) (Profile, error) {
	stored := Assessment{Phase: notStarted}
	if err := r.read(ctx, t, m, ProfilePart, &stored); err != nil {
		return Profile{}, err
	}
	return Profile{
		MemberID: m.ID, Phase: stored.Phase, AccountStatus: string(m.Status), CreatedAt: m.CreatedAt,
		Archetype: stored.Archetype, Engagement: stored.Engagement,
	}, nil
}

// Traits returns a member's own traits; none are an empty list.
func (r *Reader) Traits(ctx context.Context, t identity.Tenant, m identity.MemberRecord) (Traits, error) {
	var out Traits
	if err := r.read(ctx, t, m, TraitsPart, &out); err != nil {
		return Traits{}, err
	}
	out.MemberID, out.Traits = m.ID, list(out.Traits)
	out.Count = len(out.Traits)
	return out, nil
}

// Portfolio returns a member's own competencies and badges; none are empty
// lists.
func (r *Reader) Portfolio(ctx context.Context, t identity.Tenant, m identity.MemberRecord) (Portfolio, error) {
	var out Portfolio
	if err := r.read(ctx, t, m, CompetenciesPart, &out); err != nil {
		return Portfolio{}, err
	}
	out.MemberID, out.Competencies, out.Badges = m.ID, list(out.Competencies), list(out.Badges)
	out.TotalCompetencies, out.TotalBadges = len(out.Competencies), len(out.Badges)
	return out, nil
}

// read decodes a part into out, and leaves out as it is where nothing is stored.
func (r *Reader) read(ctx context.Context, t identity.Tenant, m identity.MemberRecord, part Part, out any) error {
	item, found, err := r.Store.Get(ctx, key.Individual(t, m.ID, string(part)))
	if err != nil || !found {
		return err
	}
	if err := json.Unmarshal(item.Body, out); err != nil {
		return fmt.Errorf("decode %s of %s: %w", part, m.ID, err)
	}
	return nil
}

func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
