package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/client"
)

// answered is an answer of the endpoint.
type answered struct {
	status int // 0 cuts the connection
	body   string
}

// endpoint answers one request after the other, and keeps what it was
// sent.
func endpoint(t *testing.T, answers ...answered) (url string, sent *[]string) {
	t.Helper()
	sent = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := answers[len(*sent)]
		*sent = append(*sent, string(body))
		if answer.status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("X-Request-Id", "r")
		w.WriteHeader(answer.status)
		_, _ = io.WriteString(w, answer.body)
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

// What is not known is asked again as it was, and what was answered is kept.
func TestRepeats(t *testing.T) {
	url, sent := endpoint(t,
		answered{0, ""},
		answered{500, `{"message":"Internal Server Error"}`},
		answered{503, `{"error":{"code":-32603,"data":{"code":"dependency_unavailable"}}}`},
		answered{200, `{"result":{"structuredContent":{"id":"pi_1","status":"approved","replayed":true}}}`},
	)
	kept := &book{}
	tr := &traffic{url: url, book: kept, fault: "x"}
	d := tr.do(t.Context(), Deed{Kind: Propose, Caller: "agt_a", Key: "k"}, "payment_intent.propose", args{"idempotency_key": "k"})
	var outcomes []string
	for _, try := range d.Tries {
		outcomes = append(outcomes, string(try.Outcome))
	}
	if got := strings.Join(outcomes, " "); got != "unknown unknown open acknowledged" {
		t.Error(got)
	}
	if d.ID != "pi_1" || d.Status != "approved" || !d.Repeated || d.Tenant != "acme" || len(kept.all()) != 1 {
		t.Errorf("%+v", d)
	}
	for _, body := range *sent {
		if body != (*sent)[0] || !json.Valid([]byte(body)) {
			t.Errorf("repeated as %s, was %s", body, (*sent)[0])
		}
	}
}

// What is refused for good is not asked again.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer answered
		code   string
	}{
		"a token":  {answered{401, `{"error":{"code":-32001,"data":{"code":"auth_token_expired"}}}`}, "auth_token_expired"},
		"the tool": {answered{200, `{"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}`}, ofTheTool},
	} {
		t.Run(name, func(t *testing.T) {
			url, sent := endpoint(t, c.answer)
			d := (&traffic{url: url, book: &book{}}).do(t.Context(), Deed{}, "x", args{})
			if len(*sent) != 1 || !d.never() || d.last().Code != c.code {
				t.Errorf("%d requests, %+v", len(*sent), d.Tries)
			}
		})
	}
}

// A reply that is none of the endpoint's says nothing of what became of the
// request.
func TestJudge(t *testing.T) {
	if got := judge(client.Reply{Status: 502}, client.Tool{}, nil); got.Outcome != Unknown {
		t.Errorf("%+v", got)
	}
}

func TestCents(t *testing.T) {
	for text, want := range map[string]cents{"0": 0, "12": 12_00, "12.3": 12_30, "25000.01": 25_000_01, "-3.07": -3_07} {
		got, err := parseCents(text)
		if err != nil || got != want {
			t.Errorf("%s: %d %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1.234", "x", "1.x"} {
		if got, err := parseCents(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
	if got := cents(-3_07).String(); got != "-3.07" {
		t.Error(got)
	}
}
