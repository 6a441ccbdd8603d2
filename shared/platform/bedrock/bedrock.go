// Package bedrock has a model of Amazon Bedrock plan questions. It makes one
// signed request to the Converse API itself: the SDK's client for it would make
// the function larger by a megabyte, for a POST.
//
// The model reads the question and the date, and nothing of the ledger: no memo
// reaches it, so none can talk to it. It must answer with a draft of a plan, in a
// JSON schema that is the only tool it is given and has to use. What it drafts is
// checked against the question's own words, and every number of the answer is
// computed by code. Whatever goes wrong, the embedded rules plan the question.
package bedrock

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/robotmoney/mcp/shared/domain/question"
)

const (
	// DefaultTimeout bounds the request: the answer still has to be computed
	// within the function's own deadline.
	DefaultTimeout = 4 * time.Second
	// maxReply is how many bytes of a reply are read; a plan takes some hundred.
	maxReply = 64 << 10
	// maxTokens is how many tokens the model may answer with.
	maxTokens = 500
	// planTool is the name of the tool whose input the draft is.
	planTool = "plan"
)

// Client sends HTTP requests.
type Client interface {
	Do(req *http.Request) (*http.Response, error)
}

// Planner plans questions with a model, and with the rules where that fails.
type Planner struct {
	Model       string // its id or ARN
	Region      string
	Endpoint    string // in place of AWS's own; empty on AWS
	Credentials aws.CredentialsProvider
	HTTP        Client
	Now         func() time.Time
	Timeout     time.Duration // 0 is DefaultTimeout
	Rules       question.Rules
	Failed      func(ctx context.Context, err error) // told why the rules planned instead; nil tells nobody
}

var _ question.Planner = (*Planner)(nil)

// Plan asks the model. A text that asks to do something never reaches it. Tokens
// that were used are reported whoever made the plan in the end.
func (p *Planner) Plan(ctx context.Context, asked question.Asked) (question.Planned, error) {
	if err := question.Refused(asked.Text); err != nil {
		return question.Planned{Model: question.RulesModel}, err
	}
	draft, usage, err := p.converse(ctx, asked)
	if err == nil {
		var plan question.Plan
		if plan, err = p.Rules.Finish(ctx, asked, draft); err == nil {
			return question.Planned{Plan: plan, Model: p.Model, Usage: usage}, nil
		}
	}
	if p.Failed != nil {
		p.Failed(ctx, err)
	}
	planned, err := p.Rules.Plan(ctx, asked)
	planned.Usage = usage
	return planned, err
}

// converse makes the request and reads the draft out of the reply.
func (p *Planner) converse(ctx context.Context, asked question.Asked) (question.Draft, question.Usage, error) {
	timeout := p.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := request(asked)
	if err != nil {
		return question.Draft{}, question.Usage{}, err
	}
	raw, err := p.post(ctx, body)
	if err != nil {
		return question.Draft{}, question.Usage{}, fmt.Errorf("ask the model: %w", err)
	}
	return read(raw)
}

// post sends the signed request and returns the body of a reply with status 200.
func (p *Planner) post(ctx context.Context, body []byte) ([]byte, error) {
	endpoint := p.Endpoint
	if endpoint == "" {
		endpoint = "https://bedrock-runtime." + p.Region + ".amazonaws.com"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(endpoint, "/")+"/model/"+escape(p.Model)+"/converse", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	credentials, err := p.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), "bedrock", p.Region, p.Now()); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	reply, err := p.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(reply.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, err
	case reply.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d", reply.StatusCode)
	case len(raw) > maxReply:
		return nil, fmt.Errorf("more than %d bytes", maxReply)
	}
	return raw, nil
}

// escape writes a model's id as one segment of a path. Ids have colons and ARNs
// have slashes, and what is signed must be what is sent.
func escape(segment string) string {
	var b strings.Builder
	for _, c := range []byte(segment) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

const instructions = `You turn one question about a company's money into a plan. Answer only by calling the tool plan.
The company's ledger is read later, by a program that computes every number: you never state one.
Copy names, invoice numbers and categories exactly as the question writes them. Leave out what the question does not say.
Use the measure unclear when the question asks for something the measures do not cover, asks to do something, or excludes something.
Today is %s. Weeks begin on Monday.`

// message and its kin are the parts of the Converse API that are used.
type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Text    string `json:"text,omitempty"`
	ToolUse *use   `json:"toolUse,omitempty"`
}

type use struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// request is the body: the question, the instructions, and the plan's schema as
// the one tool, which must be used.
func request(asked question.Asked) ([]byte, error) {
	return json.Marshal(map[string]any{
		"system":          []block{{Text: fmt.Sprintf(instructions, asked.AsOf.Format("Monday, 2 January 2006"))}},
		"messages":        []message{{Role: "user", Content: []block{{Text: asked.Text}}}},
		"inferenceConfig": map[string]any{"temperature": 0, "maxTokens": maxTokens},
		"toolConfig": map[string]any{
			"tools": []any{map[string]any{"toolSpec": map[string]any{
				"name": planTool, "description": "The plan of the question.", "inputSchema": map[string]any{"json": question.DraftSchema()},
			}}},
			"toolChoice": map[string]any{"tool": map[string]any{"name": planTool}},
		},
	})
}

// read takes the draft and the tokens out of a reply. Text beside the tool's
// input is not looked at.
func read(raw []byte) (question.Draft, question.Usage, error) {
	var reply struct {
		Output struct {
			Message message `json:"message"`
		} `json:"output"`
		Usage question.Usage `json:"usage"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return question.Draft{}, question.Usage{}, fmt.Errorf("read the reply: %w", err)
	}
	usage := question.Usage{InputTokens: max(0, reply.Usage.InputTokens), OutputTokens: max(0, reply.Usage.OutputTokens)}
	for _, b := range reply.Output.Message.Content {
		if b.ToolUse != nil && b.ToolUse.Name == planTool {
			draft, err := question.ParseDraft(b.ToolUse.Input)
			if err != nil {
				return draft, usage, fmt.Errorf("read the draft: %w", err)
			}
			return draft, usage, nil
		}
	}
	return question.Draft{}, usage, fmt.Errorf("the reply has no plan in it")
}
