package table

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// The attributes of a tenant's rate item. The limit is set by an operator; the
// rest is the present minute's count and the last minute a refusal was told of.
const (
	attrMinute  = "minute"
	attrUsed    = "used"
	attrLimit   = "rate_limit"
	attrRefused = "refused_minute"
)

// Rate counts requests in the table, over all processes. Default is the limit
// of a tenant that has none of its own.
type Rate struct {
	Table   *Table
	Default int
}

var _ access.Counter = (*Rate)(nil)

// Lease adds n to the count of a minute. The first lease of a minute starts the
// count over. A lease whose reply was lost may count twice, which only makes
// the limit stricter.
//
// A minute further ahead than the next was begun by a clock that ran ahead. Counted
// into until its time comes, it would shut the tenant out for as long as that clock
// was wrong: it is set back, with its count, and ends when the present one does.
func (r *Rate) Lease(ctx context.Context, t identity.Tenant, minute time.Time, n int) (used, limit int, err error) {
	names := map[string]string{"#minute": attrMinute, "#used": attrUsed}
	now, next := number(minute.Unix()), number(minute.Add(time.Minute).Unix())
	steps := []struct {
		update, condition string
		next              bool // the condition is about the next minute too
	}{
		{"ADD #used :n", "#minute = :minute", false},
		{"SET #minute = :minute, #used = :n", "attribute_not_exists(#minute) OR #minute < :minute", false},
		{"ADD #used :n", "#minute BETWEEN :minute AND :next", true}, // another process started the minute in between
		{"SET #minute = :minute ADD #used :n", "#minute > :next", true},
	}
	for _, step := range steps {
		values := map[string]types.AttributeValue{":minute": now, ":n": number(int64(n))}
		if step.next { // a value that no expression uses is refused
			values[":next"] = next
		}
		out, err := r.Table.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &r.Table.Name, Key: keyOf(key.Rate(t)), ReturnValues: types.ReturnValueAllNew,
			UpdateExpression: &step.update, ConditionExpression: &step.condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		})
		var failed *types.ConditionalCheckFailedException
		switch {
		case errors.As(err, &failed):
			continue
		case err != nil:
			return 0, 0, unavailable("count a request", err)
		}
		return r.read(out.Attributes)
	}
	return 0, 0, unavailable("count a request", errors.New("the minute changes under every try"))
}

func (r *Rate) read(attrs map[string]types.AttributeValue) (used, limit int, err error) {
	used, err = whole(attrs[attrUsed])
	if err != nil {
		return 0, 0, fmt.Errorf("read the rate: %w", err)
	}
	limit = r.Default
	if attrs[attrLimit] != nil {
		if limit, err = whole(attrs[attrLimit]); err != nil {
			return 0, 0, fmt.Errorf("read the rate limit: %w", err)
		}
	}
	return used, limit, nil
}

func whole(v types.AttributeValue) (int, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, errors.New("not a number")
	}
	return strconv.Atoi(n.Value)
}

// FirstRefusal marks the minute as told of, and says whether it was not before. A
// mark further ahead than the next minute is of a clock that ran ahead, and hides
// nothing.
func (r *Rate) FirstRefusal(ctx context.Context, t identity.Tenant, minute time.Time) (bool, error) {
	_, err := r.Table.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &r.Table.Name, Key: keyOf(key.Rate(t)),
		UpdateExpression:          aws.String("SET #refused = :minute"),
		ConditionExpression:       aws.String("attribute_not_exists(#refused) OR #refused < :minute OR #refused > :next"),
		ExpressionAttributeNames:  map[string]string{"#refused": attrRefused},
		ExpressionAttributeValues: map[string]types.AttributeValue{":minute": number(minute.Unix()), ":next": number(minute.Add(time.Minute).Unix())},
	})
	var failed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &failed):
		return false, nil
	case err != nil:
		return false, unavailable("mark a refusal", err)
	}
	return true, nil
}
