// Package oracle compares our own Ethereum code with go-ethereum. It is a module
// of its own, because go-ethereum's licence and size keep it out of everything
// that is built from the root module; it holds tests alone.
//
//	cd infra/oracle && go test ./...
package oracle
