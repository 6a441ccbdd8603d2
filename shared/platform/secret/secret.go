// Package secret fetches a secret of Secrets Manager when it is first needed.
package secret

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// minimum is how many bytes a key must have at least.
const minimum = 32

// API is the part of the Secrets Manager client that is used.
type API interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Key is a key that lies in Secrets Manager. It is fetched once a process: a
// rotation is seen by new processes, and what the old key made is then refused.
type Key struct {
	API API
	ARN string

	mu    sync.Mutex
	value []byte
}

// Get returns the key. When it cannot be fetched the error has the code
// dependency_unavailable, and the next call asks again. A value that is too
// short for a key is an internal error: nobody but the operator can help.
func (k *Key) Get(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value != nil {
		return k.value, nil
	}
	out, err := k.API.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &k.ARN})
	if err != nil {
		return nil, fault.Because(err, fault.DependencyUnavailable, "A key cannot be fetched. Try again.")
	}
	value := []byte(aws.ToString(out.SecretString))
	if len(value) < minimum {
		return nil, fmt.Errorf("the secret has %d bytes, want at least %d", len(value), minimum)
	}
	k.value = value
	return value, nil
}

// Fixed is a key that is known from the start, as in the local stack.
func Fixed(value []byte) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return value, nil }
}
