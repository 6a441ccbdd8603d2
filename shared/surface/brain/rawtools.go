package brain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
	"github.com/robotmoney/mcp/shared/surface/tool"
)

// RawTools are the tools of raw artifacts: bring one, and see what became of it.
func RawTools(archive *raw.Archive) []catalog.Tool {
	return []catalog.Tool{contribute(archive), artifact(archive)}
}

// artifactFields are an artifact as answers show it: never its bytes and never
// where they lie.
var artifactFields = []schema.Field{
	{Name: "raw_id", Type: schema.String, Required: true, Description: "The artifact's id."},
	{Name: "tenant_id", Type: schema.String, Required: true},
	{Name: "sha256", Type: schema.String, Required: true, Description: "SHA-256 of the decoded bytes, 64 hexadecimal digits."},
	{Name: "size_bytes", Type: schema.Integer, Required: true},
	{Name: "mime_type", Type: schema.String, Required: true, Description: "As declared by the contributor."},
	{Name: "state", Type: schema.String, Required: true, Enum: states(),
		Description: "quarantined: stored, not parsed until a member trusts the agent. accepted: will be parsed. extracted: its rows are in the ledger. failed: nothing of it is in the ledger."},
	{Name: "agent_id", Type: schema.String, Required: true, Description: "Who brought it, from the credential; empty for an operator's import."},
	{Name: "agent_role", Type: schema.String, Required: true},
	{Name: "registration", Type: schema.String, Required: true, Description: "The agent's id on the chain."},
	{Name: "source_ref", Type: schema.Object, Required: true, Description: "What the contributor says of its source. agent_id, agent_role and registration in it are the server's."},
	{Name: "created_at", Type: schema.String, Required: true, Format: "date-time"},
}

func states() []string {
	var names []string
	for _, state := range raw.States {
		names = append(names, string(state))
	}
	return names
}

func contribute(archive *raw.Archive) catalog.Tool {
	return tool.Spec{
		Name: "raw.contribute", Title: "Contribute a raw artifact", Kind: tool.Adds, Scopes: []identity.Scope{identity.RawWrite},
		Description: "Stores a document from outside (a bank statement, an export, a receipt) for the tenant, once: the same bytes again answer the first artifact. " +
			"It is kept as it is and parsed later; an agent's first contributions wait until a member trusts the agent. " +
			"At most 2 MiB decoded. It moves no money and changes no ledger row by itself.",
		In: []schema.Field{
			{Name: "payload", Type: schema.Any, Required: true, Description: "Text, JSON (an object or array, or its text), or base64 with encoding base64. At most 2 MiB decoded."},
			{Name: "encoding", Type: schema.String, Enum: []string{payload.Text, payload.Base64}, Default: payload.Text, Description: "How a payload that is a string is written."},
			{Name: "mime_type", Type: schema.String, Min: 1, Max: 255, Default: raw.DefaultMIMEType, Description: "What the payload is, such as text/csv or application/xml."},
			{Name: "source_ref", Type: schema.Object, Description: "Where it comes from: any object, at most 8 KiB. Who brings it is taken from the credential."},
			{Name: "idempotency_key", Type: schema.String, Min: 1, Max: 255, Description: "Reuse the same key when retrying after a timeout; a new payload takes a new key."},
		},
		Out: append(artifactFields[:len(artifactFields):len(artifactFields)],
			schema.Field{Name: "deduplicated", Type: schema.Boolean, Required: true, Description: "The artifact was there before this call."}),
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			origin, err := raw.OriginOf(call.Principal)
			if err != nil {
				return tool.Answer{}, err
			}
			body, err := payload.Decode(args.Raw("payload"), args.Text("encoding"))
			if err != nil {
				return tool.Answer{}, fault.New(fault.InvalidArgument, "payload: %v.", err)
			}
			receipt, err := archive.Contribute(ctx, call.Principal.Tenant, origin, call.RequestID, raw.Contribution{
				Payload: body, MIMEType: args.Text("mime_type"), SourceRef: args.Raw("source_ref"), IdempotencyKey: args.Text("idempotency_key"),
			})
			if err != nil {
				return tool.Answer{}, err
			}
			return tool.Answer{Text: received(receipt), Structured: struct {
				raw.Artifact
				Deduplicated bool `json:"deduplicated"`
			}{receipt.Artifact, receipt.Deduplicated}}, nil
		},
	}.Tool()
}

// received says what became of a contribution and what comes next.
func received(r raw.Receipt) string {
	text := fmt.Sprintf("Stored %d bytes as `%s`.", r.Size, r.ID)
	if r.Deduplicated {
		text = fmt.Sprintf("These %d bytes are stored already, as `%s`.", r.Size, r.ID)
	}
	return text + " " + meaning[r.State]
}

// meaning is what a state means for who waits.
var meaning = map[raw.State]string{
	raw.Quarantined: "It is quarantined: it can be read, and is parsed once a member trusts the agent that brought it.",
	raw.Accepted:    "It is accepted and will be parsed.",
	raw.Extracted:   "It is extracted: its rows are in the ledger.",
	raw.Failed:      "It could not be parsed, and nothing of it is in the ledger.",
}

func artifact(archive *raw.Archive) catalog.Tool {
	return tool.Spec{
		Name: "raw.artifact.get", Title: "Get a raw artifact", Kind: tool.Reads, Scopes: []identity.Scope{identity.RawRead},
		Description: "One raw artifact by its id: who brought it and from where, its size, hash and state, and what the parsers made of it. Never its bytes and never where they are stored.",
		In: []schema.Field{
			{Name: "raw_id", Type: schema.String, Required: true, Min: 1, Max: 128, Description: "The artifact's id, raw_ and more, from raw.contribute or a row's source_ids."},
			{Name: "include_parsed", Type: schema.Boolean, Default: true, Description: "Whether the parsers' outputs are part of the answer."},
		},
		Out: append(artifactFields[:len(artifactFields):len(artifactFields)],
			schema.Field{Name: "parsed", Type: schema.Array, Description: "The parsers' outputs; absent when not asked for.", Items: &schema.Field{Type: schema.Object}}),
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			found, err := archive.Artifact(ctx, call.Principal.Tenant, args.Text("raw_id"))
			if err != nil {
				return tool.Answer{}, err
			}
			text := fmt.Sprintf("Artifact `%s`: %d bytes of %s, SHA-256 `%s`, brought by %s at %s. %s",
				found.ID, found.Size, fence.Text(found.MIMEType), found.SHA256, bringer(found), found.CreatedAt, meaning[found.State])
			if !args.Bool("include_parsed", true) {
				return tool.Answer{Text: text, Structured: found}, nil
			}
			parsed, said, err := parsed(ctx, archive, call.Principal.Tenant, found)
			if err != nil {
				return tool.Answer{}, err
			}
			return tool.Answer{Text: text + said, Structured: struct {
				raw.Artifact
				Parsed []json.RawMessage `json:"parsed"`
			}{found, parsed}}, nil
		},
	}.Tool()
}

// parsed is what the parsers made of an artifact, and a sentence about it.
func parsed(ctx context.Context, archive *raw.Archive, t identity.Tenant, a raw.Artifact) ([]json.RawMessage, string, error) {
	nothing := []json.RawMessage{}
	if a.State != raw.Extracted && a.State != raw.Failed {
		return nothing, " No parser has an output for it.", nil
	}
	report, err := archive.Parsed(ctx, t, a.ID, raw.Report)
	if err != nil || report == nil {
		return nothing, " No parser has an output for it.", err
	}
	var told struct {
		EvidenceID   string `json:"evidence_id"`
		Parser       string `json:"parser"`
		Transactions struct{ New, Changed, Known int }
		Findings     int `json:"findings_total"`
		Failure      *struct{ Message string }
	}
	if err := json.Unmarshal(report, &told); err != nil {
		return nil, "", fmt.Errorf("decode report of %s: %w", a.ID, err)
	}
	said := fmt.Sprintf(" Read as %s: %d transactions new, %d changed, %d known, %d findings; evidence `%s`.",
		cmp.Or(told.Parser, "no known format"), told.Transactions.New, told.Transactions.Changed, told.Transactions.Known, told.Findings, told.EvidenceID)
	if told.Failure != nil {
		said = " Refused: " + fence.Text(told.Failure.Message)
	}
	return []json.RawMessage{report}, said, nil
}

func bringer(a raw.Artifact) string {
	if a.AgentID == "" {
		return "an operator"
	}
	return fence.Text(a.AgentID)
}
