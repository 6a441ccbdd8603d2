package proposals_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
)

// fate is what becomes of a request between the SDK and the engine.
type fate int

const (
	arrives     fate = iota
	lost             // the engine does it, and nobody hears of it
	unsent           // it never gets there
	collides         // another transaction is in the way
	overtaken        // a condition does not hold any more
	throttled        // the engine has too much to do
	failsInside      // the engine fails
)

// weather is the HTTP layer of the SDK with whatever can go wrong in it. fates
// says what becomes of a write; nil is fair weather. seen is shown each
// transaction that the engine made, once and in the order in which it made them.
type weather struct {
	fates func() fate
	reads func() fate
	seen  func(body []byte)

	mu      sync.Mutex // one transaction at a time, so that their order is known
	applied map[string]bool
	made    atomic.Int32 // transactions the engine made
}

// through is an option that puts the weather into a client, which retries as the
// SDK does by itself, if faster.
func (w *weather) through(o *dynamodb.Options) {
	o.HTTPClient = w
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = 3, time.Millisecond, ratelimit.None
	})
}

// once is through without the SDK's own retries: the caller sees each failure.
func (w *weather) once(o *dynamodb.Options) {
	w.through(o)
	o.RetryMaxAttempts = 1
	o.Retryer = retry.AddWithMaxAttempts(o.Retryer, 1)
}

// Do sends a request, or does not.
func (w *weather) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	write := strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".TransactWriteItems")
	switch f := w.fate(write); f {
	case unsent:
		return nil, errors.New("connection refused")
	case collides:
		return refusal(req, "TransactionCanceledException", "None", "TransactionConflict"), nil
	case overtaken:
		return refusal(req, "TransactionCanceledException", "ConditionalCheckFailed", "None"), nil
	case throttled:
		return refusal(req, "TransactionCanceledException", "ThrottlingError"), nil
	case failsInside:
		res := refusal(req, "InternalServerError")
		res.StatusCode = http.StatusInternalServerError
		return res, nil
	default:
		return w.send(req, body, write, f)
	}
}

func (w *weather) fate(write bool) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case write && w.fates != nil:
		return w.fates()
	case !write && w.reads != nil:
		return w.reads()
	}
	return arrives
}

// send hands a request to the engine.
func (w *weather) send(req *http.Request, body []byte, write bool, f fate) (*http.Response, error) {
	if !write {
		return enginetest.Connections.Do(req)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	res, err := enginetest.Connections.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		return res, err
	}
	w.note(body)
	if f == lost {
		_ = res.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
	return res, nil
}

// note shows a transaction that was made. One that is sent again with the same
// token is answered and not made again.
func (w *weather) note(body []byte) {
	var sent struct{ ClientRequestToken string }
	_ = json.Unmarshal(body, &sent)
	if w.applied == nil {
		w.applied = map[string]bool{}
	}
	if w.applied[sent.ClientRequestToken] {
		return
	}
	w.applied[sent.ClientRequestToken] = true
	w.made.Add(1)
	if w.seen != nil {
		w.seen(body)
	}
}

// refusal is an exception as DynamoDB writes it; codes are the reasons of a
// cancelled transaction.
func refusal(req *http.Request, name string, codes ...string) *http.Response {
	reasons := []map[string]string{}
	for _, code := range codes {
		reasons = append(reasons, map[string]string{"Code": code})
	}
	body, _ := json.Marshal(map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, "message": name, "CancellationReasons": reasons})
	return &http.Response{
		StatusCode: http.StatusBadRequest, Request: req, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
	}
}

// storm draws fates: three of four requests arrive.
func storm(random *rand.Rand) func() fate {
	return func() fate {
		if random.IntN(4) > 0 {
			return arrives
		}
		return lost + fate(random.IntN(int(failsInside)))
	}
}

// drizzle draws fates of reads: one in thirty fails.
func drizzle(random *rand.Rand) func() fate {
	return func() fate {
		if random.IntN(30) > 0 {
			return arrives
		}
		return failsInside
	}
}

// script plays fates one after the other, and then the weather is fair.
func script(fates ...fate) func() fate {
	return func() fate {
		if len(fates) == 0 {
			return arrives
		}
		next := fates[0]
		fates = fates[1:]
		return next
	}
}
