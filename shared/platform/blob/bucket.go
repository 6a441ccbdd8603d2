// Package blob is the S3 bucket behind the archive. It signs its two requests
// itself: the SDK's own S3 client makes the function a megabyte larger, for a PUT
// and a GET.
package blob

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/raw"
)

const (
	// attempts is how often a request is made before it is given up.
	attempts = 3
	// DefaultTimeout bounds one attempt: all of them must end well before the
	// request's own deadline of 25 s.
	DefaultTimeout = 5 * time.Second
	// pause is how long the second attempt waits; the third waits twice as long.
	pause = 50 * time.Millisecond
)

// Client sends HTTP requests. It must not follow redirects: a signature is good
// for one host.
type Client interface {
	Do(req *http.Request) (*http.Response, error)
}

// Bucket is one S3 bucket.
type Bucket struct {
	Name        string
	Region      string
	Endpoint    string // of another S3, asked path-style; empty is AWS's own
	Credentials aws.CredentialsProvider
	HTTP        Client
	Now         func() time.Time
	Timeout     time.Duration // of one attempt; 0 is DefaultTimeout
}

var _ raw.Blobs = (*Bucket)(nil)

// nameForm bounds the names of objects: such a path is the same written and
// escaped, so that what is signed is what is sent.
var nameForm = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// Put stores an object whole. The bucket refuses a body that differs from what
// was signed, by its length, its SHA-256 and its MD5 (the last is the one digest
// every S3 looks at). Storing the same again changes nothing, so an attempt
// whose answer was lost is simply repeated.
func (b *Bucket) Put(ctx context.Context, name string, body []byte) error {
	digest := md5.Sum(body)
	header := http.Header{
		"Content-Type": {"application/octet-stream"}, // whatever it claims to be, nothing may render it
		"Content-Md5":  {base64.StdEncoding.EncodeToString(digest[:])},
	}
	_, err := b.request(ctx, http.MethodPut, name, header, body, 0)
	return err
}

// Get returns an object of at most limit bytes.
func (b *Bucket) Get(ctx context.Context, name string, limit int) ([]byte, error) {
	return b.request(ctx, http.MethodGet, name, http.Header{}, nil, limit)
}

// request makes one request, again where another attempt may help. What it
// cannot do has the code dependency_unavailable.
func (b *Bucket) request(ctx context.Context, method, name string, header http.Header, body []byte, limit int) ([]byte, error) {
	target, err := b.url(name)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		answer, again, err := b.attempt(ctx, method, target, header, body, limit)
		if err == nil {
			return answer, nil
		}
		if !again || try == attempts || !wait(ctx, time.Duration(try)*pause) {
			return nil, fault.Because(fmt.Errorf("%s object: %w", method, err), fault.DependencyUnavailable, "The artifact store cannot be reached. Try again.")
		}
	}
}

// url is where an object lies.
func (b *Bucket) url(name string) (string, error) {
	if !nameForm().MatchString(name) {
		return "", fmt.Errorf("object name %.80q: want letters, digits, dots, hyphens and slashes", name)
	}
	if b.Endpoint == "" {
		return "https://" + b.Name + ".s3." + b.Region + ".amazonaws.com/" + name, nil
	}
	joined, err := url.JoinPath(b.Endpoint, b.Name, name)
	if err != nil {
		return "", fmt.Errorf("endpoint of the artifact store: %w", err)
	}
	return joined, nil
}

// attempt makes one request and says whether another one may do better.
func (b *Bucket) attempt(ctx context.Context, method, target string, header http.Header, body []byte, limit int) (answer []byte, again bool, err error) {
	timeout := b.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	req.Header = header.Clone()
	if err := b.sign(ctx, req, body); err != nil {
		return nil, false, err
	}
	res, err := b.HTTP.Do(req)
	if err != nil {
		return nil, true, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		again := res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusConflict
		return nil, again, fmt.Errorf("status %d %s", res.StatusCode, reason(res.Body))
	}
	answer, err = readAll(res, limit)
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("read answer: %w", err)
	case method == http.MethodGet && len(answer) > limit:
		return nil, false, fmt.Errorf("the object has more than %d bytes", limit)
	}
	return answer, false, nil
}

// readAll reads an answer of at most limit bytes, and one byte of a longer one. It
// makes room for the length that is announced: growing into it would take a
// multiple of a large artifact's memory.
func readAll(res *http.Response, limit int) ([]byte, error) {
	body := io.LimitReader(res.Body, int64(limit)+1)
	if res.ContentLength <= 0 || res.ContentLength > int64(limit) {
		return io.ReadAll(body)
	}
	answer := bytes.NewBuffer(make([]byte, 0, int(res.ContentLength)+bytes.MinRead))
	_, err := answer.ReadFrom(body)
	return answer.Bytes(), err
}

// sign signs the request. S3 wants the hash of the body as a header and, unlike
// every other service, the path as it stands.
func (b *Bucket) sign(ctx context.Context, req *http.Request, body []byte) error {
	credentials, err := b.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, credentials, req, hash, "s3", b.Region, b.Now().UTC()); err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	return nil
}

// codeForm finds the code in an S3 error; the rest of it may quote the request.
var codeForm = lazy.Pattern(`<Code>([A-Za-z0-9]{1,64})</Code>`)

func reason(body io.Reader) string {
	text, err := io.ReadAll(io.LimitReader(body, 4<<10))
	if found := codeForm().FindSubmatch(text); err == nil && found != nil {
		return string(found[1])
	}
	return "without a code"
}

// wait lets time pass, and says whether the caller still wants the answer.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
