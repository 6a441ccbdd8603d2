package execution_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// get decodes an item, false when it is not there.
func get[T any](w *world, k key.Key) (v T, found bool) {
	w.t.Helper()
	item, found, err := w.store.Get(w.ctx(), k)
	noError(w.t, err)
	if found {
		noError(w.t, json.Unmarshal(item.Body, &v))
	}
	return v, found
}

func (w *world) intent(name string) proposals.Case {
	w.t.Helper()
	item, found, err := w.store.Get(w.ctx(), key.Ledger(w.tenant, id.PaymentIntent, name))
	noError(w.t, err)
	equal(w.t, "the intent is there", found, true)
	c, err := proposals.Decode(item)
	noError(w.t, err)
	return c
}

func (w *world) record(intent string) execution.Record {
	w.t.Helper()
	r, found := get[execution.Record](w, key.Execution(w.tenant, execution.NameOf(intent)))
	if !found {
		w.t.Fatalf("%s has no execution", intent)
	}
	return r
}

// told are the events of an action about an intent, on the bus and in the outbox,
// each once.
func (w *world) told(action, intent string) []audit.Event {
	w.t.Helper()
	details := map[string][]byte{}
	w.bus.mu.Lock()
	for _, entry := range w.bus.taken {
		details[entry.ID] = entry.Detail
	}
	w.bus.mu.Unlock()
	for shard := range key.OutboxShards {
		page, err := w.store.Query(w.ctx(), record.Query{PK: key.OutboxPartition(shard)})
		noError(w.t, err)
		for _, item := range page.Items {
			_, name, _ := strings.Cut(item.Key.SK, "#")
			details[name] = item.Body
		}
	}
	var all []audit.Event
	for _, detail := range details {
		var cloud struct {
			Traceparent trace.Parent
			Data        audit.Event
		}
		noError(w.t, json.Unmarshal(detail, &cloud))
		cloud.Data.Trace = cloud.Traceparent
		if e := cloud.Data; e.TenantID == w.name && e.Action == action && e.Inputs["id"] == intent {
			all = append(all, e)
		}
	}
	return all
}

// the one event of an action about an intent.
func (w *world) the(action, intent string) audit.Event {
	w.t.Helper()
	all := w.told(action, intent)
	if len(all) != 1 {
		w.t.Fatalf("%d events %s of %s, want 1", len(all), action, intent)
	}
	return all[0]
}

// held is what is reserved of the world's account, in cents.
func (w *world) held() string {
	w.t.Helper()
	item, _, err := w.store.Get(w.ctx(), key.Reserved(w.tenant, own))
	noError(w.t, err)
	if n := item.Numbers["held.USD"]; n != nil {
		return n.String()
	}
	return "0"
}

// balances are those of the world's account, the oldest first.
func (w *world) balances() []ledger.Balance {
	w.t.Helper()
	page, err := w.store.Query(w.ctx(), record.Query{PK: key.Balance(w.tenant, own, "").PK, Prefix: key.BalancePrefix})
	noError(w.t, err)
	var all []ledger.Balance
	for _, item := range page.Items {
		var b ledger.Balance
		noError(w.t, json.Unmarshal(item.Body, &b))
		all = append(all, b)
	}
	return all
}

// left is what the account holds after everything.
func (w *world) left() string {
	w.t.Helper()
	all := w.balances()
	return all[len(all)-1].Current
}

// checks are the checks in an event.
func checks(t *testing.T, e audit.Event) []execution.Check {
	t.Helper()
	raw, err := json.Marshal(e.Outputs["gate_checks"])
	noError(t, err)
	var all []execution.Check
	noError(t, json.Unmarshal(raw, &all))
	return all
}

// failed are the ids of the checks that failed.
func failed(all []execution.Check) string {
	var ids []string
	for _, c := range all {
		if !c.Passed {
			ids = append(ids, c.ID)
		}
	}
	return strings.Join(ids, " ")
}
