// Package stackfile is what the local stack tells others of itself: the file
// .local/stack.json, and the keys its chain is run with.
package stackfile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Root is the folder that holds everything the stack installs and keeps.
const Root = ".local"

// Path is where the stack writes its file.
var Path = filepath.Join(Root, "stack.json")

// State is the folder whose loss starts the stack over.
var State = filepath.Join(Root, "state")

// Events is the journal of everything the bus accepted, one JSON a line.
var Events = filepath.Join(Root, "events.jsonl")

// Stack is the running stack as its file describes it.
type Stack struct {
	MCPURL           string            `json:"mcp_url"`
	Issuer           string            `json:"issuer"`
	JWKSURL          string            `json:"jwks_url"`
	RPCURL           string            `json:"rpc_url"`
	Registry         string            `json:"registry"`
	Anchor           string            `json:"anchor"`
	ChainID          uint64            `json:"chain_id"`
	DynamoDBEndpoint string            `json:"dynamodb_endpoint"`
	Table            string            `json:"table"`
	EventsEndpoint   string            `json:"events_endpoint"`
	Bus              string            `json:"bus"`
	S3Endpoint       string            `json:"s3_endpoint"`
	Bucket           string            `json:"blob_bucket"`
	Tokens           map[string]string `json:"tokens"`
}

// Read reads the file of the stack under a folder.
func Read(folder string) (Stack, error) {
	var s Stack
	text, err := os.ReadFile(filepath.Join(folder, Path))
	if err != nil {
		return s, fmt.Errorf("no local stack here (start one with `make run`): %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", Path, err)
	}
	return s, nil
}

// Write replaces the file whole: a reader sees the old one or the new one.
func (s Stack) Write(folder string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", Path, err)
	}
	path := filepath.Join(folder, Path)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Region and the credentials of the local stack: nothing checks them.
const (
	Region    = "us-east-1"
	AccessKey = "local"
	SecretKey = "local"
)

// AWS is the configuration of AWS clients that speak to the local stack.
func AWS() aws.Config {
	return aws.Config{Region: Region, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}, nil
	})}
}

// The keys of the local chain are those of anvil's first accounts, which
// everybody knows: nothing of value may ever belong to them.
const (
	DeployerKey  = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" // deploys, pays for every transaction, names first signers
	PublisherKey = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d" // publishes anchors
)

// LocalKey is a key of the local stack that belongs to a name: a tenant's signer,
// an agent's account. Everybody can compute it.
func LocalKey(of, name string) string {
	return identity.Keccak([]byte("robotmoney local " + of + " " + name)).String()
}

// SignerKey is the key of a tenant's signer: the demo tenants have chosen theirs.
func SignerKey(tenant string) string {
	if chosen, known := SignerKeys[tenant]; known {
		return chosen
	}
	return LocalKey("signer", tenant)
}

// SignerKeys are the keys of the demo tenants' signers.
var SignerKeys = map[string]string{
	"acme":   "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
	"globex": "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
}
