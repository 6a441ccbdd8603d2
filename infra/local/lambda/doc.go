// Package lambda runs a real Lambda function binary on this machine.
//
// A Pool starts the function's `bootstrap` and drives it over the Lambda
// Runtime API, the same HTTP interface the binary meets on AWS. One process
// serves one request at a time; it is kept warm and the most recently used one
// is taken first, as Lambda does. What Lambda answers to a timeout, a panic, an
// exit, a failing start or an oversized payload, the Pool answers too, so a
// function that leans on something Lambda does not give fails here already.
//
// Each process has a Runtime API listener of its own: the client builds its
// address as host + "/2018-06-01/...", so a path prefix per process would be
// lost and one shared listener could not tell two processes apart.
package lambda
