// Package kms signs with a secp256k1 key that lies in AWS KMS and never leaves it.
// It makes its two requests itself: the SDK's client knows fifty and makes a
// function larger for two.
package kms

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

const (
	// attempts is how often a request is made before it is given up. Asking for a
	// signature twice gives two signatures of one digest, either of which is good.
	attempts = 3
	// DefaultTimeout bounds one attempt.
	DefaultTimeout = 5 * time.Second
	// pause is how long the second attempt waits; the third waits twice as long.
	pause = 100 * time.Millisecond
	// maxReply bounds a reply: a signature and a key are a few hundred bytes.
	maxReply = 64 << 10
)

// Client sends HTTP requests.
type Client interface {
	Do(req *http.Request) (*http.Response, error)
}

// Service is KMS of a region.
type Service struct {
	Region      string
	Endpoint    string // of something in KMS's place; empty is AWS's own
	Credentials aws.CredentialsProvider
	HTTP        Client
	Now         func() time.Time
	Timeout     time.Duration // of one attempt; 0 is DefaultTimeout
}

// Signer is one key. It implements tx.Signer.
type Signer struct {
	service *Service
	key     string
	address chain.Address
}

var _ tx.Signer = (*Signer)(nil)

// Open reads the public key of a key id or arn, whose address is then known. A
// key that is not for signing with secp256k1 is an error.
func (s *Service) Open(ctx context.Context, key string) (*Signer, error) {
	var reply struct {
		PublicKey []byte
		KeySpec   string
		KeyUsage  string
	}
	if err := s.call(ctx, "GetPublicKey", map[string]any{"KeyId": key}, &reply); err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	if reply.KeySpec != "ECC_SECG_P256K1" || reply.KeyUsage != "SIGN_VERIFY" {
		return nil, fmt.Errorf("the key is %.40q for %.40q, want ECC_SECG_P256K1 for SIGN_VERIFY", reply.KeySpec, reply.KeyUsage)
	}
	point, err := parsePublicKey(reply.PublicKey)
	if err != nil {
		return nil, err
	}
	return &Signer{service: s, key: key, address: chain.AddressOf(point)}, nil
}

// Address is the account of the key.
func (s *Signer) Address() chain.Address { return s.address }

// Sign has KMS sign a digest as it is. KMS answers with any of the two values of
// s and without v: s is brought into the lower half of the order (EIP-2), and v is
// the one that recovers the key's own address.
func (s *Signer) Sign(ctx context.Context, digest [32]byte) (r, low [32]byte, v byte, err error) {
	var reply struct{ Signature []byte }
	request := map[string]any{"KeyId": s.key, "Message": digest[:], "MessageType": "DIGEST", "SigningAlgorithm": "ECDSA_SHA_256"}
	if err := s.service.call(ctx, "Sign", request, &reply); err != nil {
		return r, low, 0, fmt.Errorf("sign with the key of %s: %w", s.address, err)
	}
	if r, low, err = parseSignature(reply.Signature); err != nil {
		return r, low, 0, fmt.Errorf("sign with the key of %s: %w", s.address, err)
	}
	for v := range byte(2) {
		if by, err := (tx.Signature{R: r, S: low, V: v}).Recover(digest); err == nil && by == s.address {
			return r, low, v, nil
		}
	}
	return r, low, 0, fmt.Errorf("sign with the key of %s: the signature is another key's", s.address)
}

// call makes a request and decodes its reply.
func (s *Service) call(ctx context.Context, operation string, request, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode %s: %w", operation, err)
	}
	for n := 1; ; n++ {
		answer, again, err := s.attempt(ctx, operation, body)
		if err == nil {
			if err := json.Unmarshal(answer, reply); err != nil {
				return fmt.Errorf("%s: the reply is not what was asked for", operation)
			}
			return nil
		}
		if !again || n == attempts || !wait(ctx, pause<<(n-1)) {
			return fmt.Errorf("%s: %w", operation, err)
		}
	}
}

// wait waits and returns false when ctx ends first.
func wait(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt makes a request once. again says that it may succeed another time.
func (s *Service) attempt(ctx context.Context, operation string, body []byte) (answer []byte, again bool, err error) {
	timeout := s.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := s.request(ctx, operation, body)
	if err != nil {
		return nil, false, err
	}
	res, err := s.HTTP.Do(req)
	if err != nil {
		return nil, true, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return nil, true, err
	}
	if res.StatusCode == http.StatusOK {
		return answer, false, nil
	}
	// A refusal names its kind; what it says beside may hold the key's arn.
	var refusal struct {
		Type string `json:"__type"`
	}
	_ = json.Unmarshal(answer, &refusal)
	kind := refusal.Type[strings.LastIndexByte(refusal.Type, '#')+1:]
	again = res.StatusCode >= 500 || strings.HasPrefix(kind, "Throttling")
	return nil, again, fmt.Errorf("HTTP status %d, %.60q", res.StatusCode, kind)
}

// request is a signed request.
func (s *Service) request(ctx context.Context, operation string, body []byte) (*http.Request, error) {
	endpoint := s.Endpoint
	if endpoint == "" {
		endpoint = "https://kms." + s.Region + ".amazonaws.com/"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the endpoint is no URL")
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", "TrentService."+operation)
	credentials, err := s.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), "kms", s.Region, s.Now())
	return req, err
}
