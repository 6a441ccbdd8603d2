package roles

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/infra/local/tap"
)

// The keys of conditions.
const (
	leadingKeys = "dynamodb:LeadingKeys"
	eventSource = "events:source"
	eventType   = "events:detail-type"
)

// Requests are what IAM judges of a call: each operation of a transaction and each
// event by itself, and a batch of reads as one.
func Requests(c tap.Call) ([]Request, error) {
	switch operation := c.Operation(); {
	case operation == "PutEvents":
		return events(c.Body)
	case operation != "":
		return operations(operation, c.Body)
	case c.Method == http.MethodPut, c.Method == http.MethodGet, c.Method == http.MethodHead:
		_, object, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/") // the bucket's name comes first
		object, _, _ = strings.Cut(object, "?")
		action := map[string]string{http.MethodPut: "s3:PutObject"}[c.Method]
		if action == "" {
			action = "s3:GetObject"
		}
		return []Request{{Action: action, Resource: "BlobBucket/" + object}}, nil
	}
	return nil, fmt.Errorf("no request of AWS that is known: %s %s", c.Method, c.Path)
}

func events(body []byte) ([]Request, error) {
	var in struct {
		Entries []struct{ Source, DetailType string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read PutEvents: %w", err)
	}
	var all []Request
	for _, e := range in.Entries {
		all = append(all, Request{"events:PutEvents", "Bus", map[string][]string{eventSource: {e.Source}, eventType: {e.DetailType}}})
	}
	return all, nil
}

// item is a row's key, alone or in the row.
type item map[string]map[string]any

// operation is one of a transaction, or a call of one.
type operation struct {
	Key, Item item
}

func (o operation) pk() string {
	for _, i := range []item{o.Key, o.Item} {
		if text, ok := i["pk"]["S"].(string); ok {
			return text
		}
	}
	return ""
}

// condition is the first equality of a key condition: that of the partition.
var condition = regexp.MustCompile(`^\(?\s*#?\w+\s*=\s*(:\w+)`)

func operations(name string, body []byte) ([]Request, error) {
	var in struct {
		operation
		IndexName                 string
		KeyConditionExpression    string
		ExpressionAttributeValues map[string]map[string]any
		RequestItems              map[string]struct{ Keys []item }
		TransactItems             []map[string]operation
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var all []Request
	ask := func(action, resource string, pks ...string) {
		all = append(all, Request{"dynamodb:" + action, resource, map[string][]string{leadingKeys: pks}})
	}
	switch name {
	case "GetItem", "PutItem", "UpdateItem", "DeleteItem":
		ask(name, "Table", in.pk())
	case "Query":
		found := condition.FindStringSubmatch(in.KeyConditionExpression)
		if found == nil {
			return nil, fmt.Errorf("read Query: no partition in %q", in.KeyConditionExpression)
		}
		pk, _ := in.ExpressionAttributeValues[found[1]]["S"].(string)
		resource := "Table"
		if in.IndexName != "" {
			resource += "/index/" + in.IndexName
		}
		ask(name, resource, pk)
	case "BatchGetItem":
		for _, table := range in.RequestItems {
			// One request: a statement must allow all of it.
			var pks []string
			for _, key := range table.Keys {
				pks = append(pks, operation{Key: key}.pk())
			}
			ask(name, "Table", pks...)
		}
	case "TransactWriteItems":
		for _, one := range in.TransactItems {
			for kind, of := range one {
				ask(map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}[kind], "Table", of.pk())
			}
		}
	default:
		return nil, fmt.Errorf("no operation that a role speaks of: %s", name)
	}
	for _, q := range all {
		if slices.Contains(q.Context[leadingKeys], "") {
			return nil, fmt.Errorf("read %s: an item without a partition", name)
		}
	}
	return all, nil
}
