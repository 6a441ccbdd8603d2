package table_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/platform/table"
)

var minute = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// tenant is one of the test's own, by a name that tells it from its others.
func tenant(t *testing.T, name string) identity.Tenant {
	t.Helper()
	_ = partition(t)
	n, _ := partitions.Load(t)
	tenant, err := identity.OperatorTenant(fmt.Sprintf("%s-%d", name, n))
	noError(t, err)
	return tenant
}

func rate(options ...func(*dynamodb.Options)) *table.Rate {
	return &table.Rate{Table: open(options...), Default: 600}
}

// setLimit is what an operator does for a tenant.
func setLimit(t *testing.T, of identity.Tenant, limit string) {
	t.Helper()
	k := key.Rate(of)
	_, err := client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(name), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: k.PK}, "sk": &types.AttributeValueMemberS{Value: k.SK}},
		UpdateExpression: aws.String("SET rate_limit = :n"), ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: limit}},
	})
	noError(t, err)
}

func TestLeases(t *testing.T) {
	acme, globex := tenant(t, "leases-acme"), tenant(t, "leases-globex")
	setLimit(t, globex, "50")
	for i, step := range []struct {
		of          identity.Tenant
		at          time.Time
		n           int
		used, limit int
	}{
		{acme, minute, 1, 1, 600},
		{acme, minute, 2, 3, 600},
		{acme, minute, 16, 19, 600},
		{globex, minute, 4, 4, 50}, // a limit of its own, set before the first count
		{acme, minute, 1, 20, 600},
		{acme, minute.Add(time.Minute), 1, 1, 600}, // a new minute starts over
		{acme, minute.Add(time.Minute), 2, 3, 600},
		{acme, minute, 5, 8, 600}, // a clock that is behind counts into the present minute
		{acme, minute.Add(time.Minute), 1, 9, 600},
		{globex, minute.Add(time.Hour), 1, 1, 50}, // the limit outlives the minute
		// A clock that ran ahead has begun a minute whose time comes in an hour. What
		// it has counted counts for the present minute and no longer.
		{globex, minute, 3, 4, 50},
		{globex, minute, 1, 5, 50},
		{globex, minute.Add(time.Minute), 2, 2, 50},
	} {
		used, limit, err := rate().Lease(t.Context(), step.of, step.at, step.n)
		noError(t, err)
		equal(t, fmt.Sprintf("step %d: used", i), used, step.used)
		equal(t, fmt.Sprintf("step %d: limit", i), limit, step.limit)
	}
}

// Many processes that begin a minute together lose no count.
func TestLeasesAtOnce(t *testing.T) {
	acme := tenant(t, "at-once")
	const processes = 24
	for round := range 3 {
		at := minute.Add(time.Duration(round) * time.Minute)
		var all sync.WaitGroup
		var most atomic.Int64
		for range processes {
			all.Go(func() {
				for range 5 {
					used, _, err := rate().Lease(t.Context(), acme, at, 3)
					if err != nil {
						t.Error(err)
						return
					}
					for old := most.Load(); int64(used) > old && !most.CompareAndSwap(old, int64(used)); old = most.Load() {
					}
				}
			})
		}
		all.Wait()
		equal(t, "count", most.Load(), int64(processes*5*3))
	}
}

func TestFirstRefusal(t *testing.T) {
	acme, globex := tenant(t, "refusal-acme"), tenant(t, "refusal-globex")
	for i, step := range []struct {
		of    identity.Tenant
		at    time.Time
		first bool
	}{
		{acme, minute, true},
		{acme, minute, false},
		{globex, minute, true},
		{acme, minute.Add(time.Minute), true},
		{acme, minute, false}, // a clock that is behind tells nothing again
		{globex, minute.Add(time.Hour), true},
		{globex, minute.Add(time.Minute), true}, // what a clock that ran ahead has told hides nothing
		{globex, minute.Add(time.Minute), false},
		{acme, minute.Add(time.Minute), false},
	} {
		first, err := rate().FirstRefusal(t.Context(), step.of, step.at)
		noError(t, err)
		equal(t, fmt.Sprintf("step %d", i), first, step.first)
	}
	var all sync.WaitGroup
	var firsts atomic.Int32
	for range 24 {
		all.Go(func() {
			first, err := rate().FirstRefusal(t.Context(), acme, minute.Add(time.Hour))
			if err != nil {
				t.Error(err)
			}
			if first {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	equal(t, "firsts of 24 at once", firsts.Load(), 1)
	used, _, err := rate().Lease(t.Context(), acme, minute.Add(time.Hour), 1)
	noError(t, err)
	equal(t, "a refusal is no count", used, 1)
}

func TestRateOfATableThatFails(t *testing.T) {
	fails := through(refuses(500, errorBody("InternalServerError")))
	_, _, err := rate(fails).Lease(t.Context(), tenant(t, "fails"), minute, 1)
	unavailable(t, err)
	_, err = rate(fails).FirstRefusal(t.Context(), tenant(t, "fails"), minute)
	unavailable(t, err)
	// Three conditions that fail in a row: another process moves the minute each
	// time.
	moves := through(refuses(400, errorBody("ConditionalCheckFailedException")))
	_, _, err = rate(moves).Lease(t.Context(), tenant(t, "fails"), minute, 1)
	unavailable(t, err)
}

// A lease whose reply was lost counts twice at most: the limit is stricter then,
// never weaker.
func TestLostLease(t *testing.T) {
	w, _ := loses(1)
	used, _, err := rate(through(w)).Lease(t.Context(), tenant(t, "lost"), minute, 2)
	noError(t, err)
	if used != 2 && used != 4 {
		t.Errorf("used = %d, want 2 or 4", used)
	}
}
