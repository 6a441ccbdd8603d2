package identity

import (
	"fmt"
	"strings"
)

// Tenant is a company on the surface. Its zero value belongs to nobody, and
// there are only three ways to get one: an authenticated principal carries it,
// a consumer takes it from a verified event, an operator names it. No function
// that reads a caller's arguments can make one, so data of another tenant
// cannot be asked for by writing its name into a request.
type Tenant struct{ id string }

// String returns the tenant's id.
func (t Tenant) String() string { return t.id }

// OperatorTenant is the tenant an operator's command or a verified event names.
// A request handler never calls it: the tenant of a request comes from its
// credential.
func OperatorTenant(id string) (Tenant, error) { return newTenant(id) }

// newTenant accepts lower-case letters, digits and hyphens: an id is part of
// keys and of the preimage of hashes, where a separator inside it would let two
// tenants meet.
func newTenant(id string) (Tenant, error) {
	if id == "" || len(id) > 63 || id[0] == '-' || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return Tenant{}, fmt.Errorf("tenant id %.80q: want 1 to 63 lower-case letters, digits or hyphens", id)
	}
	return Tenant{id}, nil
}
