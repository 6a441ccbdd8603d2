package main

import (
	"context"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
)

// rounds of the comparisons inside this process.
const rounds = 41

// The targets of the dispatcher against the SDK, and of a list.
const (
	timeShare  = 1.0 / 5
	bytesShare = 1.0 / 20
	listBound  = 10_000 // ns
)

// call makes an operation of a request and what answers it.
func call[R any](serve func(R) ([]byte, error), request R) func() error {
	return func() error {
		_, err := serve(request)
		return err
	}
}

// dispatching sets one tool call against the MCP Go SDK's: from the body of an
// HTTP request to the body of the reply, and with the whole edge around it from
// event to response.
func dispatching(context.Context, *bench) ([]report.Row, error) {
	ours, err := dispatch.NewOurs()
	if err != nil {
		return nil, err
	}
	edge, err := dispatch.NewEdge()
	if err != nil {
		return nil, err
	}
	event, err := edge.Event(dispatch.Call)
	if err != nil {
		return nil, err
	}
	costs, err := measure.Costs(rounds, call(ours.Serve, dispatch.Call), call(dispatch.NewSDK().Serve, dispatch.Call), call(edge.Invoke, event))
	if err != nil {
		return nil, err
	}
	mine, sdk, whole := costs[0], costs[1], costs[2]
	return []report.Row{
		report.Share("modern tools/call, time: dispatcher / MCP Go SDK 1.8.0", mine.Nanoseconds, sdk.Nanoseconds, timeShare, report.Nanoseconds),
		report.Share("modern tools/call, bytes allocated: dispatcher / MCP Go SDK 1.8.0", mine.Bytes, sdk.Bytes, bytesShare, report.Bytes),
		report.Share("the same with the whole edge, token and audit event, time: event to response / MCP Go SDK 1.8.0", whole.Nanoseconds, sdk.Nanoseconds, 0, report.Nanoseconds),
		report.Share("the same with the whole edge, token and audit event, bytes allocated", whole.Bytes, sdk.Bytes, 0, report.Bytes),
	}, nil
}

// small measures what every request pays for, and a list.
func small(context.Context, *bench) ([]report.Row, error) {
	ours, err := dispatch.NewOurs()
	if err != nil {
		return nil, err
	}
	edge, err := dispatch.NewEdge()
	if err != nil {
		return nil, err
	}
	signature, err := edge.VerifySignature()
	if err != nil {
		return nil, err
	}
	event, err := dispatch.Preflight(dispatch.Call)
	if err != nil {
		return nil, err
	}
	list := call(ours.Serve, dispatch.List)
	single, err := measure.Call(20_000, list)
	if err != nil {
		return nil, err
	}
	costs, err := measure.Costs(rounds, list, edge.Verify, signature, call(edge.Invoke, event))
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Most("tools/list of 20 tools in the dispatcher, time of one call", single, listBound, report.Nanoseconds),
		report.Alone("the same with the collection of its garbage, many calls", costs[0].Nanoseconds, report.Nanoseconds),
		report.Share("JWT verification (ES256), time: verifier / its signature check alone", costs[1].Nanoseconds, costs[2].Nanoseconds, 0, report.Nanoseconds),
		report.Alone("event decoded and response encoded (OPTIONS with a body), time", costs[3].Nanoseconds, report.Nanoseconds),
		report.Alone("event decoded and response encoded (OPTIONS with a body), bytes allocated", costs[3].Bytes, report.Bytes),
	}, nil
}
