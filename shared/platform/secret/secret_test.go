package secret_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/platform/secret"
)

const arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:cursor"

// manager holds one secret and counts how often it is asked; its first answers
// are failures.
type manager struct {
	value string
	fails int
	asked int
}

func (m *manager) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	m.asked++
	if m.asked <= m.fails {
		return nil, errors.New("throttled")
	}
	if aws.ToString(in.SecretId) != arn {
		return nil, errors.New("no such secret")
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: &m.value}, nil
}

func TestFetchedOnce(t *testing.T) {
	held := &manager{value: strings.Repeat("k", 32)}
	key := &secret.Key{API: held, ARN: arn}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, err := key.Get(context.Background())
			if err != nil || string(got) != held.value {
				t.Errorf("key %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if held.asked != 1 {
		t.Errorf("asked %d times", held.asked)
	}
}

func TestAwayAndBack(t *testing.T) {
	held := &manager{value: strings.Repeat("k", 64), fails: 2}
	key := &secret.Key{API: held, ARN: arn}
	for range 2 {
		if _, err := key.Get(t.Context()); !fault.Is(err, fault.DependencyUnavailable) || strings.Contains(fault.Of(err).Message, "throttled") {
			t.Errorf("error %v", err)
		}
	}
	if got, err := key.Get(t.Context()); err != nil || string(got) != held.value {
		t.Errorf("key %q, %v", got, err)
	}
}

func TestTooShort(t *testing.T) {
	for _, value := range []string{"", strings.Repeat("k", 31)} {
		held := &manager{value: value}
		got, err := (&secret.Key{API: held, ARN: arn}).Get(t.Context())
		if err == nil || !fault.Is(err, fault.Internal) || got != nil || value != "" && strings.Contains(err.Error(), value) {
			t.Errorf("key %q, %v", got, err)
		}
	}
}

func TestFixed(t *testing.T) {
	got, err := secret.Fixed([]byte("abc"))(t.Context())
	if err != nil || string(got) != "abc" {
		t.Errorf("key %q, %v", got, err)
	}
}
