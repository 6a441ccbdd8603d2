// Package table is the DynamoDB table behind record.Store, and the one place
// that knows its attributes, transactions, conflicts and retries. There is no
// Scan in it and the functions' roles have no permission for one.
package table

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The attributes of an item. template.yaml names the keys, the indexes and the
// TTL attribute too; a test compares them.
const (
	attrPK      = "pk"
	attrSK      = "sk"
	attrVersion = "version"
	attrBody    = "body"
	attrExpires = "expires_at"
	numPrefix   = "n_" // counters, moved by ADD
)

// API is the part of the DynamoDB client that is used: what the roles permit.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Table is the store. It keeps no state of its own.
type Table struct {
	API  API
	Name string
}

var _ record.Store = (*Table)(nil)

// Get reads one item, strongly consistent.
func (t *Table) Get(ctx context.Context, k key.Key) (record.Item, bool, error) {
	out, err := t.API.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.Name, Key: keyOf(k), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return record.Item{}, false, unavailable("get", err)
	}
	if len(out.Item) == 0 {
		return record.Item{}, false, nil
	}
	item, err := decode(out.Item)
	return item, err == nil, err
}

// GetMany reads items in batches of a hundred, strongly consistent. A key may
// stand in keys more than once; DynamoDB refuses a batch that does.
func (t *Table) GetMany(ctx context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	const batch = 100 // what BatchGetItem takes
	found := map[key.Key]record.Item{}
	keys = unique(keys)
	for len(keys) > 0 {
		n := min(len(keys), batch)
		want := make([]map[string]types.AttributeValue, n)
		for i, k := range keys[:n] {
			want[i] = keyOf(k)
		}
		keys = keys[n:]
		request := map[string]types.KeysAndAttributes{t.Name: {Keys: want, ConsistentRead: aws.Bool(true)}}
		// What one call leaves out for size or load, the next asks for.
		for tries := 0; len(request) > 0; tries++ {
			if tries == 10 {
				return nil, unavailable("batch get", errors.New("keys stay unprocessed"))
			}
			out, err := t.API.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: request})
			if err != nil {
				return nil, unavailable("batch get", err)
			}
			for _, attrs := range out.Responses[t.Name] {
				item, err := decode(attrs)
				if err != nil {
					return nil, err
				}
				found[item.Key] = item
			}
			if request = out.UnprocessedKeys; len(request) > 0 && !pause(ctx, tries) {
				return nil, unavailable("batch get", ctx.Err())
			}
		}
	}
	return found, nil
}

// unique are the keys, each once, in their order.
func unique(keys []key.Key) []key.Key {
	seen := make(map[key.Key]bool, len(keys))
	var once []key.Key
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			once = append(once, k)
		}
	}
	return once
}

// Query reads one page of a partition; of the table itself consistently. A range
// that ends before it begins holds nothing; DynamoDB would call it an error.
func (t *Table) Query(ctx context.Context, q record.Query) (record.Page, error) {
	if q.Prefix == "" && q.From != "" && q.To != "" && q.From > q.To {
		return record.Page{}, nil
	}
	pk, sk := attrPK, attrSK
	in := &dynamodb.QueryInput{TableName: &t.Name, ScanIndexForward: aws.Bool(!q.Reverse)}
	if q.Index > 0 {
		pk, sk = indexAttrs(q.Index)
		in.IndexName = aws.String(indexName(q.Index))
	} else {
		in.ConsistentRead = aws.Bool(true)
	}
	names, values := map[string]string{"#pk": pk}, map[string]types.AttributeValue{":pk": text(q.PK)}
	condition := "#pk = :pk"
	switch {
	case q.Prefix != "":
		condition += " AND begins_with(#sk, :prefix)"
		values[":prefix"] = text(q.Prefix)
	case q.From != "" && q.To != "":
		condition += " AND #sk BETWEEN :from AND :to"
		values[":from"], values[":to"] = text(q.From), text(q.To)
	case q.From != "":
		condition += " AND #sk >= :from"
		values[":from"] = text(q.From)
	case q.To != "":
		condition += " AND #sk <= :to"
		values[":to"] = text(q.To)
	}
	if len(values) > 1 {
		names["#sk"] = sk
	}
	in.KeyConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = &condition, names, values
	if q.Limit > 0 {
		in.Limit = aws.Int32(int32(q.Limit))
	}
	if q.After != nil {
		in.ExclusiveStartKey = startKey(q)
	}
	out, err := t.API.Query(ctx, in)
	if err != nil {
		return record.Page{}, unavailable("query", err)
	}
	var page record.Page
	for _, attrs := range out.Items {
		item, err := decode(attrs)
		if err != nil {
			return record.Page{}, err
		}
		page.Items = append(page.Items, item)
	}
	if len(out.LastEvaluatedKey) > 0 {
		page.Next = &record.Cursor{Key: key.Key{PK: textOf(out.LastEvaluatedKey[attrPK]), SK: textOf(out.LastEvaluatedKey[attrSK])}}
		if q.Index > 0 {
			page.Next.Index = key.Key{PK: textOf(out.LastEvaluatedKey[pk]), SK: textOf(out.LastEvaluatedKey[sk])}
		}
	}
	return page, nil
}

func startKey(q record.Query) map[string]types.AttributeValue {
	start := keyOf(q.After.Key)
	if q.Index > 0 {
		pk, sk := indexAttrs(q.Index)
		start[pk], start[sk] = text(q.After.Index.PK), text(q.After.Index.SK)
	}
	return start
}

// indexName and indexAttrs are the three indexes' names as the template has them.
func indexName(n int) string { return "gsi" + strconv.Itoa(n) }

func indexAttrs(n int) (pk, sk string) { return indexName(n) + "pk", indexName(n) + "sk" }

func keyOf(k key.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{attrPK: text(k.PK), attrSK: text(k.SK)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// encode writes an item; its version is the one it will have.
func encode(item record.Item, version int64) map[string]types.AttributeValue {
	attrs := keyOf(item.Key)
	for i, place := range item.Index {
		if !place.Zero() {
			pk, sk := indexAttrs(i + 1)
			attrs[pk], attrs[sk] = text(place.PK), text(place.SK)
		}
	}
	attrs[attrVersion] = number(version)
	if item.Body != nil {
		attrs[attrBody] = text(string(item.Body))
	}
	if !item.Expires.IsZero() {
		attrs[attrExpires] = number(item.Expires.Unix())
	}
	return attrs
}

func decode(attrs map[string]types.AttributeValue) (record.Item, error) {
	item := record.Item{Key: key.Key{PK: textOf(attrs[attrPK]), SK: textOf(attrs[attrSK])}}
	for i := range item.Index {
		pk, sk := indexAttrs(i + 1)
		item.Index[i] = key.Key{PK: textOf(attrs[pk]), SK: textOf(attrs[sk])}
	}
	if body := textOf(attrs[attrBody]); body != "" {
		item.Body = []byte(body)
	}
	for name, value := range attrs {
		n, ok := value.(*types.AttributeValueMemberN)
		if !ok {
			continue
		}
		whole, ok := new(big.Int).SetString(n.Value, 10)
		if !ok {
			return record.Item{}, fmt.Errorf("item %s %s: %s is no integer", item.Key.PK, item.Key.SK, name)
		}
		switch counter, counts := strings.CutPrefix(name, numPrefix); {
		case counts:
			if item.Numbers == nil {
				item.Numbers = map[string]*big.Int{}
			}
			item.Numbers[counter] = whole
		case name == attrVersion:
			item.Version = whole.Int64()
		case name == attrExpires:
			item.Expires = time.Unix(whole.Int64(), 0).UTC()
		}
	}
	return item, nil
}

// unavailable is the error of a table that could not be asked.
func unavailable(what string, err error) error {
	return fault.Because(fmt.Errorf("%s: %w", what, err), fault.DependencyUnavailable, "The data store cannot be reached. Try again.")
}
