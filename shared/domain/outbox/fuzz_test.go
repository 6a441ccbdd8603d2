package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/outbox"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// single is a table whose outbox holds one item, and a bus that takes all: the
// fuzzer is too fast for an engine.
type single struct {
	record.Store
	item    record.Item
	taken   []audit.Entry
	removed []key.Key
}

func (s *single) Query(_ context.Context, q record.Query) (record.Page, error) {
	if q.PK != s.item.Key.PK {
		return record.Page{}, nil
	}
	return record.Page{Items: []record.Item{s.item}}, nil
}

func (s *single) Commit(_ context.Context, c record.Change) error {
	s.removed = append(s.removed, c.Deletes...)
	return nil
}

func (s *single) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	s.taken = append(s.taken, entries...)
	return nil, nil
}

// FuzzItem: whatever lies in the outbox is either published as it is, under its
// own key, and removed, or neither.
func FuzzItem(f *testing.F) {
	body := `{"id":"evt_1","type":"a","source":"robotmoney.mcp","time":"2025-09-30T11:59:00.000Z"}`
	own := key.Outbox("evt_1", late)
	f.Add(0, own.SK, []byte(body))
	for shard := range key.OutboxShards {
		if key.OutboxPartition(shard) == own.PK {
			f.Add(shard, own.SK, []byte(body))
			f.Add(shard, own.SK, []byte(" "+body+"\n"))
		}
	}
	f.Add(1, "", []byte("null"))
	f.Add(2, "#", []byte(`{"time":"9999-12-31T23:59:59.999Z"}`))
	f.Fuzz(func(t *testing.T, shard int, sk string, body []byte) {
		shard = (shard%key.OutboxShards + key.OutboxShards) % key.OutboxShards
		s := &single{item: record.Item{Key: key.Key{PK: key.OutboxPartition(shard), SK: sk}, Body: bytes.Clone(body)}}
		sweeper := &outbox.Sweeper{Bus: s, Store: s, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
		report, err := sweeper.Sweep(t.Context())
		switch len(s.taken) {
		case 0:
			if report.Unreadable != 1 || err == nil || len(s.removed) > 0 {
				t.Fatalf("not published: %+v, error %v, removed %v", report, err, s.removed)
			}
		case 1:
			e := s.taken[0]
			if !bytes.Equal(e.Detail, body) || key.Outbox(e.ID, e.At) != s.item.Key || e.Type == "" {
				t.Fatalf("published as %+v", e)
			}
			if report != (outbox.Report{Published: 1}) || err != nil || fmt.Sprint(s.removed) != fmt.Sprint([]key.Key{s.item.Key}) {
				t.Fatalf("published: %+v, error %v, removed %v", report, err, s.removed)
			}
		default:
			t.Fatalf("published %d times", len(s.taken))
		}
	})
}
