package blob_test

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
)

const name = "acme/sha256/00ff"

type wire func(*http.Request) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) { return w(req) }

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// bucket is one of a real S3 in this process.
func bucket(t *testing.T) *blob.Bucket {
	t.Helper()
	backend := s3mem.New()
	noError(t, backend.CreateBucket("artifacts"))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return &blob.Bucket{
		Name: "artifacts", Region: "eu-central-1", Endpoint: server.URL, HTTP: awshttp.New(time.Minute), Now: time.Now,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", SessionToken: "session"}, nil
		}),
	}
}

func TestPutThenGet(t *testing.T) {
	b := bucket(t)
	for _, body := range []string{"x", "", strings.Repeat("\x00\xff", 1<<20)} {
		noError(t, b.Put(t.Context(), name, []byte(body)))
		got, err := b.Get(t.Context(), name, len(body))
		noError(t, err)
		equal(t, "body", string(got) == body, true)
		noError(t, b.Put(t.Context(), name, []byte(body))) // again
	}
	noError(t, b.Put(t.Context(), name, []byte("long")))
	if got, err := b.Get(t.Context(), name, 3); err == nil {
		t.Errorf("%q is within 3 bytes", got)
	}
	if got, err := b.Get(t.Context(), "acme/sha256/none", 3); err == nil {
		t.Errorf("%q lies under no name", got)
	}
}

// The engine takes no body that differs from its digest.
func TestADamagedBodyIsRefused(t *testing.T) {
	b := bucket(t)
	next := b.HTTP
	b.HTTP = wire(func(req *http.Request) (*http.Response, error) {
		req.Body = io.NopCloser(strings.NewReader("bytez"))
		return next.Do(req)
	})
	err := b.Put(t.Context(), name, []byte("bytes"))
	equal(t, "code", fault.Of(err).Code, fault.DependencyUnavailable)
	if err == nil || !strings.Contains(fault.Of(err).Cause.Error(), "BadDigest") {
		t.Errorf("cause: %v", err)
	}
	b.HTTP = next
	if got, err := b.Get(t.Context(), name, 100); err == nil {
		t.Errorf("%q was stored", got)
	}
}

// What is sent to AWS: to the bucket's own host, signed over the body's hash and
// every header that counts.
func TestSignedRequest(t *testing.T) {
	b := bucket(t)
	b.Endpoint = ""
	b.Now = func() time.Time { return time.Date(2025, 9, 30, 12, 0, 0, 0, time.UTC) }
	var sent *http.Request
	b.HTTP = wire(func(req *http.Request) (*http.Response, error) {
		sent = req
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	noError(t, b.Put(t.Context(), name, []byte("hi")))
	equal(t, "URL", sent.URL.String(), "https://artifacts.s3.eu-central-1.amazonaws.com/acme/sha256/00ff")
	equal(t, "method", sent.Method, http.MethodPut)
	equal(t, "hash", sent.Header.Get("X-Amz-Content-Sha256"), "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4")
	sum := md5.Sum([]byte("hi"))
	equal(t, "MD5", sent.Header.Get("Content-MD5"), base64.StdEncoding.EncodeToString(sum[:]))
	equal(t, "type", sent.Header.Get("Content-Type"), "application/octet-stream")
	equal(t, "date", sent.Header.Get("X-Amz-Date"), "20250930T120000Z")
	equal(t, "session", sent.Header.Get("X-Amz-Security-Token"), "session")
	authorization := sent.Header.Get("Authorization")
	for _, part := range []string{
		"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20250930/eu-central-1/s3/aws4_request",
		"SignedHeaders=content-length;content-md5;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
	} {
		if !strings.Contains(authorization, part) {
			t.Errorf("authorization %q has no %q", authorization, part)
		}
	}
}

func TestNamesThatAreNone(t *testing.T) {
	b := bucket(t)
	b.HTTP = wire(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("no")
	})
	for _, name := range []string{"", "/", "a//b", "a/", "/a", "a b", "a?x", "a%2fb", "é", "a/../b", "..", "a/."} {
		if err := b.Put(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// A caller that is gone is not waited for.
func TestACallerThatLeaves(t *testing.T) {
	b := bucket(t)
	ctx, leave := context.WithCancel(t.Context())
	asked := 0
	b.HTTP = wire(func(*http.Request) (*http.Response, error) {
		asked++
		leave()
		return nil, errors.New("connection reset by peer")
	})
	equal(t, "code", fault.Of(b.Put(ctx, name, []byte("x"))).Code, fault.DependencyUnavailable)
	equal(t, "attempts", asked, 1)
}
