package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

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

// place is where an item stands in an index, empty where it does not.
func (i item) place(index int) string {
	name := fmt.Sprintf("gsi%d", index)
	if _, in := i[name+"pk"]; !in {
		return ""
	}
	return fmt.Sprintf("%q %q", i[name+"pk"]["S"], i[name+"sk"]["S"])
}

// indexes are those of the table.
const indexes = 3

// change is what a write made of an item; either may be nothing.
type change struct {
	before, after item
	times         int // twice in a transaction
}

// units are counted by the larger of both items. An index the item moves in is
// written twice, one it enters, leaves or stays in once, and none when nothing
// changed, as by a condition that failed.
func (c change) units() int {
	was, is := units(c.before.size(), writeUnit), units(c.after.size(), writeUnit)
	n := c.times * max(was, is)
	if maps.EqualFunc(c.before, c.after, maps.Equal) {
		return n
	}
	for index := 1; index <= indexes; index++ {
		switch from, to := c.before.place(index), c.after.place(index); {
		case from == "" && to == "":
		case from == "":
			n += is
		case to == "":
			n += was
		case from == to:
			n += max(was, is)
		default:
			n += was + is
		}
	}
	return n
}

// target is a row that a call writes.
type target struct {
	TableName string
	Key, Item item
}

func (t target) key() item {
	from := t.Key
	if from == nil {
		from = t.Item
	}
	return item{"pk": from["pk"], "sk": from["sk"]}
}

// targets are the rows that a call writes or holds a condition against, and how
// many times over each is counted.
func targets(call tap.Call) (all []target, times int, err error) {
	var in struct {
		target
		TransactItems []map[string]target
	}
	switch call.Operation() {
	case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems":
	default:
		return nil, 0, nil
	}
	if err := json.Unmarshal(call.Body, &in); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", call.Operation(), err)
	}
	if in.TransactItems == nil {
		return []target{in.target}, 1, nil
	}
	for _, one := range in.TransactItems {
		for _, t := range one {
			all = append(all, t)
		}
	}
	return all, 2, nil
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

// count says what a call costs, by what was asked, answered and changed.
func (c *counter) count(call tap.Call, answer tap.Answer, changes []change) (Units, error) {
	if refused := answer.Status != http.StatusOK; refused && !failedCondition(answer) {
		return Units{}, nil
	}
	if len(changes) > 0 {
		var u Units
		for _, one := range changes {
			u.Writes += one.units()
		}
		return u, nil
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

// failedCondition tells the one refusal that DynamoDB counts: it has looked.
func failedCondition(answer tap.Answer) bool {
	return bytes.Contains(answer.Body, []byte("ConditionalCheckFailed"))
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
	RequestItems   map[string]struct {
		ConsistentRead bool
		Keys           []item
	}
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
	}
	return Units{}, fmt.Errorf("no price for %s", operation)
}

func halves(n int, consistent bool) int {
	if consistent {
		return 2 * n
	}
	return n
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
