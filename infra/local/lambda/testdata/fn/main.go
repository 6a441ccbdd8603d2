// Command fn is the function that the tests of the local stack run: it does
// what its event tells it to, including everything a function should not do.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do   string          `json:"do"`
	Text string          `json:"text"`
	N    int             `json:"n"`
	Then json.RawMessage `json:"then"`
	// Version is set in an event of the HTTP API, whose body is an event again.
	Version string `json:"version"`
	Body    string `json:"body"`
}

func main() {
	start(os.Getenv("INIT"))
	lambda.Start(handle)
}

// start misbehaves before the first request, as the variable INIT says. With a
// file after a colon it does so once only and leaves that file as a mark.
func start(how string) {
	kind, mark, once := strings.Cut(how, ":")
	if once {
		if _, err := os.Stat(mark); err == nil {
			return
		}
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			panic(err)
		}
	}
	switch kind {
	case "exit":
		os.Exit(3)
	case "hang":
		select {}
	case "error":
		body := bytes.NewReader([]byte(`{"errorMessage":"no table","errorType":"Config.Missing"}`))
		res, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/init/error", "application/json", body)
		if err == nil {
			_ = res.Body.Close()
		}
		os.Exit(1)
	}
}

func handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	if e.Version == "2.0" && e.Do == "" {
		if err := json.Unmarshal([]byte(e.Body), &e); err != nil {
			return nil, err
		}
	}
	switch e.Do {
	case "echo":
		return raw, nil
	case "return":
		return e.Then, nil
	case "error":
		return nil, errors.New(e.Text)
	case "panic":
		panic(e.Text)
	case "exit":
		os.Exit(e.N)
	case "hang":
		select {}
	case "big":
		return strings.Repeat("x", e.N), nil
	case "print":
		fmt.Println(e.Text)
	case "call":
		return nil, call(ctx, e.Text)
	case "after":
		go func() { _ = call(context.Background(), e.Text) }()
	case "child":
		child := exec.Command("/bin/sleep", "600")
		if err := child.Start(); err != nil {
			return nil, err
		}
		return child.Process.Pid, nil
	case "next":
		return earlyNext()
	}
	return describe(ctx), nil
}

// call blocks on a server of the test, which so decides how long this takes.
func call(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// earlyNext breaks the protocol: it asks for work while it has some.
func earlyNext() (int, error) {
	res, err := http.Get("http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/next")
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Body.Close()
}

func describe(ctx context.Context) map[string]any {
	deadline, _ := ctx.Deadline()
	out := map[string]any{
		"pid": os.Getpid(), "env": os.Environ(), "left_ms": time.Until(deadline).Milliseconds(),
		"trace": os.Getenv("_X_AMZN_TRACE_ID"),
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		out["id"], out["arn"] = lc.AwsRequestID, lc.InvokedFunctionArn
	}
	return out
}
