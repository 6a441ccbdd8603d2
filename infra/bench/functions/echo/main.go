// Command echo is a floor of the benchmarks: a function that answers every
// event with the same response, so that what is left is the way to it and back.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
)

// answer is the response's text: as long as the read it is the floor of.
type answer []byte

func (a answer) Invoke(context.Context, []byte) ([]byte, error) { return a, nil }

func main() {
	response, err := json.Marshal(map[string]any{
		"statusCode": 200, "headers": map[string]string{"content-type": "application/json"}, "body": os.Getenv("BENCH_BODY"),
	})
	if err != nil {
		os.Exit(1)
	}
	lambda.Start(answer(response))
}
