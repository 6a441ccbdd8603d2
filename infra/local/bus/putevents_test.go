package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"github.com/robotmoney/mcp/infra/local/bus"
)

// client is the real SDK against b over a real connection.
func client(t *testing.T, b *bus.Bus, attempts int) *eventbridge.Client {
	t.Helper()
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return eventbridge.New(eventbridge.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(s.URL), RetryMaxAttempts: attempts,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func entry(kind, detail string) types.PutEventsRequestEntry {
	return types.PutEventsRequestEntry{
		Source: aws.String("robotmoney.mcp"), DetailType: aws.String(kind), Detail: aws.String(detail), EventBusName: aws.String("main"),
	}
}

func send(t *testing.T, c *eventbridge.Client, entries ...types.PutEventsRequestEntry) *eventbridge.PutEventsOutput {
	t.Helper()
	out, err := c.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestAcceptedEntryIsWrittenAndDelivered(t *testing.T) {
	file, f, other := filepath.Join(t.TempDir(), "events.jsonl"), &function{}, &function{}
	b := start(t, file, bus.Config{
		Rules: []bus.Rule{
			{Name: "r", Pattern: []byte(`{"source":["robotmoney.mcp"],"detail":{"kind":["intent"]}}`), Targets: []bus.Target{{Name: "t", Function: f}}},
			{Name: "o", Pattern: []byte(`{"source":["robotmoney.other"]}`), Targets: []bus.Target{{Name: "o", Function: other}}},
		},
		Region: "eu-central-1", AccountID: "123456789012",
	})
	full := entry("intent.proposed", "{\n  \"kind\": \"intent\", \"note\": \"a<b & \u2028\", \"n\": 1.10}")
	full.Resources, full.Time = []string{"arn:x"}, aws.Time(noon.Add(1500*time.Millisecond))
	byARN := entry("plain", `{}`)
	byARN.EventBusName = aws.String("arn:aws:events:us-east-1:000000000000:event-bus/main")
	out := send(t, client(t, b, 1), full, byARN)
	equal(t, "failed", out.FailedEntryCount, 0)
	want := []string{
		`{"version":"0","id":"` + *out.Entries[0].EventId + `","detail-type":"intent.proposed","source":"robotmoney.mcp","account":"123456789012",` +
			`"time":"2025-09-30T12:00:01Z","region":"eu-central-1","resources":["arn:x"],"detail":{"kind":"intent","note":"a<b & ` + "\u2028" + `","n":1.10}}`,
		`{"version":"0","id":"` + *out.Entries[1].EventId + `","detail-type":"plain","source":"robotmoney.mcp","account":"123456789012",` +
			`"time":"2025-09-30T12:00:00Z","region":"eu-central-1","resources":[],"detail":{}}`,
	}
	// The reply is out, so the file must be complete.
	equal(t, "file", strings.Join(lines(t, file), "\n"), strings.Join(want, "\n"))
	settle(t, b)
	equal(t, "delivered", strings.Join(f.calls(), "\n"), want[0])
	equal(t, "delivered to the other", len(other.calls()), 0)
}

func TestEntryErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	c := client(t, start(t, file, bus.Config{}), 1)
	without := func(change func(*types.PutEventsRequestEntry)) types.PutEventsRequestEntry {
		e := entry("x", `{}`)
		change(&e)
		return e
	}
	for _, c2 := range []struct {
		name, code string
		entry      types.PutEventsRequestEntry
	}{
		{"no source", "InvalidArgument", without(func(e *types.PutEventsRequestEntry) { e.Source = nil })},
		{"empty source", "InvalidArgument", without(func(e *types.PutEventsRequestEntry) { e.Source = aws.String("") })},
		{"no type", "InvalidArgument", without(func(e *types.PutEventsRequestEntry) { e.DetailType = nil })},
		{"no detail", "InvalidArgument", without(func(e *types.PutEventsRequestEntry) { e.Detail = nil })},
		{"long type", "InvalidArgument", entry(strings.Repeat("x", 129), `{}`)},
		{"source of AWS", "NotAuthorizedForSourceException", without(func(e *types.PutEventsRequestEntry) { e.Source = aws.String("aws.events") })},
		{"no JSON", "MalformedDetail", entry("x", `{"a":`)},
		{"a list", "MalformedDetail", entry("x", `[]`)},
		{"two values", "MalformedDetail", entry("x", `{}{}`)},
		{"too deep", "MalformedDetail", entry("x", strings.Repeat(`{"a":`, 1001)+`"]}"`+strings.Repeat(`}`, 1001))},
		{"far too deep", "MalformedDetail", entry("x", strings.Repeat(`{"a":`, 9999)+`1`+strings.Repeat(`}`, 9999))},
	} {
		out := send(t, c, entry("good", `{}`), c2.entry, entry("good", `{}`))
		e := out.Entries
		if out.FailedEntryCount != 1 || e[0].EventId == nil || e[2].EventId == nil || e[1].EventId != nil || aws.ToString(e[1].ErrorCode) != c2.code {
			t.Errorf("%s: %d failed, %+v", c2.name, out.FailedEntryCount, e)
		}
	}
	if n := len(lines(t, file)); n != 22 {
		t.Errorf("%d events in the file, want 22", n)
	}
	send(t, c, entry("deep enough", strings.Repeat(`{"a":`, 1000)+`"\"{[{["`+strings.Repeat(`}`, 1000)))
}

func TestUnknownBusIsDropped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	c := client(t, start(t, file, bus.Config{}), 1)
	for _, name := range []*string{nil, aws.String("mian"), aws.String("arn:aws:events:us-east-1:000000000000:event-bus/default")} {
		e := entry("x", `{}`)
		e.EventBusName = name
		if out := send(t, c, e); out.FailedEntryCount != 0 || aws.ToString(out.Entries[0].EventId) == "" {
			t.Errorf("%s: %+v", aws.ToString(name), out)
		}
	}
	equal(t, "file", strings.Join(lines(t, file), ""), "")
}

func TestCallLimits(t *testing.T) {
	c := client(t, start(t, "", bus.Config{}), 1)
	many := make([]types.PutEventsRequestEntry, 11)
	for i := range many {
		many[i] = entry("x", `{}`)
	}
	_, err := c.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: many})
	wantCode(t, "11 entries", err, "ValidationException")
	_, err = c.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{}})
	wantCode(t, "no entries", err, "ValidationException")
	send(t, c, many[:10]...)

	// 14 for the time, the source, the type, a resource, and a detail of quotes
	// that JSON escapes: they count once.
	full := entry("type", "")
	full.Time, full.Resources = aws.Time(noon), []string{"arn"}
	rest := bus.MaxBytes - 14 - len("robotmoney.mcp") - len("type") - len("arn") - len(`{"a":""}`)
	full.Detail = aws.String(`{"a":"` + strings.Repeat("é", rest/2) + strings.Repeat("x", rest%2) + `"}`)
	send(t, c, full)
	full.Resources = []string{"arn1"}
	_, err = c.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{full}})
	wantCode(t, "one byte more", err, "ValidationException")
}

func TestProtocol(t *testing.T) {
	b := start(t, "", bus.Config{})
	good := `{"Entries":[{"Source":"a","DetailType":"b","Detail":"{}"}]}`
	for _, c := range []struct{ name, method, target, auth, body, code string }{
		{"wrong operation", "POST", "AWSEvents.PutRule", "AWS4-HMAC-SHA256 x", good, "UnknownOperationException"},
		{"no operation", "GET", "", "", "", "UnknownOperationException"},
		{"unsigned", "POST", "AWSEvents.PutEvents", "", good, "MissingAuthenticationTokenException"},
		{"no JSON", "POST", "AWSEvents.PutEvents", "AWS4-HMAC-SHA256 x", `{`, "SerializationException"},
		{"wrong shape", "POST", "AWSEvents.PutEvents", "AWS4-HMAC-SHA256 x", `{"Entries":[{"Source":1}]}`, "SerializationException"},
	} {
		r := httptest.NewRequest(c.method, "/", strings.NewReader(c.body))
		r.Header.Set("X-Amz-Target", c.target)
		r.Header.Set("Authorization", c.auth)
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"__type":"`+c.code+`"`) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
}

func TestRefuse(t *testing.T) {
	b := start(t, "", bus.Config{})
	b.Refuse(1)
	_, err := client(t, b, 1).PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{entry("x", `{}`)}})
	wantCode(t, "refused", err, "ThrottlingException")
	b.Refuse(1)
	send(t, client(t, b, 2), entry("x", `{}`)) // the SDK takes it as worth a retry
	b.Refuse(-1)
	for range 3 {
		if w := call(b, `{}`); !strings.Contains(w.Body.String(), "ThrottlingException") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	b.Refuse(0)
	put(t, b, "x")
}

func TestDelay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	b := start(t, file, bus.Config{})
	b.Delay(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client(t, b, 1).PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{entry("late", `{}`)}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	b.Delay(20 * time.Millisecond)
	begin := time.Now()
	put(t, b, "x")
	if waited := time.Since(begin); waited < 20*time.Millisecond {
		t.Errorf("waited %s", waited)
	}
	b.Delay(0)
	equal(t, "accepted", kinds(t, lines(t, file)), "x")
}

func TestHalfAccept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	b := start(t, file, bus.Config{})
	c := client(t, b, 1)
	b.HalfAccept(true)
	todo := []types.PutEventsRequestEntry{entry("a", `{}`), entry("b", `{}`), entry("c", `{}`)}
	for calls := 0; len(todo) > 0; calls++ {
		if calls > 5 {
			t.Fatal("sending the failed ones again never ends")
		}
		var again []types.PutEventsRequestEntry
		for i, e := range send(t, c, todo...).Entries {
			if e.ErrorCode != nil {
				equal(t, "code", *e.ErrorCode, "InternalFailure")
				again = append(again, todo[i])
			}
		}
		todo = again
	}
	b.HalfAccept(false)
	put(t, b, "d", "e")
	equal(t, "accepted", kinds(t, lines(t, file)), "b a c d e")
}

func TestLoseReply(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	b := start(t, file, bus.Config{})
	b.LoseReply(1)
	if _, err := client(t, b, 1).PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{entry("once", `{}`)}}); err == nil {
		t.Error("no error without a reply")
	}
	b.LoseReply(1)
	send(t, client(t, b, 2), entry("twice", `{}`))
	equal(t, "accepted", kinds(t, lines(t, file)), "once twice twice")
}

// Callers at once: each envelope is one whole line, each call's are together.
func TestConcurrentCallsKeepTheirOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	b := start(t, file, bus.Config{})
	done := make(chan struct{})
	for caller := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range 20 {
				var entries []string
				for i := range 3 {
					entries = append(entries, fmt.Sprintf(`{"EventBusName":"main","Source":"s","DetailType":"%d","Detail":"{\"n\":%d}"}`, caller, n*3+i))
				}
				call(b, `{"Entries":[`+strings.Join(entries, ",")+`]}`)
			}
		}()
	}
	for range 8 {
		<-done
	}
	next := map[string]int{}
	all := lines(t, file)
	equal(t, "lines", len(all), 8*60)
	for i, line := range all {
		var e struct {
			Caller string `json:"detail-type"`
			Detail struct{ N int }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Detail.N != next[e.Caller] || e.Detail.N%3 != i%3 {
			t.Fatalf("line %d: caller %s has %d, want %d", i, e.Caller, e.Detail.N, next[e.Caller])
		}
		next[e.Caller]++
	}
}
