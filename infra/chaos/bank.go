package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	eventbus "github.com/robotmoney/mcp/shared/platform/bus"
)

// Transfer is what the bank was told to pay under one idempotency key: it pays
// once, however often it is told.
type Transfer struct {
	Intent  string
	Amount  cents
	Orders  int    // how often it was told
	Another string // an order under the same key that said something else
}

// bank is the company's bank: it takes orders from the bus, pays each key once,
// and says what became of it. Its messages come late, twice, and in any order.
type bank struct {
	file   string // what the bus accepted
	bus    *eventbus.Bus
	hit    func(int)
	random *rand.Rand

	mu        sync.Mutex
	silent    bool
	read      int64 // of the file
	transfers map[string]*Transfer
	due       []receipt
}

// order is what the bank reads of an order.
type order struct {
	Tenant string `json:"tenant_id"`
	At     string `json:"created_at"`
	Inputs struct {
		ID        string
		Execution string `json:"execution_id"`
		Key       string `json:"idempotency_key"`
		Payment   struct{ Amount, Currency string }
	}
}

// receipt is a message of the bank that is on its way.
type receipt struct {
	at     time.Time
	detail []byte
}

// look is how often the bank looks for orders.
const look = 100 * time.Millisecond

// newBank opens a bank on what a stack's bus accepts.
func newBank(s *stage, seed uint64) *bank {
	return &bank{
		file: filepath.Join(s.folder, stackfile.Events), bus: s.File().Publisher(), hit: s.hit,
		random: rand.New(rand.NewPCG(seed, 7)), transfers: map[string]*Transfer{},
	}
}

// work works until ctx ends.
func (b *bank) work(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := b.take(); err != nil {
			return err
		}
		b.answer(ctx)
		sleep(ctx, look)
	}
	return nil
}

// hush has the bank pay and say nothing of it, or speak again.
func (b *bank) hush(silent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent = silent
}

// idle says that every order the bus has accepted was answered.
func (b *bank) idle() (bool, error) {
	info, err := os.Stat(b.file)
	if err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.due) == 0 && b.read == info.Size(), nil
}

// take reads what the bus has accepted since the last look.
func (b *bank) take() error {
	file, err := os.Open(b.file)
	if err != nil {
		return err
	}
	defer file.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := file.Seek(b.read, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			return nil // the bus is writing it
		}
		b.read += int64(len(line))
		if err := b.obey(line); err != nil {
			return err
		}
	}
	return nil
}

// obey pays an order, unless it was paid, and says so in any case. The caller
// holds the lock.
func (b *bank) obey(line string) error {
	var e struct {
		Type   string `json:"detail-type"`
		Detail struct{ Data order }
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return fmt.Errorf("the bank reads what the bus accepted: %w", err)
	}
	if e.Type != execution.OrderCreated {
		return nil
	}
	in := e.Detail.Data.Inputs
	amount, err := parseCents(in.Payment.Amount)
	if err != nil {
		return err
	}
	made, known := b.transfers[in.Key]
	if !known {
		made = &Transfer{Intent: in.ID, Amount: amount}
		b.transfers[in.Key] = made
	}
	made.Orders++
	if made.Intent != in.ID || made.Amount != amount {
		made.Another = fmt.Sprintf("%s of %s", amount, in.ID)
	}
	detail, err := e.Detail.Data.settled()
	if err != nil {
		return err
	}
	if b.silent {
		b.hit(1)
	}
	for range 1 + b.random.IntN(2) {
		b.due = append(b.due, receipt{time.Now().Add(time.Duration(b.random.IntN(700)) * time.Millisecond), detail})
	}
	return nil
}

// settled is the receipt of an order, which is the same however often it is sent.
func (o order) settled() ([]byte, error) {
	in := o.Inputs
	name := "evt_receipt" + in.Key[:24]
	return json.Marshal(map[string]any{"specversion": "1.0", "id": name, "type": execution.OrderReceipt, "data": map[string]any{
		"id": name, "tenant_id": o.Tenant, "layer": audit.LayerExecution, "action": execution.OrderReceipt, "actor": map[string]any{"type": "rail", "id": "bank"},
		"inputs":     map[string]any{"id": in.ID, "execution_id": in.Execution, "idempotency_key": in.Key, "amount": in.Payment.Amount, "currency": in.Payment.Currency},
		"outputs":    map[string]any{"status": execution.Done, "reference": "bank-" + in.Key[:12]},
		"request_id": "", "created_at": o.At, "schema": audit.Schema,
	}})
}

// answer sends the receipts whose time has come. One that the bus does not take is
// sent again.
func (b *bank) answer(ctx context.Context) {
	b.mu.Lock()
	var now, later []receipt
	for _, r := range b.due {
		if b.silent || time.Now().Before(r.at) {
			later = append(later, r)
		} else {
			now = append(now, r)
		}
	}
	b.mu.Unlock()
	for _, r := range now {
		out, err := b.bus.API.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
			EventBusName: &b.bus.Name, Source: aws.String(execution.ReceiptSource), DetailType: aws.String(execution.OrderReceipt), Detail: aws.String(string(r.detail)),
		}}})
		if err != nil || out.FailedEntryCount > 0 {
			later = append(later, r)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due = later
}

// paid are the transfers the bank made.
func (b *bank) paid() []Transfer {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Transfer
	for _, t := range b.transfers {
		all = append(all, *t)
	}
	return all
}
