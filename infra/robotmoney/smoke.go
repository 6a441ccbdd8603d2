package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// check is one thing smoke looks at.
type check struct {
	Name string `json:"check"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
}

// smoke checks what only a deployed endpoint can show: that the documents are
// where clients look, that the challenge survives the gateway, and that one
// read gets through.
func smoke(ctx context.Context, c *call) error {
	target := c.flags.String("url", "", "the endpoint; empty means the local stack's")
	bearer := c.flags.String("token", "", "a token with payment_intent:propose; empty means the local stack's agent, or no read")
	if err := c.parse(0); err != nil {
		return err
	}
	if *target == "" {
		stack, err := stackfile.Read(".")
		if err != nil {
			return err
		}
		*target = stack.MCPURL
		if *bearer == "" {
			*bearer = stack.Tokens["agent"]
		}
	}
	u, err := url.Parse(*target)
	if err != nil || u.Host == "" {
		return usageError("--url is no URL")
	}
	s := smoker{client: &http.Client{Timeout: 30 * time.Second}, endpoint: u, token: *bearer}
	checks := s.run(ctx)
	var lines [][2]string
	failed := 0
	for _, one := range checks {
		word := "ok"
		if !one.OK {
			word, failed = "FAILED", failed+1
		}
		lines = append(lines, [2]string{word, strings.TrimSuffix(one.Name+": "+one.Note, ": ")})
	}
	if err := c.print(checks, lines...); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(checks))
	}
	return nil
}

type smoker struct {
	client   *http.Client
	endpoint *url.URL
	token    string
}

const wellKnown = "/.well-known/oauth-protected-resource"

func (s smoker) run(ctx context.Context) []check {
	origin := s.endpoint.Scheme + "://" + s.endpoint.Host
	var checks []check
	add := func(name string, err error) {
		one := check{Name: name, OK: err == nil}
		if err != nil {
			one.Note = err.Error()
		}
		checks = append(checks, one)
	}
	add("healthz answers", s.document(ctx, origin+"/healthz", "status", "ok"))
	add("metadata of the origin", s.document(ctx, origin+wellKnown, "resource", origin))
	add("metadata of the endpoint", s.document(ctx, origin+wellKnown+s.endpoint.Path, "resource", s.endpoint.String()))
	add("no token is 401 with a challenge", s.challenge(ctx))
	add("GET is 405", s.method(ctx))
	if s.token != "" {
		add("brain://payments/action_types reads", s.read(ctx))
	}
	return checks
}

func (s smoker) do(ctx context.Context, method, target string, body []byte, token string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res, text, err
}

func (s smoker) document(ctx context.Context, target, member, want string) error {
	res, text, err := s.do(ctx, http.MethodGet, target, nil, "")
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %.80q", res.StatusCode, text)
	}
	if doc[member] != want {
		return fmt.Errorf("%s is %v, want %s", member, doc[member], want)
	}
	return nil
}

var list = []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)

func (s smoker) challenge(ctx context.Context) error {
	res, _, err := s.do(ctx, http.MethodPost, s.endpoint.String(), list, "")
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusUnauthorized:
		return fmt.Errorf("status %d", res.StatusCode)
	case !strings.Contains(res.Header.Get("WWW-Authenticate"), "resource_metadata="):
		return errors.New("WWW-Authenticate is missing: the gateway has renamed it and the response mapping does not bring it back")
	}
	return nil
}

func (s smoker) method(ctx context.Context) error {
	res, _, err := s.do(ctx, http.MethodGet, s.endpoint.String(), nil, "")
	if err == nil && res.StatusCode != http.StatusMethodNotAllowed {
		err = fmt.Errorf("status %d", res.StatusCode)
	}
	return err
}

func (s smoker) read(ctx context.Context) error {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"brain://payments/action_types"}}`)
	res, text, err := s.do(ctx, http.MethodPost, s.endpoint.String(), body, s.token)
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("action_types"))) {
		err = fmt.Errorf("status %d, %.120q", res.StatusCode, text)
	}
	return err
}
