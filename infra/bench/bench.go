package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
)

// The read every measurement through the stack makes.
const (
	tenantID      = "acme"
	transactionID = "tx_4127"
)

var request = dispatch.Read("brain://ledger/transactions/" + transactionID)

// bench is a run: where the repository is, and the local stack once a part has
// asked for it.
type bench struct {
	repo    string
	folder  string
	running *stack.Stack
	row     key.Key
	ends    []func() // of what else was started
}

// started starts the local stack the first time, in a folder of its own, and
// lets the tenant make as many requests as it likes.
func (b *bench) started(ctx context.Context) (stackfile.Stack, error) {
	if b.running != nil {
		return b.running.File(), nil
	}
	tenant, err := identity.OperatorTenant(tenantID)
	if err != nil {
		return stackfile.Stack{}, err
	}
	b.row = key.Ledger(tenant, id.Transaction, transactionID)
	if err := b.scratch(); err != nil {
		return stackfile.Stack{}, err
	}
	if b.running, err = stack.Start(ctx, stack.Options{Repo: b.repo, Folder: b.folder}); err != nil {
		return stackfile.Stack{}, fmt.Errorf("start the local stack: %w", err)
	}
	file := b.running.File()
	rate := key.Rate(tenant)
	_, err = file.Database().UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &file.Table, Key: keyOf(rate),
		UpdateExpression:          aws.String("SET rate_limit = :n"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: strconv.Itoa(math.MaxInt32)}},
	})
	if err != nil {
		return stackfile.Stack{}, fmt.Errorf("lift the rate: %w", err)
	}
	return file, nil
}

// scratch makes the run's own folder the first time.
func (b *bench) scratch() (err error) {
	if b.folder == "" {
		b.folder, err = os.MkdirTemp("", "bench")
	}
	return err
}

// tableName is the table of an engine that was started alone.
const tableName = "lists"

// engine starts a table engine alone, with its file at path, and its client.
func (b *bench) engine(ctx context.Context, path string) (*dynamodb.Client, func(), error) {
	layout, err := template.Load(filepath.Join(b.repo, "template.yaml"), template.Options{Resolve: template.Logical, Parameters: map[string]string{
		"AWS::Region": stackfile.Region, "AWS::StackName": "bench", "Issuer": "", "JwksUrl": "", "RpcUrls": "", "ChainId": "1", "RegistryAddress": "", "AnchorAddress": "",
	}})
	if err != nil {
		return nil, nil, err
	}
	binaries, err := engine.Install(ctx, filepath.Join(b.repo, stackfile.Root, "npm"))
	if err != nil {
		return nil, nil, err
	}
	database, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: path, Tables: map[string]template.Table{tableName: layout.Tables[0]},
	})
	if err != nil {
		return nil, nil, err
	}
	client := dynamodb.NewFromConfig(stackfile.AWS(), func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = awshttp.New(time.Minute), aws.String(database.Endpoint)
	})
	return client, func() { _ = database.Close() }, nil
}

// close ends what was started.
func (b *bench) close() {
	for _, end := range b.ends {
		end()
	}
	if b.running != nil {
		b.running.Close()
	}
	if b.folder != "" {
		_ = os.RemoveAll(b.folder)
	}
}

func keyOf(k key.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: k.PK}, "sk": &types.AttributeValueMemberS{Value: k.SK}}
}

// environment is what a function with nothing but the AWS clients needs.
func environment(file stackfile.Stack) []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + stackfile.AccessKey, "AWS_SECRET_ACCESS_KEY=" + stackfile.SecretKey,
		"DYNAMODB_ENDPOINT=" + file.DynamoDBEndpoint, "EVENTS_ENDPOINT=" + file.EventsEndpoint,
	}
}

// region is what Lambda sets beside it, and the local stack's pool too.
const region = "AWS_REGION=" + stackfile.Region

// installed is the folder of what the benchmarks build and install.
func (b *bench) installed(name ...string) string {
	return filepath.Join(append([]string{b.repo, stackfile.Root, "bench"}, name...)...)
}

// build compiles a program with the flags the functions are deployed with and
// returns its path. dir is the module's folder.
func (b *bench) build(ctx context.Context, dir, source, name string, env ...string) (string, error) {
	path := b.installed(name, "bootstrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", path, source)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return path, nil
}

// module is the folder of this module.
func (b *bench) module() string { return filepath.Join(b.repo, "infra", "bench") }

// check says whether a reply is the transaction that was asked for: a fast
// refusal must not count as a fast read.
func check(body []byte) error {
	var reply struct {
		Result struct{ Contents []struct{ Text string } }
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	var row struct{ ID string }
	if len(reply.Result.Contents) != 1 || json.Unmarshal([]byte(reply.Result.Contents[0].Text), &row) != nil || row.ID != transactionID {
		return errors.New("the reply is not the row: " + string(body))
	}
	return nil
}
