package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// startFixture starts the fixture and reads where it answers. It ends when its
// standard input is closed.
func startFixture(ctx context.Context, binary string) (file stackfile.Stack, end func(), err error) {
	cmd := exec.CommandContext(ctx, binary)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return file, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return file, nil, err
	}
	if err := cmd.Start(); err != nil {
		return file, nil, fmt.Errorf("start the fixture: %w", err)
	}
	end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	if err := json.NewDecoder(out).Decode(&file); err != nil {
		end()
		return file, nil, fmt.Errorf("read where the fixture answers: %w", err)
	}
	return file, end, nil
}
