package rpc

import (
	"encoding/json"
	"maps"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// Result writes a successful reply around a result object. The object may come
// in parts: a long one is then copied only here.
func Result(id json.RawMessage, result ...[]byte) []byte {
	size := len(id) + 40
	for _, part := range result {
		size += len(part)
	}
	out := make([]byte, 0, size)
	out = append(out, `{"jsonrpc":"2.0","id":`...)
	out = append(out, id...)
	out = append(out, `,"result":`...)
	for _, part := range result {
		out = append(out, part...)
	}
	return append(out, '}')
}

// Failure writes an error reply. Without an id there is no id member: the
// request's could not be read, or there was none.
func Failure(id json.RawMessage, era Era, requestID string, err *fault.Error) []byte {
	data := map[string]any{"code": err.Code, "request_id": requestID}
	if err.Details != nil {
		data["details"] = err.Details
	}
	maps.Copy(data, err.Extra)
	_, number := FaceOf(err.Code, era)
	body, marshal := json.Marshal(struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	}{number, err.Message, data})
	if marshal != nil {
		// Only a detail that is no JSON value can get here, a defect of ours.
		return Failure(id, era, requestID, fault.New(fault.Internal, "The error could not be written."))
	}
	// The id goes in by hand: encoding/json would escape what is inside it, and
	// it is echoed as it came.
	out := make([]byte, 0, len(body)+len(id)+32)
	out = append(out, `{"jsonrpc":"2.0"`...)
	if id != nil {
		out = append(append(out, `,"id":`...), id...)
	}
	out = append(append(out, `,"error":`...), body...)
	return append(out, '}')
}
