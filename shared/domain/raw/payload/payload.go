// Package payload reads what an agent contributes out of the argument it comes
// in, and keeps it out of what is recorded of the call.
package payload

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Max is the most bytes an artifact has, decoded. The edge takes messages of
// 4 MiB, which base64 of this size fits into.
const Max = 2 << 20

// The encodings of a payload that comes as a JSON string.
const (
	Text   = "text"
	Base64 = "base64"
)

// Decode returns the bytes a payload stands for: of a JSON string its text, or
// what that encodes as base64; of a JSON object or array its text exactly as it
// came. Errors say what is wrong and are meant for the caller.
func Decode(value json.RawMessage, encoding string) ([]byte, error) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return nil, errors.New("it is empty")
	}
	switch value[0] {
	case '{', '[':
		if encoding == Base64 {
			return nil, errors.New("it is JSON, and encoding says base64: send base64 as a string, or leave encoding out")
		}
		return bounded(value)
	case '"':
	default:
		return nil, errors.New("want a string, an object or an array")
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return nil, errors.New("its string cannot be read")
	}
	if encoding != Base64 {
		return bounded([]byte(text))
	}
	// The decoder would skip line breaks. MIME bodies have them.
	text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
	if base64.StdEncoding.DecodedLen(len(text)) > Max+3 {
		return nil, tooLong(base64.StdEncoding.DecodedLen(len(text)))
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errors.New("it is not standard base64 with padding")
	}
	return bounded(decoded)
}

func bounded(body []byte) ([]byte, error) {
	switch {
	case len(body) == 0:
		return nil, errors.New("it is empty")
	case len(body) > Max:
		return nil, tooLong(len(body))
	}
	return body, nil
}

func tooLong(n int) error { return fmt.Errorf("it has %d bytes, at most %d are taken", n, Max) }

// Sum is the SHA-256 of an artifact's bytes, 64 lower-case hexadecimal digits.
// Artifacts are stored and found under it.
func Sum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// recorded are the arguments of a contribution that are recorded as they came.
// Whatever else comes may be a payload under a misspelt name.
var recorded = []string{"encoding", "idempotency_key", "mime_type", "source_ref"}

// Withhold returns a contribution's arguments as they are recorded: the payload
// is the SHA-256 the artifact is stored under, or of its JSON text where it
// cannot be decoded, and so is everything that is no argument of the tool.
func Withhold(arguments []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) != nil {
		return hidden(arguments)
	}
	var encoding string
	_ = json.Unmarshal(members["encoding"], &encoding)
	for name, value := range members {
		if slices.Contains(recorded, name) {
			continue
		}
		content := []byte(value)
		if body, err := Decode(value, encoding); name == "payload" && err == nil {
			content = body
		}
		members[name] = hidden(content)
	}
	safe, err := json.Marshal(members)
	if err != nil { // cannot be: every member was JSON
		return hidden(arguments)
	}
	return safe
}

// hidden is the JSON text that stands for withheld bytes.
func hidden(content []byte) []byte { return []byte(`"sha256:` + Sum(content) + `"`) }
