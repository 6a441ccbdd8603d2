// Package clients judges the server with what others wrote: the official
// conformance package (./conformance), clients of three languages and a browser
// (./run) and, in this package's tests, the Go SDK in every protocol revision.
package clients
