package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/robotmoney/mcp/infra/local/tap"
)

// changed reads the rows that a call is about to write, past every tap, and again
// when finish is called: what an update costs is in neither its request nor its
// answer.
func changed(ctx context.Context, address string, call tap.Call) (finish func() ([]change, error), err error) {
	ctx = context.WithoutCancel(ctx) // a call that was made is counted, whether or not its caller waits
	rows, times, err := targets(call)
	if err != nil {
		return func() ([]change, error) { return nil, nil }, err
	}
	all := make([]change, len(rows))
	for i, row := range rows {
		all[i].times = times
		if all[i].before, err = look(ctx, address, call.Header, row); err != nil {
			return func() ([]change, error) { return nil, nil }, err
		}
	}
	return func() (_ []change, err error) {
		for i, row := range rows {
			if all[i].after, err = look(ctx, address, call.Header, row); err != nil {
				return nil, err
			}
		}
		return all, nil
	}, nil
}

// look reads a row with the header of another call: the engine takes any
// credentials, but wants some.
func look(ctx context.Context, address string, header http.Header, row target) (item, error) {
	body, err := json.Marshal(map[string]any{"TableName": row.TableName, "Key": row.key(), "ConsistentRead": true})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", header.Get("Content-Type"))
	request.Header.Set("Authorization", header.Get("Authorization"))
	request.Header.Set("X-Amz-Date", header.Get("X-Amz-Date"))
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("look at a row: %w", err)
	}
	defer response.Body.Close()
	var out struct{ Item item }
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("look at a row: status %d, want 200: %w", response.StatusCode, err)
	}
	return out.Item, nil
}
