// Package awsclient makes the clients with which a function reaches AWS, or what
// stands in its place in the local stack.
package awsclient

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/environment"
	"github.com/robotmoney/mcp/shared/platform/secret"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// idle is how long a connection may lie unused before it is not used again: a
// function may have been frozen in between, and the other side gone.
const idle = 20 * time.Second

// Account is who a function is on AWS, and where AWS is.
type Account struct {
	Function                                   string // its name, by which metrics and alarms know it
	Region, AccessKey, SecretKey, SessionToken string
	DynamoDB, Events, S3                       string // endpoints in place of AWS's own; empty on AWS
}

// Read reads the variables that Lambda sets, and the endpoints.
func Read(env *environment.Reader) Account {
	return Account{
		Function: env.Get("AWS_LAMBDA_FUNCTION_NAME"),
		Region:   env.Need("AWS_REGION"), AccessKey: env.Need("AWS_ACCESS_KEY_ID"), SecretKey: env.Need("AWS_SECRET_ACCESS_KEY"),
		SessionToken: env.Get("AWS_SESSION_TOKEN"),
		DynamoDB:     env.Get("DYNAMODB_ENDPOINT"), Events: env.Get("EVENTS_ENDPOINT"), S3: env.Get("S3_ENDPOINT"),
	}
}

// Clients makes clients that share their credentials and connections. What a
// function does not ask for is not linked into it.
type Clients struct {
	account Account
	config  aws.Config
	http    *awshttp.Client
}

// Clients of the account. The credentials are in every function's environment,
// so the SDK's chain of other places is not linked at all.
func (a Account) Clients() *Clients {
	return &Clients{account: a, http: awshttp.New(idle), config: aws.Config{
		Region: a.Region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: a.AccessKey, SecretAccessKey: a.SecretKey, SessionToken: a.SessionToken}, nil
		}),
	}}
}

// Table is the DynamoDB table of a name.
func (c *Clients) Table(name string) *table.Table {
	return &table.Table{Name: name, API: dynamodb.NewFromConfig(c.config, func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = c.http, endpoint(c.account.DynamoDB)
	})}
}

// Bus is the EventBridge bus of a name.
func (c *Clients) Bus(name string) *bus.Bus {
	return &bus.Bus{Name: name, API: eventbridge.NewFromConfig(c.config, func(o *eventbridge.Options) {
		o.HTTPClient, o.BaseEndpoint = c.http, endpoint(c.account.Events)
	})}
}

// Bucket is the S3 bucket of a name.
func (c *Clients) Bucket(name string, now func() time.Time) *blob.Bucket {
	return &blob.Bucket{
		Name: name, Region: c.account.Region, Endpoint: c.account.S3, Credentials: c.config.Credentials, HTTP: c.http, Now: now,
	}
}

// Signing is what a service without a client of the SDK is asked with.
func (c *Clients) Signing() (region string, credentials aws.CredentialsProvider, client *awshttp.Client) {
	return c.account.Region, c.config.Credentials, c.http
}

// Secret is a key in Secrets Manager, fetched when it is first asked for.
func (c *Clients) Secret(arn string) func(context.Context) ([]byte, error) {
	keys := secretsmanager.NewFromConfig(c.config, func(o *secretsmanager.Options) { o.HTTPClient = c.http })
	return (&secret.Key{API: keys, ARN: arn}).Get
}

func endpoint(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}
