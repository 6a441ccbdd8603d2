// Package cursor makes the opaque cursors of lists. A cursor is bound to the
// tenant, the tool and the filters it was made for, and cannot be forged or
// altered: following one visits each row once and nothing else.
package cursor

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

const (
	// tag is how many bytes of the HMAC a cursor carries: 128 bits.
	tag = 16
	// maxPosition is how long a sort key may be in DynamoDB, in bytes.
	maxPosition = 1 << 10
	// MaxText is the length of the longest cursor there is, in bytes.
	MaxText = ((tag+maxPosition)*8 + 5) / 6
)

// Sealer makes and opens cursors with one key, the same in every process. Key
// fetches it when the first cursor needs it: most calls have none.
type Sealer struct {
	Key func(ctx context.Context) ([]byte, error)
}

// Seal wraps a position, which is not empty, for the one list that binding
// describes. Its errors are Key's.
func (s Sealer) Seal(ctx context.Context, position string, binding ...string) (string, error) {
	mac, err := s.mac(ctx, position, binding)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(mac, position...)), nil
}

// Open returns the position of a cursor that Seal made for this very list. Any
// other text is refused, all alike.
func (s Sealer) Open(ctx context.Context, text string, binding ...string) (string, error) {
	refused := fault.New(fault.InvalidArgument, "cursor: it was not given out by this list with these filters. Leave it out to begin at the start, and change no filter while paging.")
	if len(text) > MaxText || strings.ContainsAny(text, "\r\n") { // the decoder would skip line breaks
		return "", refused
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= tag {
		return "", refused
	}
	position := string(raw[tag:])
	mac, err := s.mac(ctx, position, binding)
	if err != nil {
		return "", err
	}
	if !hmac.Equal(raw[:tag], mac) {
		return "", refused
	}
	return position, nil
}

// mac covers position and binding, each after its length: no two lists of texts
// are the same bytes.
func (s Sealer) mac(ctx context.Context, position string, binding []string) ([]byte, error) {
	key, err := s.Key(ctx)
	if err != nil {
		return nil, err
	}
	var message []byte
	for _, part := range append([]string{position}, binding...) {
		message = binary.AppendUvarint(message, uint64(len(part)))
		message = append(message, part...)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return mac.Sum(nil)[:tag], nil
}
