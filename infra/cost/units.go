package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/tap"
	"github.com/robotmoney/mcp/infra/local/template"
)

// Units are what AWS counts of some work.
type Units struct {
	HalfReads int // half a read unit: 4 KB, eventually consistent
	Writes    int // write units: 1 KB, twice in a transaction, and once more for each index an item is in
	Events    int // of 64 KB, put on the bus
	Messages  int // put into queues by the bus's rules
	Stored    int // objects put into the bucket
	Fetched   int // objects read from it
	LogBytes  int64
}

func (u *Units) add(v Units) {
	u.HalfReads += v.HalfReads
	u.Writes += v.Writes
	u.Events += v.Events
	u.Messages += v.Messages
	u.Stored += v.Stored
	u.Fetched += v.Fetched
	u.LogBytes += v.LogBytes
}

// item is a row, or its key, as the API writes it.
type item map[string]map[string]any

// The sizes that a unit covers.
const (
	readUnit  = 4 << 10
	writeUnit = 1 << 10
	eventUnit = 64 << 10
)

// size is what DynamoDB counts of an item: names and values, a number at half its
// digits and one.
func (i item) size() int {
	n := 0
	for name, typed := range i {
		n += len(name)
		for kind, value := range typed {
			text, _ := value.(string)
			if kind == "N" {
				n += (len(text)+1)/2 + 1
			} else {
				n += len(text)
			}
		}
	}
	return n
}

// indexes are how many indexes an item is in.
func (i item) indexes() int {
	n := 0
	for name := range i {
		if strings.HasPrefix(name, "gsi") && strings.HasSuffix(name, "pk") {
			n++
		}
	}
	return n
}

func units(size, unit int) int { return max(1, (size+unit-1)/unit) }

// counter counts calls by the rules of the services they are made to.
type counter struct {
	patterns []bus.Pattern // of the rules that lead into a queue, one for each queue
}

func newCounter(t *template.Template) (*counter, error) {
	c := &counter{}
	for _, rule := range t.Rules {
		pattern, err := bus.ParsePattern(rule.Pattern)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", rule.LogicalID, err)
		}
		for _, target := range rule.Targets {
			if target.Queue != "" {
				c.patterns = append(c.patterns, pattern)
			}
		}
	}
	return c, nil
}

// count says what a call costs, by what was asked and answered.
func (c *counter) count(call tap.Call, answer tap.Answer) (Units, error) {
	if answer.Status != http.StatusOK {
		return Units{}, nil
	}
	switch operation := call.Operation(); {
	case operation == "PutEvents":
		return c.events(call.Body)
	case operation == "":
		return Units{Stored: one(call.Method == http.MethodPut), Fetched: one(call.Method == http.MethodGet)}, nil
	default:
		return rows(operation, call.Body, answer.Body)
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// request is what is looked at of a call of the table.
type request struct {
	ConsistentRead bool
	Item, Key      item
	RequestItems   map[string]struct {
		ConsistentRead bool
		Keys           []item
	}
	TransactItems []map[string]struct{ Item item }
}

// response is what is looked at of its answer.
type response struct {
	Item      item
	Items     []item
	Responses map[string][]item
}

func rows(operation string, asked, answered []byte) (Units, error) {
	var in request
	var out response
	for _, part := range []struct {
		raw  []byte
		into any
	}{{asked, &in}, {answered, &out}} {
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			return Units{}, fmt.Errorf("read %s: %w", operation, err)
		}
	}
	switch operation {
	case "GetItem":
		return Units{HalfReads: halves(units(out.Item.size(), readUnit), in.ConsistentRead)}, nil
	case "Query":
		total := 0
		for _, i := range out.Items {
			total += i.size()
		}
		return Units{HalfReads: halves(units(total, readUnit), in.ConsistentRead)}, nil
	case "BatchGetItem":
		var u Units
		for table, wanted := range in.RequestItems {
			found := out.Responses[table]
			n := len(wanted.Keys) - len(found) // what is not there costs a unit too
			for _, i := range found {
				n += units(i.size(), readUnit)
			}
			u.HalfReads += halves(n, wanted.ConsistentRead)
		}
		return u, nil
	case "PutItem":
		return Units{Writes: put(in.Item, 1)}, nil
	case "UpdateItem", "DeleteItem":
		return Units{Writes: 1}, nil // counters and marks: under 1 KB, in no index
	case "TransactWriteItems":
		var u Units
		for _, one := range in.TransactItems {
			for kind, of := range one {
				if kind == "Put" {
					u.Writes += put(of.Item, 2)
				} else {
					u.Writes += 2
				}
			}
		}
		return u, nil
	}
	return Units{}, fmt.Errorf("no price for %s", operation)
}

func halves(n int, consistent bool) int {
	if consistent {
		return 2 * n
	}
	return n
}

// put is an item written so many times over, and once into each of its indexes.
func put(i item, times int) int {
	return units(i.size(), writeUnit) * (times + i.indexes())
}

func (c *counter) events(body []byte) (Units, error) {
	var in struct {
		Entries []struct{ Source, DetailType, Detail string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Units{}, fmt.Errorf("read PutEvents: %w", err)
	}
	var u Units
	for _, e := range in.Entries {
		u.Events += units(len(e.Detail)+len(e.Source)+len(e.DetailType), eventUnit)
		envelope, err := json.Marshal(map[string]any{"id": "counted", "source": e.Source, "detail-type": e.DetailType, "detail": json.RawMessage(e.Detail)})
		if err != nil {
			return Units{}, fmt.Errorf("read PutEvents: %w", err)
		}
		for _, p := range c.patterns {
			u.Messages += one(p.Match(envelope))
		}
	}
	return u, nil
}
