package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// An approval is executed, once; a replay of it and what is paused are not.
func TestApprovals(t *testing.T) {
	w := begin(t, nil)
	first, second := w.propose(payments.ACHOutbound, "100.00"), w.propose(payments.ACHOutbound, "101.00")
	body := w.approval(first, nil)
	replay := w.approval(second, func(e map[string]any) { e["replay-name"] = "again" })
	equal(t, "failed", w.deliver(body, replay, body), "[]")
	equal(t, "first", w.status(first), proposals.Executed)
	equal(t, "second, replayed", w.status(second), proposals.Approved)
	equal(t, "failed when it comes again", w.deliver(body, w.approval(second, nil)), "[]")
	equal(t, "second", w.status(second), proposals.Executed)
	for _, intent := range []string{first, second} {
		equal(t, "told before", len(w.carried(execution.EventBefore, intent)), 1)
		equal(t, "told after", len(w.carried(execution.EventAfter, intent)), 1)
	}
	if !strings.Contains(w.log.String(), `"a replayed event is not executed"`) {
		t.Errorf("the replay is not in the log: %s", w.log)
	}
	for _, never := range []string{"100.00", "Vendor", "acct_"} {
		if strings.Contains(w.log.String(), never) {
			t.Errorf("the log holds %q", never)
		}
	}
}

// receipt is the message that a rail's receipt comes to the function as.
func (w *world) receipt(intent string, change func(envelope, inputs, outputs map[string]any)) string {
	w.t.Helper()
	item, found, err := w.consumer.executor.Store.Get(w.t.Context(), key.Execution(w.tenant, execution.NameOf(intent)))
	noError(w.t, err)
	equal(w.t, "the execution is there", found, true)
	var r execution.Record
	noError(w.t, json.Unmarshal(item.Body, &r))
	inputs := map[string]any{
		"id": intent, "execution_id": r.ID, "idempotency_key": r.IdempotencyKey, "amount": r.Order.Payment.Amount, "currency": r.Order.Payment.Currency,
	}
	outputs := map[string]any{"status": "settled", "reference": "bank-1"}
	data := map[string]any{
		"id": "evt_" + intent[3:], "tenant_id": "acme", "layer": "execution", "actor": map[string]any{"type": "rail", "id": "bank"}, "action": execution.OrderReceipt,
		"inputs": inputs, "outputs": outputs, "request_id": "", "created_at": "2025-09-30T12:00:00.000Z", "schema": 1,
	}
	envelope := map[string]any{"source": execution.ReceiptSource, "detail-type": execution.OrderReceipt, "detail": map[string]any{"id": data["id"], "data": data}}
	if change != nil {
		change(envelope, inputs, outputs)
	}
	return written(w.t, envelope, nil)
}

func TestBank(t *testing.T) {
	w := begin(t, map[string]string{"RAIL": "bank"})
	intent := w.propose(payments.ACHOutbound, "100.00")
	equal(t, "failed", w.deliver(w.approval(intent, nil)), "[]")
	equal(t, "status", w.status(intent), proposals.Dispatching)
	orders := w.carried(execution.OrderCreated, intent)
	equal(t, "orders", len(orders), 1)
	equal(t, "source", orders[0]["source"].(string), "robotmoney.execute")
	for name, change := range map[string]func(envelope, inputs, outputs map[string]any){
		"another source":    func(e, _, _ map[string]any) { e["source"] = "robotmoney.mcp" },
		"a source nobody's": func(e, _, _ map[string]any) { e["source"] = "evil.robotmoney.rail" },
		"another type":      func(e, _, _ map[string]any) { e["detail-type"] = approved },
		"another intent":    func(_, in, _ map[string]any) { in["id"] = "pi_other" },
		"no execution":      func(_, in, _ map[string]any) { in["execution_id"] = "exec_none" },
		"another key":       func(_, in, _ map[string]any) { in["idempotency_key"] = "x" },
		"another amount":    func(_, in, _ map[string]any) { in["amount"] = "100.01" },
		"not settled yet":   func(_, _, out map[string]any) { out["status"] = "accepted" },
		"no reference":      func(_, _, out map[string]any) { delete(out, "reference") },
		"another tenant": func(e, _, _ map[string]any) {
			e["detail"].(map[string]any)["data"].(map[string]any)["tenant_id"] = "globex"
		},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, "failed", w.deliver(w.receipt(intent, change)), "[0]")
			equal(t, "status", w.status(intent), proposals.Dispatching)
		})
	}
	replay := w.receipt(intent, func(e, _, _ map[string]any) { e["replay-name"] = "again" })
	equal(t, "failed replayed", w.deliver(replay), "[]")
	equal(t, "status after the replay", w.status(intent), proposals.Dispatching)
	settled := w.receipt(intent, nil)
	equal(t, "failed", w.deliver(settled, settled), "[]")
	equal(t, "status", w.status(intent), proposals.Executed)
	equal(t, "told after", len(w.carried(execution.EventAfter, intent)), 1)
	late := w.receipt(intent, func(_, _, out map[string]any) { out["status"] = "refused" })
	equal(t, "failed too late", w.deliver(late), "[0]")
	equal(t, "status at last", w.status(intent), proposals.Executed)
	if !strings.Contains(w.out.String(), `"ReceiptDisputed":1`) {
		t.Errorf("no metric: %s", w.out)
	}
}

// A bus that takes no orders is a rail that does not answer.
func TestBusTakesNoOrders(t *testing.T) {
	w := begin(t, map[string]string{"RAIL": "bank"})
	intent := w.propose(payments.ACHOutbound, "100.00")
	body := w.approval(intent, nil)
	w.bus.Refuse(-1)
	equal(t, "failed", w.deliver(body), "[0]")
	equal(t, "status", w.status(intent), proposals.Dispatching)
	if !strings.Contains(w.out.String(), `"FunctionName":"ExecuteFunction","RailUnknown":1`) {
		t.Errorf("no metric: %s", w.out)
	}
	w.bus.Refuse(0)
	equal(t, "failed later", w.deliver(body), "[]")
	equal(t, "orders", len(w.carried(execution.OrderCreated, intent)), 1)
}

// What is no errand, or names what is not there, is named as failed with a reason
// and keeps no other from its turn.
func TestForgedEvents(t *testing.T) {
	w := begin(t, nil)
	intent := w.propose(payments.ACHOutbound, "100.00")
	data := func(e map[string]any) map[string]any { return e["detail"].(map[string]any)["data"].(map[string]any) }
	forged := map[string]struct{ body, says string }{
		"no JSON":           {"hello", "no event of the bus"},
		"no detail":         {`{"source":"robotmoney.mcp"}`, "no CloudEvents record"},
		"another source":    {w.approval(intent, func(e map[string]any) { e["source"] = "aws.s3" }), "a source that may not say so"},
		"the rail approves": {w.approval(intent, func(e map[string]any) { e["source"] = execution.ReceiptSource }), "a source that may not say so"},
		"another type":      {w.approval(intent, func(e map[string]any) { e["detail-type"] = "payment_intent.proposed" }), "detail-type is not"},
		"another id":        {w.approval(intent, func(e map[string]any) { e["detail"].(map[string]any)["id"] = "evt_1" }), "id is not the event's"},
		"no intent":         {w.approval(intent, func(e map[string]any) { data(e)["inputs"] = map[string]any{} }), "names no payment intent"},
		"another tenant":    {w.approval(intent, func(e map[string]any) { data(e)["tenant_id"] = "globex" }), "payment_intent_not_found"},
		"an unknown intent": {w.approval(intent, func(e map[string]any) { data(e)["inputs"] = map[string]any{"id": "pi_none"} }), "payment_intent_not_found"},
		"a tenant of none":  {w.approval(intent, func(e map[string]any) { data(e)["tenant_id"] = "a#b" }), "tenant_id is not well-formed"},
	}
	for name, c := range forged {
		t.Run(name, func(t *testing.T) {
			equal(t, "failed", w.deliver(c.body), "[0]")
			equal(t, "status", w.status(intent), proposals.Approved)
			if !strings.Contains(w.log.String(), c.says) {
				t.Errorf("the log does not say %q: %s", c.says, w.log)
			}
		})
	}
	equal(t, "failed beside a sound one", w.deliver("?", w.approval(intent, nil), "{}"), "[0 2]")
	equal(t, "status", w.status(intent), proposals.Executed)
}

func TestConfig(t *testing.T) {
	for name, says := range map[string]string{
		"AWS_REGION": "missing environment: AWS_REGION", "TABLE_NAME": "missing environment: TABLE_NAME", "BUS_NAME": "missing environment: BUS_NAME",
		"RPC_URLS": "missing environment: RPC_URLS", "CHAIN_ID": "missing environment: CHAIN_ID", "RAIL": "missing environment: RAIL", "RECEIPT_HOURS": "missing environment: RECEIPT_HOURS",
	} {
		env := variables(map[string]string{name: ""})
		_, err := readConfig(func(name string) string { return env[name] })
		if err == nil || err.Error() != says {
			t.Errorf("without %s: %v", name, err)
		}
	}
	const address = "0x0000000000000000000000000000000000000001"
	for name, c := range map[string]struct {
		changes map[string]string
		says    string
	}{
		"no hours":           {map[string]string{"RECEIPT_HOURS": "0"}, "RECEIPT_HOURS"},
		"hours in words":     {map[string]string{"RECEIPT_HOURS": "a day"}, "RECEIPT_HOURS"},
		"another rail":       {map[string]string{"RAIL": "cash"}, "RAIL"},
		"no chain":           {map[string]string{"CHAIN_ID": "x"}, "CHAIN_ID"},
		"no registry":        {map[string]string{"REGISTRY_ADDRESS": "0x1"}, "REGISTRY_ADDRESS"},
		"no token":           {map[string]string{"TOKEN_ADDRESS": "0x1"}, "TOKEN_ADDRESS"},
		"nobody signs":       {map[string]string{"TOKEN_ADDRESS": address}, "RAIL_KEY_ID is missing"},
		"a key that is none": {map[string]string{"TOKEN_ADDRESS": address, "RAIL_KEY": "secret"}, "RAIL_KEY: private key"},
	} {
		env := variables(c.changes)
		_, err := readConfig(func(name string) string { return env[name] })
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The key that pays may lie in KMS, which is not asked before there is something
// to pay.
func TestKeyInKMS(t *testing.T) {
	env := variables(map[string]string{"TOKEN_ADDRESS": "0x0000000000000000000000000000000000000001", "RAIL_KEY_ID": "alias/rail", "KMS_ENDPOINT": "http://127.0.0.1:1"})
	c, err := readConfig(func(name string) string { return env[name] })
	noError(t, err)
	made, err := wire(c, slog.New(slog.DiscardHandler), io.Discard)
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := made.executor.Rails.Onchain.(execution.Onchain).Chain.Account(ctx); err == nil {
		t.Error("a key service that is away gave a key")
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(`{"source":"robotmoney.mcp","detail-type":"payment_intent.approved","detail":{"id":"evt_1","data":{"id":"evt_1","tenant_id":"acme","action":"payment_intent.approved","inputs":{"id":"pi_1"}}}}`)
	f.Add(`{"source":"robotmoney.rail","detail-type":"payment_order.receipt","detail":{"id":"evt_1","data":{"id":"evt_1","tenant_id":"acme","action":"payment_order.receipt","inputs":{"id":"pi_1","execution_id":"exec_1"},"outputs":{"status":"settled"}}}}`)
	f.Add(`{"replay-name":"x"}`)
	f.Fuzz(func(t *testing.T, body string) {
		e, err := open(body)
		if err != nil {
			return
		}
		named := id.Check(id.PaymentIntent, e.intent) == nil
		if e.tenant.String() == "" || named == (e.receipt != nil) {
			t.Errorf("%+v of %q", e, body)
		}
	})
}
