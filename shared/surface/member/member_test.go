package member_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	individual "github.com/robotmoney/mcp/shared/domain/member"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/member"
)

// database is the table in the engine of this package's tests. They keep apart
// by their tenants.
var (
	database *table.Table
	tenants  atomic.Int32
)

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e.Table() }))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var uris = []string{"member://profile", "member://traits", "member://competencies"}

// world is the provider over a tenant of its own.
type world struct {
	*catalog.Catalog
	tenant identity.Tenant
}

func newWorld(t *testing.T) world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	must(t, err)
	w := world{&catalog.Catalog{}, tenant}
	must(t, w.Mount(member.Provider(&individual.Reader{Store: database})))
	return w
}

// put stores a part of what is kept about a member, as JSON text.
func (w world) put(t *testing.T, who string, part individual.Part, body string) {
	t.Helper()
	item := record.Item{Key: key.Individual(w.tenant, who, string(part)), Body: []byte(body)}
	must(t, database.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Blind: true}}}))
}

func (w world) person(name string) identity.Principal {
	return identity.Principal{Kind: identity.User, ID: name, Tenant: w.tenant, Member: &identity.MemberRecord{
		ID: name, TenantID: w.tenant.String(), Role: identity.Viewer, Status: identity.Active, CreatedAt: "2026-02-15T09:30:00Z",
	}}
}

func (w world) read(t *testing.T, uri string, who identity.Principal) (string, error) {
	t.Helper()
	target, found := w.Resource(uri, who)
	if !found {
		return "", fault.New(fault.ResourceNotFound, "not in the catalogue")
	}
	if len(target.Scopes) != 0 {
		t.Errorf("%s needs %v", uri, target.Scopes)
	}
	contents, err := target.Read(t.Context(), catalog.Call{Principal: who})
	if err != nil {
		return "", err
	}
	raw, err := contents.Encode(uri)
	must(t, err)
	var list []struct{ URI, MIMEType, Text string }
	must(t, json.Unmarshal(raw, &list))
	if list[0].URI != uri || list[0].MIMEType != "application/json" {
		t.Errorf("contents %s", raw)
	}
	return list[0].Text, nil
}

// The examples of the document, as they are stored and as they must be answered.
const (
	storedProfile      = `{"assessment_phase":"completed","archetype":"Pragmatist","engagement_level":3}`
	storedTraits       = `{"traits":[{"trait_name":"pressure_response","tier":"Strong","category":"adaptive_capacity","computed_at":"2026-03-10T14:22:00Z","score":0.8731,"percentile":93}]}`
	storedCompetencies = `{"competencies":[{"name":"Strategic Planning","level":"advanced","evidence_count":4,"verified":true,"last_demonstrated":"2026-03-08T10:15:00Z"}],"badges":[{"name":"Systems Thinker","awarded_at":"2026-03-01T12:00:00Z","category":"cognitive_style"}]}`

	shownProfile = "{\n  \"member_id\": \"mbr_1\",\n  \"assessment_phase\": \"completed\",\n  \"account_status\": \"active\",\n" +
		"  \"created_at\": \"2026-02-15T09:30:00Z\",\n  \"archetype\": \"Pragmatist\",\n  \"engagement_level\": 3\n}"
	shownTraits = "{\n  \"member_id\": \"mbr_1\",\n  \"trait_count\": 1,\n  \"traits\": [\n    {\n      \"trait_name\": \"pressure_response\",\n      \"tier\": \"Strong\",\n" +
		"      \"category\": \"adaptive_capacity\",\n      \"computed_at\": \"2026-03-10T14:22:00Z\"\n    }\n  ]\n}"
	shownCompetencies = "{\n  \"member_id\": \"mbr_1\",\n  \"competencies\": [\n    {\n      \"name\": \"Strategic Planning\",\n      \"level\": \"advanced\",\n      \"evidence_count\": 4,\n" +
		"      \"verified\": true,\n      \"last_demonstrated\": \"2026-03-08T10:15:00Z\"\n    }\n  ],\n  \"badges\": [\n    {\n      \"name\": \"Systems Thinker\",\n" +
		"      \"awarded_at\": \"2026-03-01T12:00:00Z\",\n      \"category\": \"cognitive_style\"\n    }\n  ],\n  \"total_competencies\": 1,\n  \"total_badges\": 1\n}"
)

func filled(t *testing.T) world {
	t.Helper()
	w := newWorld(t)
	w.put(t, "mbr_1", individual.ProfilePart, storedProfile)
	w.put(t, "mbr_1", individual.TraitsPart, storedTraits)
	w.put(t, "mbr_1", individual.CompetenciesPart, storedCompetencies)
	return w
}

func TestReads(t *testing.T) {
	w := filled(t)
	for uri, want := range map[string]string{"member://profile": shownProfile, "member://traits": shownTraits, "member://competencies": shownCompetencies} {
		if got, err := w.read(t, uri, w.person("mbr_1")); err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", uri, err, got, want)
		}
	}
}

// Of whom nothing is kept there is nothing to read, and no error.
func TestNothingKept(t *testing.T) {
	w := newWorld(t)
	for uri, want := range map[string]string{
		"member://profile":      `{"member_id":"mbr_1","assessment_phase":"not_started","account_status":"active","created_at":"2026-02-15T09:30:00Z","archetype":null,"engagement_level":null}`,
		"member://traits":       `{"member_id":"mbr_1","trait_count":0,"traits":[]}`,
		"member://competencies": `{"member_id":"mbr_1","competencies":[],"badges":[],"total_competencies":0,"total_badges":0}`,
	} {
		got, err := w.read(t, uri, w.person("mbr_1"))
		must(t, err)
		if flat := regexp.MustCompile(`\n *`).ReplaceAllString(got, ""); strings.ReplaceAll(flat, `": `, `":`) != want {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

// A score gets out under no name: a member the reader does not know is dropped,
// and a tier that is no label is an error.
func TestNoScore(t *testing.T) {
	w := newWorld(t)
	for _, tier := range []string{`0.8731`, `"0.8731"`, `"87"`, `"Strong (87)"`, `"Strong7"`, `"٨٧"`, `"Ⅷ"`, `""`, `null`, `{"label":"Strong","score":87}`, `"Strong\n87"`, `"` + strings.Repeat("a", 33) + `"`} {
		w.put(t, "mbr_1", individual.TraitsPart, `{"traits":[{"trait_name":"x","tier":`+tier+`}]}`)
		got, err := w.read(t, "member://traits", w.person("mbr_1"))
		if err == nil || got != "" || strings.Contains(err.Error(), "87") {
			t.Errorf("tier %s: %s, %v", tier, got, err)
		}
	}
	for _, tier := range []string{"Strong", "Moderate", "Needs work", "Very-strong indeed"} {
		w.put(t, "mbr_1", individual.TraitsPart, `{"score":87,"traits":[{"trait_name":"x","tier":"`+tier+`","score":87,"Score":87,"tier_score":87}]}`)
		if got, err := w.read(t, "member://traits", w.person("mbr_1")); err != nil || !strings.Contains(got, tier) || strings.Contains(got, "87") {
			t.Errorf("tier %s: %s, %v", tier, got, err)
		}
	}
}

// What is stored says neither whose it is nor how much: both are computed.
func TestStoredClaimsAreNotBelieved(t *testing.T) {
	w := newWorld(t)
	w.put(t, "mbr_1", individual.ProfilePart, `{"member_id":"mbr_2","account_status":"suspended","created_at":"1970-01-01T00:00:00Z","assessment_phase":"completed"}`)
	w.put(t, "mbr_1", individual.TraitsPart, `{"member_id":"mbr_2","trait_count":9,"traits":[]}`)
	w.put(t, "mbr_1", individual.CompetenciesPart, `{"member_id":"mbr_2","total_competencies":9,"total_badges":9}`)
	for _, uri := range uris {
		got, err := w.read(t, uri, w.person("mbr_1"))
		must(t, err)
		if !strings.Contains(got, `"member_id": "mbr_1"`) || strings.Contains(got, "mbr_2") || strings.Contains(got, "9,") || strings.Contains(got, "suspended") || strings.Contains(got, "1970") {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

// Nobody reads anybody else's: not a colleague, not the same id elsewhere, and
// no agent at all.
func TestOthers(t *testing.T) {
	w, elsewhere := filled(t), newWorld(t)
	colleague := w.person("mbr_2")
	colleague.Member.Role, colleague.Scopes = identity.Admin, identity.AllScopes
	for _, who := range []identity.Principal{colleague, elsewhere.person("mbr_1"), w.person("mbr_1#profile"), w.person("")} {
		for _, uri := range uris {
			got, err := w.read(t, uri, who)
			must(t, err)
			for _, theirs := range []string{"Pragmatist", "pressure_response", "Strategic", "Systems Thinker"} {
				if strings.Contains(got, theirs) {
					t.Errorf("%s of %s shows %s", uri, who.ID, theirs)
				}
			}
		}
	}
	agent := identity.Principal{Kind: identity.Agent, ID: "mbr_1", Tenant: w.tenant, Scopes: identity.AllScopes, Agent: &identity.AgentRecord{ID: "mbr_1"}}
	if listed, err := w.Resources(t.Context(), catalog.Call{Principal: agent}); err != nil || len(listed) != 0 {
		t.Errorf("an agent is shown %v, %v", listed, err)
	}
	for _, uri := range uris {
		if _, err := w.read(t, uri, agent); !fault.Is(err, fault.ResourceNotFound) {
			t.Errorf("an agent reads %s: %v", uri, err)
		}
		// Should the filter ever fail, the read still knows.
		target, _ := w.Resource(uri, w.person("mbr_1"))
		if _, err := target.Read(t.Context(), catalog.Call{Principal: agent}); !fault.Is(err, fault.ResourceNotFound) {
			t.Errorf("past the filter, an agent reads %s: %v", uri, err)
		}
	}
}

// A capability token lists and reads what it names, about its own individual.
func TestCapability(t *testing.T) {
	w := filled(t)
	for _, named := range [][]string{{}, {"member://traits"}, {"member://profile", "member://competencies"}, uris, {"member://other", "brain://payments/action_types"}} {
		holder := w.person("mbr_1")
		holder.URIs = named
		listed, err := w.Resources(t.Context(), catalog.Call{Principal: holder})
		must(t, err)
		var got []string
		for _, r := range listed {
			got = append(got, r.URI)
		}
		for _, uri := range uris {
			want := slices.Contains(named, uri)
			if slices.Contains(got, uri) != want {
				t.Errorf("a token for %v lists %v", named, got)
			}
			if _, err := w.read(t, uri, holder); (err == nil) != want {
				t.Errorf("a token for %v reads %s: %v", named, uri, err)
			}
		}
	}
}

// away is a table that cannot be reached.
type away struct{ record.Store }

var errAway = errors.New("table away")

func (away) Get(context.Context, key.Key) (record.Item, bool, error) {
	return record.Item{}, false, errAway
}

func TestTableAway(t *testing.T) {
	w := newWorld(t)
	must(t, w.Mount(member.Provider(&individual.Reader{Store: away{}})))
	for _, uri := range uris {
		if _, err := w.read(t, uri, w.person("mbr_1")); !errors.Is(err, errAway) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

// The list is the document's own.
func TestListed(t *testing.T) {
	w := newWorld(t)
	listed, err := w.Resources(t.Context(), catalog.Call{Principal: w.person("mbr_1")})
	must(t, err)
	raw, err := json.Marshal(listed)
	must(t, err)
	const want = `[{"uri":"member://profile","name":"Individual Profile","description":"The authenticated individual's profile data including assessment phase, archetype, and engagement level.","mimeType":"application/json"},` +
		`{"uri":"member://traits","name":"Individual Traits","description":"The authenticated individual's trait vector - tier-labelled traits across the 5 trait categories. Tier labels only; numeric scores are never returned to members.","mimeType":"application/json"},` +
		`{"uri":"member://competencies","name":"Individual Competencies","description":"The authenticated individual's competency portfolio - verified competencies, evidence log, and badges.","mimeType":"application/json"}]`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
