package catalog

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Block is one content block of a message or a tool's answer, in the
// protocol's own form: {"type":"text","text":...} and its kin.
type Block map[string]any

// TextBlock is a content block of text.
func TextBlock(text string) Block { return Block{"type": "text", "text": text} }

// Contents is what reading a resource gives. Make it with Text, Bytes, JSON or
// Ready.
type Contents struct {
	mime     string
	fallback bool // mime is only a default that the declaration overrides
	text     *string
	blob     []byte
	ready    []json.RawMessage
}

// Text is text: of the declared type, or text/plain.
func Text(s string) Contents { return Contents{mime: "text/plain", fallback: true, text: &s} }

// Bytes is binary data, sent as base64: of the declared type, or
// application/octet-stream.
func Bytes(b []byte) Contents {
	return Contents{mime: "application/octet-stream", fallback: true, blob: append([]byte{}, b...)}
}

// JSON is a value as JSON text: of the declared type, or application/json. Raw
// JSON is sent as it is.
func JSON(v any) (Contents, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Contents{}, fmt.Errorf("encode contents: %w", err)
	}
	return Raw(raw), nil
}

// Raw is JSON text that is ready: of the declared type, or application/json.
func Raw(raw []byte) Contents {
	s := string(raw)
	return Contents{mime: "application/json", fallback: true, text: &s}
}

// Ready is a list of contents in the protocol's own form, each with its own
// uri; they are sent as they are.
func Ready(contents ...json.RawMessage) Contents {
	// A slice that is not nil, also for none: no contents are contents too.
	return Contents{ready: append([]json.RawMessage{}, contents...)}
}

// Encode writes the contents array of a read of uri.
func (c Contents) Encode(uri string) (json.RawMessage, error) {
	if c.ready != nil {
		return json.Marshal(c.ready)
	}
	type content struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text,omitempty"`
		Blob     *string `json:"blob,omitempty"`
	}
	one := content{URI: uri, MIMEType: c.mime, Text: c.text}
	if c.text == nil {
		blob := base64.StdEncoding.EncodeToString(c.blob)
		one.Blob = &blob
	}
	return json.Marshal([]content{one})
}
