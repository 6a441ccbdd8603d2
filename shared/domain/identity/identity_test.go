package identity_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// noError stops the test when err is not nil.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// equal reports a difference.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// fails reports an error that has not the wanted code.
func fails(t *testing.T, err error, code fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("error = %v, want the code %s", err, code)
	}
}

func TestScopeHash(t *testing.T) {
	for name, c := range map[string]struct {
		scopes identity.Scopes
		hash   string
	}{
		"the whole grant of an agent": {
			identity.Scopes{identity.ExecutionPropose, identity.LedgerRead, identity.IntentPropose, identity.WikiRead},
			"0xe5c560b489fa55c2a55066435093cf43a818e91b1f573b5be27c9df64571a9d4",
		},
		"in another order": {
			identity.Scopes{identity.WikiRead, identity.IntentPropose, identity.LedgerRead, identity.ExecutionPropose},
			"0xe5c560b489fa55c2a55066435093cf43a818e91b1f573b5be27c9df64571a9d4",
		},
		"two reads": {
			identity.Scopes{identity.LedgerRead, identity.WikiRead},
			"0xe7f581b788e929ded35cf8a37b2de1d3a1e9837f6a2f45edf41f27fc2868a714",
		},
		"one of them twice": {
			identity.Scopes{identity.WikiRead, identity.LedgerRead, identity.WikiRead},
			"0xe7f581b788e929ded35cf8a37b2de1d3a1e9837f6a2f45edf41f27fc2868a714",
		},
		"empty": {identity.Scopes{}, "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"},
		"nil":   {nil, "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.scopes)
			equal(t, "hash", c.scopes.Hash().String(), c.hash)
			if !slices.Equal(before, c.scopes) {
				t.Errorf("hashing reordered the set: %s", c.scopes)
			}
		})
	}
}

// Every two different sets have different hashes.
func TestScopeHashesDiffer(t *testing.T) {
	seen := map[identity.Hash]int{}
	for bits := range 1 << len(identity.AllScopes) {
		var set identity.Scopes
		for i, scope := range identity.AllScopes {
			if bits&(1<<i) != 0 {
				set = append(set, scope)
			}
		}
		hash := set.Hash()
		if other, taken := seen[hash]; taken {
			t.Fatalf("sets %b and %b have one hash", other, bits)
		}
		seen[hash] = bits
	}
}

func TestParseScopes(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		want  string // "!" refuses
	}{
		"none":               {nil, ""},
		"one":                {[]string{"wiki:read"}, "wiki:read"},
		"sorted":             {[]string{"wiki:read", "audit:read"}, "audit:read wiki:read"},
		"each once":          {[]string{"wiki:read", "audit:read", "wiki:read"}, "audit:read wiki:read"},
		"all":                {identity.AllScopes.Strings(), identity.AllScopes.String()},
		"unknown":            {[]string{"wiki:read", "wiki:write"}, "!"},
		"administrator":      {[]string{"layer:admin"}, "!"},
		"two in one name":    {[]string{"ledger:read|wiki:read"}, "!"},
		"blank inside":       {[]string{"ledger:read wiki:read"}, "!"},
		"capital":            {[]string{"Wiki:read"}, "!"},
		"blank after":        {[]string{"wiki:read "}, "!"},
		"empty name":         {[]string{""}, "!"},
		"wildcard":           {[]string{"*"}, "!"},
		"known, then broken": {[]string{"raw:read", "raw:read\n"}, "!"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := identity.ParseScopes(c.names)
			if c.want == "!" {
				if err == nil {
					t.Errorf("ParseScopes(%q) = %s", c.names, got)
				}
				return
			}
			noError(t, err)
			equal(t, "scopes", got.String(), c.want)
		})
	}
}

func TestAllScopes(t *testing.T) {
	equal(t, "scopes", len(identity.AllScopes), 9)
	if !slices.IsSorted(identity.AllScopes) {
		t.Errorf("not in byte order: %s", identity.AllScopes)
	}
	for _, scope := range identity.AllScopes {
		if strings.Contains(string(scope), "|") {
			t.Errorf("%s holds the separator of the hash", scope)
		}
	}
}

func TestScopeSets(t *testing.T) {
	grant := identity.Scopes{identity.LedgerRead, identity.WikiRead}
	token := identity.Scopes{identity.IntentPropose, identity.WikiRead}
	equal(t, "narrowed", token.Intersect(grant).String(), "wiki:read")
	equal(t, "narrowed from the other side", grant.Intersect(token).String(), "wiki:read")
	equal(t, "with nothing", token.Intersect(nil).String(), "")
	equal(t, "held", grant.Has(identity.WikiRead), true)
	equal(t, "not held", grant.Has(identity.AuditRead), false)
	missing := identity.Scopes(grant.Missing([]identity.Scope{identity.WikiRead, identity.RawWrite, identity.AuditRead}))
	equal(t, "missing", missing.String(), "raw:write audit:read")
}

func TestHashes(t *testing.T) {
	good := "0x" + strings.Repeat("aB", 32)
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"both cases":       {good, true},
		"zero":             {"0x" + strings.Repeat("0", 64), true},
		"empty":            {"", false},
		"prefix alone":     {"0x", false},
		"no prefix":        {good[2:], false},
		"capital prefix":   {"0X" + good[2:], false},
		"one digit less":   {good[:65], false},
		"one digit more":   {good + "0", false},
		"no digit":         {good[:65] + "g", false},
		"blank":            {good[:65] + " ", false},
		"sign":             {"0x+" + good[3:], false},
		"line break after": {good + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := identity.ParseHash(c.text)
			equal(t, "accepted", err == nil, c.good)
			var unmarshalled identity.Hash
			equal(t, "accepted as text", unmarshalled.UnmarshalText([]byte(c.text)) == nil, c.good)
			if c.good {
				equal(t, "written", h.String(), strings.ToLower(c.text))
				equal(t, "the same", unmarshalled, h)
			}
		})
	}
	// The empty string, and the first four bytes every Solidity client knows of
	// transfer(address,uint256).
	equal(t, "keccak of nothing", identity.Keccak(nil).String(), "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
	equal(t, "selector", identity.Keccak([]byte("transfer(address,uint256)")).String()[:10], "0xa9059cbb")
	equal(t, "agent id", identity.AgentHash("acme", "agt_1"), identity.Keccak([]byte("acme/agt_1")))
	equal(t, "tenant id", identity.TenantHash("acme"), identity.Keccak([]byte("acme")))
}

func TestTenants(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		good bool
	}{
		"letters":         {"acme", true},
		"digit first":     {"7-eleven", true},
		"one character":   {"a", true},
		"63 characters":   {strings.Repeat("a", 63), true},
		"64 characters":   {strings.Repeat("a", 64), false},
		"empty":           {"", false},
		"hyphen first":    {"-acme", false},
		"capital":         {"Acme", false},
		"hash":            {"acme#rate", false},
		"slash":           {"acme/agt_1", false},
		"at":              {"acme@x", false},
		"underscore":      {"acme_1", false},
		"line break":      {"acme\n", false},
		"zero byte":       {"acme\x00", false},
		"accent":          {"acmé", false},
		"blank":           {"ac me", false},
		"full-width":      {"ａcme", false},
		"dots":            {"..", false},
		"percent-encoded": {"acme%23", false},
	} {
		t.Run(name, func(t *testing.T) {
			tenant, err := identity.OperatorTenant(c.id)
			equal(t, "accepted", err == nil, c.good)
			if c.good {
				equal(t, "id", tenant.String(), c.id)
			} else {
				equal(t, "tenant of nobody", tenant, identity.Tenant{})
			}
		})
	}
}

func TestRegistrations(t *testing.T) {
	for name, c := range map[string]struct {
		registered, revoked uint64
		active              bool
	}{
		"never registered": {0, 0, false},
		"stands":           {1, 0, true},
		"revoked":          {1, 2, false},
		"half empty":       {0, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := identity.Registration{RegisteredAt: c.registered, RevokedAt: c.revoked}
			equal(t, "active", r.Active(), c.active)
		})
	}
}

func TestCeilings(t *testing.T) {
	for role, want := range map[identity.Role]string{
		identity.Viewer:   "audit:read execution:read ledger:read raw:read wiki:read",
		identity.Approver: "audit:read execution:read ledger:read payment_intent:approve raw:read wiki:read",
		identity.Admin:    "audit:read execution:read ledger:read payment_intent:approve raw:read wiki:read",
		"owner":           "",
		"":                "",
	} {
		equal(t, "ceiling of "+string(role), identity.MemberRecord{Role: role}.Ceiling().String(), want)
	}
	// The ceiling is a value of its own: who appends to it changes no other.
	_ = append(identity.MemberRecord{Role: identity.Viewer}.Ceiling(), identity.IntentApprove)
	equal(t, "viewer", identity.MemberRecord{Role: identity.Viewer}.Ceiling().Has(identity.IntentApprove), false)
}

func TestPrincipals(t *testing.T) {
	equal(t, "actor", identity.Principal{Kind: identity.Agent, ID: "agt_1"}.Actor(), identity.Actor{Type: "agent", ID: "agt_1"})
	equal(t, "a token that names nothing is a capability", identity.Principal{URIs: []string{}}.Capability(), true)
	equal(t, "any other credential", identity.Principal{}.Capability(), false)
}
