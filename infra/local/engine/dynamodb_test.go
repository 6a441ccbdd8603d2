package engine_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/infra/local/template"
)

const table = "robotmoney"

// realTable is the table that gets deployed.
func realTable(t *testing.T) template.Table {
	t.Helper()
	layout, err := enginetest.Layout()
	must(t, err)
	return layout
}

func config(t *testing.T, dir string) engine.DynamoDBConfig {
	t.Helper()
	return engine.DynamoDBConfig{
		Binary: binaries(t).Dynoxide,
		DBPath: filepath.Join(dir, "state", "db.sqlite"),
		Log:    filepath.Join(dir, "log", "dynoxide.log"),
		Tables: map[string]template.Table{table: realTable(t)},
	}
}

func start(t *testing.T, c engine.DynamoDBConfig) *engine.Database {
	t.Helper()
	began := time.Now()
	db, err := engine.DynamoDB(t.Context(), c)
	must(t, err)
	t.Logf("dynoxide with its tables was ready in %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		_ = db.Close()
		if !gone(db.PID()) {
			t.Errorf("dynoxide %d is still there", db.PID())
		}
	})
	return db
}

func client(db *engine.Database) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(db.Endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("x", "y", ""),
		Region:       "us-east-1",
		Retryer:      aws.NopRetryer{},
	})
}

func item(n int) map[string]types.AttributeValue {
	s := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	return map[string]types.AttributeValue{
		"pk": s("tenant#acme"), "sk": s(fmt.Sprintf("%06d", n)),
		"gsi1pk": s("one"), "gsi1sk": s(strconv.Itoa(n % 7)),
		"gsi2pk": s("two"), "gsi2sk": s(strconv.Itoa(n % 7)),
		"gsi3pk": s("three"), "gsi3sk": s(strconv.Itoa(n % 7)),
	}
}

func TestTablesOfTheTemplate(t *testing.T) {
	db := start(t, config(t, t.TempDir()))
	c := client(db)
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item(3)})
	must(t, err)
	for index, partition := range map[string]string{"gsi1": "one", "gsi2": "two", "gsi3": "three"} {
		got, err := c.Query(t.Context(), &dynamodb.QueryInput{
			TableName:                 aws.String(table),
			IndexName:                 aws.String(index),
			KeyConditionExpression:    aws.String("#p = :p AND #s = :s"),
			ExpressionAttributeNames:  map[string]string{"#p": index + "pk", "#s": index + "sk"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: partition}, ":s": &types.AttributeValueMemberS{Value: "3"}},
		})
		must(t, err)
		if got.Count != 1 || got.Items[0]["gsi2pk"] == nil {
			t.Errorf("%s: %d items %v, want the one with all attributes", index, got.Count, got.Items)
		}
	}
	ttl, err := c.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	must(t, err)
	if d := ttl.TimeToLiveDescription; aws.ToString(d.AttributeName) != "expires_at" || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled {
		t.Errorf("expiry %+v", d)
	}
}

// What the engine acknowledged is there after it was killed in the middle of
// writing.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	db := start(t, config(t, t.TempDir()))
	if err := db.Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("restarted while it ran: %v", err)
	}
	c, written := client(db), 0
	for range 5 {
		acknowledged := atomic.Int64{}
		acknowledged.Store(int64(written))
		failed := make(chan struct{})
		go func() {
			defer close(failed)
			for n := written; ; n++ {
				if _, err := c.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item(n)}); err != nil {
					return
				}
				acknowledged.Store(int64(n + 1))
			}
		}()
		until(t, "some writes", func() bool { return acknowledged.Load() >= int64(written+50) })
		db.Kill()
		<-failed
		written = int(acknowledged.Load())
		must(t, db.Restart(t.Context()))
	}
	for n := range written {
		got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName:      aws.String(table),
			ConsistentRead: aws.Bool(true),
			Key:            map[string]types.AttributeValue{"pk": item(n)["pk"], "sk": item(n)["sk"]},
		})
		must(t, err)
		if len(got.Item) == 0 {
			t.Fatalf("item %d of %d was acknowledged and is gone", n, written)
		}
	}
	t.Logf("%d acknowledged items are there after 5 kills", written)
}

func TestATableThatDiffersIsRefused(t *testing.T) {
	c := config(t, t.TempDir())
	must(t, start(t, c).Close())
	other := realTable(t)
	other.Indexes = other.Indexes[:2]
	c.Tables = map[string]template.Table{table: other}
	_, err := engine.DynamoDB(t.Context(), c)
	saying(t, err, "index gsi3 is not in the template")
	other.Indexes = append(other.Indexes, template.Index{Name: "gsi9", Key: other.Key})
	c.Tables[table] = other
	_, err = engine.DynamoDB(t.Context(), c)
	saying(t, err, "index gsi9 has the key")
}

func TestDynamoDBThatCannotStart(t *testing.T) {
	c := config(t, t.TempDir())
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	c.Port = l.Addr().(*net.TCPAddr).Port
	_, err = engine.DynamoDB(t.Context(), c)
	saying(t, err, "is not free")

	c = config(t, t.TempDir())
	must(t, os.MkdirAll(c.DBPath, 0o755)) // a folder in the place of the file
	_, err = engine.DynamoDB(t.Context(), c)
	saying(t, err, "dynoxide ended before it was ready")

	c.Binary = filepath.Join(t.TempDir(), "none")
	_, err = engine.DynamoDB(t.Context(), c)
	saying(t, err, "start dynoxide")
}

func TestDynamoDBEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := config(t, t.TempDir())
	c.Tables, c.Log = nil, ""
	db, err := engine.DynamoDB(t.Context(), c)
	must(t, err)
	db.Kill()
	must(t, db.Restart(ctx)) // its own context counts from here
	cancel()
	<-db.Done()
	if !gone(db.PID()) {
		t.Errorf("dynoxide %d is still there", db.PID())
	}
	must(t, db.Close()) // again does no harm
}
