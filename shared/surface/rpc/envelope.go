// Package rpc is JSON-RPC 2.0 as MCP over HTTP uses it: envelopes read exactly,
// replies written exactly, and one table that gives every stable code its HTTP
// status and its JSON-RPC numbers in both eras.
package rpc

import (
	"bytes"
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// maxBatch is how many messages a batch of the 2025-03-26 era may hold.
const maxBatch = 50

// Message is one JSON-RPC message. Err says why it is no request; the other
// fields then hold what could be read all the same.
type Message struct {
	ID     json.RawMessage // a string or an integer as it came; nil when there is none
	Method string
	Params Object
	Meta   Object // params._meta
	Err    *fault.Error
}

// Notification says that the message asks for no reply.
func (m Message) Notification() bool { return m.ID == nil && m.Err == nil }

// Envelope is the body of a request. It is read before anybody is
// authenticated, so that every refusal can carry the request's id, and judged
// after. Err says that no message could be read at all.
type Envelope struct {
	Messages []Message // one, or those of a batch
	Batch    bool
	Err      *fault.Error
}

// First is the message a refusal of the whole body answers: the only one, or
// nothing for a batch.
func (e Envelope) First() Message {
	if e.Batch || len(e.Messages) == 0 {
		return Message{}
	}
	return e.Messages[0]
}

// Parse reads a body. It never panics and never fails: what is wrong is in the
// envelope.
func Parse(body []byte) Envelope {
	if err := Check(body); err != nil {
		return Envelope{Err: fault.Because(err, ParseError, "The body is %s. Send one JSON-RPC 2.0 message as UTF-8 JSON.", err)}
	}
	body = bytes.TrimSpace(body)
	if body[0] != '[' {
		msg, parse := parseMessage(body)
		return Envelope{Messages: []Message{msg}, Err: parse}
	}
	elements := ParseArray(body)
	env := Envelope{Batch: true}
	if len(elements) == 0 || len(elements) > maxBatch {
		env.Err = fault.New(InvalidRequest, "A batch of %d messages: want 1 to %d.", len(elements), maxBatch)
		return env
	}
	for _, element := range elements {
		msg, parse := parseMessage(element)
		if parse != nil {
			return Envelope{Batch: true, Err: parse}
		}
		env.Messages = append(env.Messages, msg)
	}
	return env
}

// parseMessage reads one message. Names that stand twice make the text
// unreadable as a whole; anything else wrong is the message's own error.
func parseMessage(raw []byte) (Message, *fault.Error) {
	envelope, object, err := ParseObject(raw)
	if err != nil {
		return Message{}, fault.Because(err, ParseError, "The message cannot be read: %s.", err)
	}
	if !object {
		return Message{Err: fault.New(InvalidRequest, "The message is no JSON object. Send one JSON-RPC 2.0 request.")}, nil
	}
	var msg Message
	if msg.Params, object, err = ParseObject(envelope.Get("params")); err == nil && object {
		msg.Meta, _, err = ParseObject(msg.Params.Get("_meta"))
	}
	if err != nil {
		return Message{}, fault.Because(err, ParseError, "The params cannot be read: %s.", err)
	}
	id, bad := envelope.Get("id"), false
	if id != nil {
		if bad = !validID(id); !bad {
			msg.ID = id
		}
	}
	method, named := envelope.Text("method")
	msg.Method = method
	switch version, _ := envelope.Text("jsonrpc"); {
	case version != "2.0":
		msg.Err = fault.New(InvalidRequest, `The message has no "jsonrpc":"2.0".`)
	case !named || method == "":
		msg.Err = fault.New(InvalidRequest, "The message has no method. This endpoint takes requests and notifications.")
	case bad:
		msg.Err = fault.New(InvalidRequest, "The id is neither a string nor an integer.")
	case envelope.Get("params") != nil && !object:
		msg.Err = fault.New(InvalidRequest, "The params are no JSON object.")
	}
	return msg, nil
}

// validID accepts a string or an integer written without a fraction or an
// exponent. An id is echoed as it came, so its size does not matter.
func validID(raw json.RawMessage) bool {
	switch c := raw[0]; {
	case c == '"':
		return true
	case c == '-' || (c >= '0' && c <= '9'):
		return !bytes.ContainsAny(raw, ".eE")
	}
	return false
}
