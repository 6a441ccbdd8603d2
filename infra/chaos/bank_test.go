package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const orderLine = `{"detail-type":"payment_order.created","detail":{"data":{"tenant_id":"acme","created_at":"2025-09-30T12:00:00.000Z","inputs":{"id":"pi_1","execution_id":"exec_1",` +
	`"idempotency_key":"0123456789abcdef0123456789abcdef","payment":{"amount":"12.50","currency":"USD"}}}}}` + "\n"

// The bank pays a key once however often it is told, notices when it is told
// something else, and answers each order.
func TestBank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	b := &bank{file: path, random: rand.New(rand.NewPCG(1, 2)), transfers: map[string]*Transfer{}, hit: func(int) {}}
	tell := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := b.take(); err != nil {
			t.Fatal(err)
		}
	}
	tell(`{"detail-type":"ledger.changed","detail":{}}` + "\n" + orderLine + orderLine[:40])
	if paid := b.paid(); len(paid) != 1 || paid[0] != (Transfer{Intent: "pi_1", Amount: 12_50, Orders: 1}) {
		t.Fatalf("%+v", paid)
	}
	if idle, err := b.idle(); err != nil || idle {
		t.Errorf("idle with a receipt to send: %v", err)
	}
	tell(orderLine[40:])
	if paid := b.paid(); len(paid) != 1 || paid[0].Orders != 2 || paid[0].Another != "" {
		t.Errorf("%+v", paid)
	}
	if n := len(b.due); n < 2 || n > 4 {
		t.Errorf("%d receipts for two orders", n)
	}
	for _, r := range b.due {
		if string(r.detail) != string(b.due[0].detail) || time.Until(r.at) > time.Second {
			t.Errorf("another receipt: %s", r.detail)
		}
	}
	tell(`{"detail-type":"payment_order.created","detail":{"data":{"inputs":{"id":"pi_1","idempotency_key":"0123456789abcdef0123456789abcdef","payment":{"amount":"13.00"}}}}}` + "\n")
	if paid := b.paid(); len(paid) != 1 || paid[0].Another != "13.00 of pi_1" || paid[0].Amount != 12_50 {
		t.Errorf("%+v", paid)
	}
}
