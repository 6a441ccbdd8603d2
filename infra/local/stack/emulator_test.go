//go:build emulator

package stack_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// The same events under AWS's own runtime interface emulator, one after the
// other: it does not survive two invocations at once. infra/deploy/emulator
// installs it and names it in EMULATOR.
func TestEventsUnderTheEmulator(t *testing.T) {
	f, token := deployedLike(t)
	feed(t, token, emulated(t, f))
}

func TestOtherEventsUnderTheEmulator(t *testing.T) {
	for _, o := range others {
		t.Run(o.file, func(t *testing.T) {
			o.feed(t, emulated(t, running.Function(o.function).Function()))
		})
	}
}

// emulated starts the emulator with a function's binary and returns how to invoke
// it.
func emulated(t *testing.T, f lambda.Function) func(t *testing.T, event []byte) []byte {
	t.Helper()
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), os.Getenv("EMULATOR"),
		"--runtime-interface-emulator-address", address, "--runtime-api-address", freeAddress(t), f.Binary)
	cmd.Env = append(f.Env, "AWS_REGION=us-east-1", "AWS_LAMBDA_FUNCTION_TIMEOUT=30", "PATH="+os.Getenv("PATH"))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	listening(t, address)
	return func(t *testing.T, event []byte) []byte {
		res, err := http.Post("http://"+address+"/2015-03-31/functions/function/invocations", "application/json", bytes.NewReader(event))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		payload, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v: %s", res.StatusCode, err, payload)
		}
		return payload
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// listening waits until something accepts connections.
func listening(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the emulator does not listen: %v", err)
		}
		time.Sleep(50 * time.Millisecond) // between two looks
	}
}
