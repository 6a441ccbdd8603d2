package awshttp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/platform/awshttp"
)

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

// hasty is an endpoint that applies a write and begins to answer while the
// request's last bytes are on their way, and ends its answer when it has them.
// It counts what it applied.
type hasty struct {
	net.Listener
	mu      sync.Mutex
	applied int
	open    []net.Conn
}

func newHasty(t *testing.T) *hasty {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	h := &hasty{Listener: l}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			h.open = append(h.open, conn)
			h.mu.Unlock()
			all.Go(func() { h.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		h.mu.Lock()
		for _, conn := range h.open {
			_ = conn.Close()
		}
		h.mu.Unlock()
		all.Wait()
	})
	return h
}

func (h *hasty) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		h.mu.Lock()
		h.applied++
		h.mu.Unlock()
		if _, err := fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n"); err != nil {
			return
		}
		if n, err := io.Copy(io.Discard, req.Body); err != nil || n != req.ContentLength {
			return
		}
		if _, err := fmt.Fprint(conn, "{}"); err != nil {
			return
		}
	}
}

func (h *hasty) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.applied
}

// TestLostReply writes to an endpoint that answers early. A reply that is lost
// makes the SDK write again, which shows as a count above the number of calls:
// with the SDK's own client it does.
func TestLostReply(t *testing.T) {
	h := newHasty(t)
	db := dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://" + h.Addr().String()), HTTPClient: awshttp.New(20 * time.Second),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	const writers, each = 4, 4
	// Longer than what the sockets hold, as 4 MB transactions are.
	item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: strings.Repeat("x", 4<<20)}}
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("main"), Item: item}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	equal(t, "writes applied", h.count(), writers*each)
}

// once is a body that may be read once, closed once, and tells of it.
type once struct {
	io.Reader
	closed int
}

func (o *once) Close() error {
	o.closed++
	return nil
}

func TestBodyCanBeSentAgain(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, string(body))
		equal(t, "length", r.ContentLength, int64(len(body)))
		equal(t, "encoded", len(r.TransferEncoding), 0)
	}))
	defer server.Close()
	client := awshttp.New(time.Minute)
	for name, content := range map[string]string{"small": "{}", "large": strings.Repeat("x", 1<<20), "empty": ""} {
		t.Run(name, func(t *testing.T) {
			got = nil
			body := &once{Reader: strings.NewReader(content)}
			req, err := http.NewRequest(http.MethodPost, server.URL, body)
			noError(t, err)
			res, err := client.Do(req)
			noError(t, err)
			noError(t, res.Body.Close())
			equal(t, "sent", strings.Join(got, "|"), content)
			equal(t, "times the caller's body was closed", body.closed, 1)
			again, err := req.GetBody()
			noError(t, err)
			second, err := io.ReadAll(again)
			noError(t, err)
			equal(t, "body anew", bytes.Equal(second, []byte(content)), true)
		})
	}
}

func TestNoBody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		equal(t, "length", r.ContentLength, int64(0))
	}))
	defer server.Close()
	for _, body := range []io.Reader{nil, http.NoBody} {
		req, err := http.NewRequest(http.MethodGet, server.URL, body)
		noError(t, err)
		res, err := awshttp.New(time.Minute).Do(req)
		noError(t, err)
		noError(t, res.Body.Close())
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A body that cannot be read is not sent in part.
func TestBrokenBody(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	req, err := http.NewRequest(http.MethodPost, server.URL, broken{})
	noError(t, err)
	if res, err := awshttp.New(time.Minute).Do(req); err == nil {
		_ = res.Body.Close()
		t.Error("sent")
	}
	equal(t, "requests", asked, 0)
}
