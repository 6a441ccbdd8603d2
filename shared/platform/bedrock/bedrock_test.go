package bedrock_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/bedrock"
)

const model = "anthropic.claude-test-v1:0"

// names are those of a small ledger.
type names struct{}

func (names) Accounts(context.Context, question.Asked) ([]ledger.Account, error) {
	return []ledger.Account{{Meta: ledger.Meta{ID: "acct_1"}, Name: "Operating", Currency: "USD", Status: "active"}}, nil
}

func (names) Counterparties(_ context.Context, _ question.Asked, text string) ([]ledger.Counterparty, error) {
	if strings.Contains("datadog", text) {
		return []ledger.Counterparty{{Meta: ledger.Meta{ID: "cp_datadog"}, Name: "Datadog"}}, nil
	}
	return nil, nil
}

func (names) Categories(context.Context, question.Asked) ([]question.Category, error) {
	return []question.Category{{Name: "travel", Out: true}}, nil
}

var credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", SessionToken: "token"}, nil
})

var moment = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// stub is Bedrock's HTTP API with one answer.
func stub(t *testing.T, answer http.HandlerFunc) *bedrock.Planner {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return &bedrock.Planner{
		Model: model, Region: "eu-central-1", Endpoint: server.URL, Credentials: credentials, HTTP: awshttp.New(time.Second),
		Now: func() time.Time { return moment }, Rules: question.Rules{Names: names{}},
	}
}

// drafting answers with a draft in the tool's input.
func drafting(draft string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"output":{"message":{"role":"assistant","content":[{"text":"Sure: it is $1,000,000."},{"toolUse":{"toolUseId":"t1","name":"plan","input":%s}}]}},"stopReason":"tool_use","usage":{"inputTokens":812,"outputTokens":46,"totalTokens":858}}`, draft)
	}
}

func plan(t *testing.T, p *bedrock.Planner, text string) (question.Planned, error) {
	t.Helper()
	tenant, err := identity.OperatorTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan(t.Context(), question.Asked{Tenant: tenant, Text: text, AsOf: moment})
}

// TestGood: a draft becomes a plan by the model's name, with the tokens it took.
func TestGood(t *testing.T) {
	for text, c := range map[string]struct {
		draft string
		want  question.Plan
	}{
		"What was the damage for travel in August?": {`{"measure":"spending","category":"travel"}`,
			question.Plan{Measure: question.Spending, Entity: "transaction", Order: "largest", Filters: question.Filters{Category: "travel"}, Period: &question.Period{From: "2025-08-01", Until: "2025-09-01", Label: "August 2025"}}},
		"what did the Datadog folks take from us": {`{"measure":"spending","counterparty":"Datadog","from":"2025-01-01","until":"2025-10-01"}`,
			question.Plan{Measure: question.Spending, Entity: "transaction", Order: "largest", Filters: question.Filters{CounterpartyID: "cp_datadog"}, Period: &question.Period{From: "2025-01-01", Until: "2025-10-01", Label: "2025-01-01 to 2025-09-30"}}},
		"how flush are we": {`{"measure":"cash"}`, question.Plan{Measure: question.Cash, Entity: "account", Grouping: "account", Order: "largest"}},
		// What the rules read of a period, the model does not write.
		"the 3 heftiest things in July": {`{"measure":"largest","direction":"outflow","limit":3,"from":"1999-01-01","until":"1999-02-01"}`,
			question.Plan{Measure: question.Largest, Entity: "transaction", Order: "largest", Limit: 3, Filters: question.Filters{Direction: "outflow"}, Period: &question.Period{From: "2025-07-01", Until: "2025-08-01", Label: "July 2025"}}},
	} {
		got, err := plan(t, stub(t, drafting(c.draft)), text)
		if err != nil || got.Model != model || got.Usage != (question.Usage{InputTokens: 812, OutputTokens: 46}) {
			t.Errorf("%s: %+v, %v", text, got, err)
			continue
		}
		have, _ := json.Marshal(got.Plan)
		want, _ := json.Marshal(c.want)
		if string(have) != string(want) {
			t.Errorf("%s:\n%s, want\n%s", text, have, want)
		}
	}
}

// TestBad: whatever the model answers, the rules plan what they can read, and
// the tokens are reported.
func TestBad(t *testing.T) {
	const text = "What is our cash position?" // the rules read it
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "I think it is $5") },
		"an error":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"a failure": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"nothing":   func(http.ResponseWriter, *http.Request) {},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"a":"`+strings.Repeat("x", 100_000)+`"}`)
		},
		"no tool": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"output":{"message":{"content":[{"text":"cash is $5"}]}}}`)
		},
		"another tool": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"output":{"message":{"content":[{"toolUse":{"name":"pay","input":{}}}]}}}`)
		},
		"an unknown measure":        drafting(`{"measure":"execute_payment"}`),
		"unclear":                   drafting(`{"measure":"unclear"}`),
		"an unknown member":         drafting(`{"measure":"cash","answer":"$5"}`),
		"a number for a name":       drafting(`{"measure":"cash","account":7}`),
		"a name nobody said":        drafting(`{"measure":"spending","counterparty":"Datadog","from":"2025-09-01","until":"2025-10-01"}`),
		"an invoice nobody said":    drafting(`{"measure":"invoice","invoice_number":"INV-2025-0001"}`),
		"a limit nobody said":       drafting(`{"measure":"transactions","limit":50}`),
		"a key for a currency":      drafting(`{"measure":"cash","currency":"USD#outflow"}`),
		"a period that is none":     drafting(`{"measure":"net","from":"2025-10-01","until":"2025-09-01"}`),
		"a draft that is no object": drafting(`"cash"`),
	} {
		var why error
		p := stub(t, answer)
		p.Failed = func(_ context.Context, err error) { why = err }
		got, err := plan(t, p, text)
		if err != nil || got.Plan.Measure != question.Cash || got.Model != question.RulesModel || why == nil {
			t.Errorf("%s: %+v, %v (%v)", name, got, err, why)
		}
	}
	got, err := plan(t, stub(t, drafting(`{"measure":"unclear"}`)), "Who painted the ceiling?")
	var unanswered *question.Unanswered
	if !errors.As(err, &unanswered) || got.Usage.InputTokens != 812 || got.Model != question.RulesModel {
		t.Errorf("nobody reads it: %+v, %v", got, err)
	}
}

// TestHostile: what the question leaves out or asks to do is not planned over by
// a model that would.
func TestHostile(t *testing.T) {
	asked := 0
	willing := func(w http.ResponseWriter, r *http.Request) {
		asked++
		drafting(`{"measure":"spending","from":"2025-09-01","until":"2025-10-01"}`)(w, r)
	}
	for text, reason := range map[string]string{
		"Pay Datadog now": "payment_intent.propose", "please wire 500 dollars": "payment_intent.propose",
	} {
		if got, err := plan(t, stub(t, willing), text); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if asked != 0 {
		t.Errorf("commands reached the model %d times", asked)
	}
	for _, text := range []string{"spending in September except travel", "what did we shell out, ignoring Datadog"} {
		if got, err := plan(t, stub(t, willing), text); err == nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestSlow: a model that does not answer in time is not waited for.
func TestSlow(t *testing.T) {
	gone := make(chan struct{})
	p := stub(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	})
	defer close(gone)
	p.Timeout = 30 * time.Millisecond
	got, err := plan(t, p, "What is our cash position?")
	if err != nil || got.Plan.Measure != question.Cash || got.Model != question.RulesModel {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRequest: what is sent is what the Converse API takes, signed, with the
// question and the date and nothing else of the tenant.
func TestRequest(t *testing.T) {
	p := stub(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method != http.MethodPost || r.URL.EscapedPath() != "/model/anthropic.claude-test-v1%3A0/converse" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL.EscapedPath(), r.Header)
		}
		signed(t, r, body)
		var sent struct {
			System   []struct{ Text string }
			Messages []struct {
				Role    string
				Content []struct{ Text string }
			}
			InferenceConfig struct {
				Temperature *float64
				MaxTokens   int
			}
			ToolConfig struct {
				Tools []struct {
					ToolSpec struct {
						Name        string
						InputSchema struct{ JSON map[string]any }
					}
				}
				ToolChoice struct{ Tool struct{ Name string } }
			}
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Error(err)
		}
		c := sent.ToolConfig
		switch {
		case len(sent.Messages) != 1 || sent.Messages[0].Role != "user" || sent.Messages[0].Content[0].Text != "how flush are we":
			t.Errorf("messages %+v", sent.Messages)
		case sent.InferenceConfig.Temperature == nil || *sent.InferenceConfig.Temperature != 0 || sent.InferenceConfig.MaxTokens == 0:
			t.Errorf("inference %+v", sent.InferenceConfig)
		case len(c.Tools) != 1 || c.Tools[0].ToolSpec.Name != "plan" || c.ToolChoice.Tool.Name != "plan" || c.Tools[0].ToolSpec.InputSchema.JSON["additionalProperties"] != false:
			t.Errorf("tools %+v", c)
		case !strings.Contains(sent.System[0].Text, "Tuesday, 30 September 2025"):
			t.Errorf("system %q", sent.System[0].Text)
		}
		for _, secret := range []string{"acme", "acct_1", "Operating", "AKIDEXAMPLE"} {
			if strings.Contains(string(body), secret) {
				t.Errorf("the model is told %s", secret)
			}
		}
		drafting(`{"measure":"cash"}`)(w, r)
	})
	if got, err := plan(t, p, "how flush are we"); err != nil || got.Model != model {
		t.Errorf("%+v, %v", got, err)
	}
}

// signed signs what came anew and compares.
func signed(t *testing.T, r *http.Request, body []byte) {
	t.Helper()
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.EscapedPath(), strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	again.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	again.Header.Set("Accept", r.Header.Get("Accept"))
	c, _ := credentials(context.Background())
	sum := sha(body)
	if err := v4.NewSigner().SignHTTP(t.Context(), c, again, sum, "bedrock", "eu-central-1", moment); err != nil {
		t.Fatal(err)
	}
	if r.Header.Get("Authorization") != again.Header.Get("Authorization") || r.Header.Get("X-Amz-Security-Token") != "token" {
		t.Errorf("signed %q, want %q", r.Header.Get("Authorization"), again.Header.Get("Authorization"))
	}
}

func sha(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
