package target

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// Lift lets a tenant of a stack make as many requests as it likes, as an operator
// does in the table, until the returned function gives it its usual rate again.
func Lift(ctx context.Context, stack stackfile.Stack, tenant string) (restore func(context.Context) error, err error) {
	err = rate(ctx, stack, tenant, `"SET rate_limit = :n","ExpressionAttributeValues":{":n":{"N":"1000000"}}`)
	return func(ctx context.Context) error { return rate(ctx, stack, tenant, `"REMOVE rate_limit"`) }, err
}

// rate updates the item of a tenant's rate.
func rate(ctx context.Context, stack stackfile.Stack, tenant, update string) error {
	body := fmt.Sprintf(`{"TableName":%q,"Key":{"pk":{"S":"tenant#%s"},"sk":{"S":"rate"}},"UpdateExpression":%s}`, stack.Table, tenant, update)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, stack.DynamoDBEndpoint, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.UpdateItem")
	req.Header.Set("X-Amz-Date", "20250930T000000Z") // nothing checks the signature, but one must be there
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20250930/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("set the rate of %s: %w", tenant, err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("set the rate of %s: %w", tenant, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("set the rate of %s: %d %s", tenant, res.StatusCode, said)
	}
	return nil
}
