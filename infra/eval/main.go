// Command eval asks the question set of the demo company and prints how many
// answers are right, by family. What is right is computed by package books over
// the exported rows. It ends with 1 where the answers are not good enough.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/eval/evaluation"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/platform/table"
)

//go:embed questions.txt
var questions []byte

func main() {
	all := flag.Bool("all", false, "print every answer that is not right")
	file := flag.String("questions", "", "ask the questions of this file instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	passed, err := run(ctx, *file, *all)
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
	}
	if err != nil || !passed {
		stop()
		os.Exit(1)
	}
}

// run starts an engine on a file of its own, asks and prints.
func run(ctx context.Context, file string, all bool) (bool, error) {
	asked := questions
	if file != "" {
		var err error
		if asked, err = os.ReadFile(file); err != nil {
			return false, err
		}
	}
	binaries, err := engine.Install(ctx, filepath.Join(".local", "npm"))
	if err != nil {
		return false, err
	}
	layout, err := enginetest.Layout()
	if err != nil {
		return false, err
	}
	folder, err := os.MkdirTemp("", "eval-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	db, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "db.sqlite"), Tables: map[string]template.Table{enginetest.TableName: layout},
	})
	if err != nil {
		return false, err
	}
	defer db.Close()
	client := dynamodb.New(dynamodb.Options{Region: enginetest.Region, BaseEndpoint: &db.Endpoint, HTTPClient: enginetest.Connections, Credentials: enginetest.Credentials})
	ask, err := evaluation.Company(ctx, &table.Table{Name: enginetest.TableName, API: client})
	if err != nil {
		return false, err
	}
	report, err := evaluation.Run(ctx, asked, ask)
	if err != nil {
		return false, err
	}
	report.Write(os.Stdout, all)
	return report.Passed(), nil
}
