package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
)

// activeLimit is how long a new table may take to become active.
const activeLimit = 10 * time.Second

func createTables(ctx context.Context, endpoint string, tables map[string]template.Table) error {
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:   awshttp.New(activeLimit),
		Region:       "us-east-1",
	})
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if err := createTable(ctx, client, name, tables[name]); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

func createTable(ctx context.Context, client *dynamodb.Client, name string, want template.Table) error {
	_, err := client.CreateTable(ctx, creation(name, want))
	var there *types.ResourceInUseException
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("create: %w", err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = readyPoll, time.Second
	})
	found, err := waiter.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &name}, activeLimit)
	if err != nil {
		return fmt.Errorf("wait until active: %w", err)
	}
	if err := compare(found.Table, want); err != nil {
		return err
	}
	return expire(ctx, client, name, want.TTL)
}

// creation is the request that makes the table of a template.
func creation(name string, t template.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   schema(t.Key),
	}
	used := map[string]string{}
	note := func(k template.Key) {
		used[k.Partition.Name] = k.Partition.Type
		if k.Sort.Name != "" {
			used[k.Sort.Name] = k.Sort.Type
		}
	}
	note(t.Key)
	for _, index := range t.Indexes {
		note(index.Key)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(index.Name),
			KeySchema:  schema(index.Key),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	for _, attribute := range slices.Sorted(maps.Keys(used)) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(attribute),
			AttributeType: types.ScalarAttributeType(used[attribute]),
		})
	}
	return in
}

func schema(k template.Key) []types.KeySchemaElement {
	out := []types.KeySchemaElement{{AttributeName: aws.String(k.Partition.Name), KeyType: types.KeyTypeHash}}
	if k.Sort.Name != "" {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(k.Sort.Name), KeyType: types.KeyTypeRange})
	}
	return out
}

// compare says how a table that was there already differs from the template.
func compare(found *types.TableDescription, want template.Table) error {
	attributes := map[string]string{}
	for _, a := range found.AttributeDefinitions {
		attributes[*a.AttributeName] = string(a.AttributeType)
	}
	key := func(elements []types.KeySchemaElement) (k template.Key) {
		for _, e := range elements {
			a := template.Attribute{Name: *e.AttributeName, Type: attributes[*e.AttributeName]}
			if e.KeyType == types.KeyTypeHash {
				k.Partition = a
			} else {
				k.Sort = a
			}
		}
		return k
	}
	got := map[string]template.Key{"the table": key(found.KeySchema)}
	for _, index := range found.GlobalSecondaryIndexes {
		got["index "+*index.IndexName] = key(index.KeySchema)
	}
	wanted := map[string]template.Key{"the table": want.Key}
	for _, index := range want.Indexes {
		wanted["index "+index.Name] = index.Key
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if got[name] != wanted[name] {
			problems = append(problems, fmt.Errorf("%s has the key %v, the template says %v", name, got[name], wanted[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := wanted[name]; !ok {
			problems = append(problems, fmt.Errorf("%s is not in the template", name))
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("the stored table differs, start with a fresh state: %w", errors.Join(problems...))
	}
	return nil
}

// expire turns the template's expiry on where it is not. Asking first: AWS
// refuses to be told twice.
func expire(ctx context.Context, client *dynamodb.Client, name, attribute string) error {
	if attribute == "" {
		return nil
	}
	found, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return fmt.Errorf("read expiry: %w", err)
	}
	if d := found.TimeToLiveDescription; d != nil && aws.ToString(d.AttributeName) == attribute && d.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
		return nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("set expiry: %w", err)
	}
	return nil
}
