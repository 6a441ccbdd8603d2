package main

import (
	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/environment"
)

// config is the function's environment, read and checked once.
type config struct {
	aws                awsclient.Account
	table, bus, bucket string
}

// readConfig reads the environment; a variable that is missing stops the
// function before it takes a batch.
func readConfig(env func(string) string) (config, error) {
	vars := environment.From(env)
	c := config{aws: awsclient.Read(vars), table: vars.Need("TABLE_NAME"), bus: vars.Need("BUS_NAME"), bucket: vars.Need("BLOB_BUCKET")}
	return c, vars.Missing()
}
