package mcp

import (
	"context"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

func (d *Dispatcher) findTool(x *exchange) []identity.Scope {
	name, _ := x.msg.Params.Text("name")
	tool, found := d.catalog.Tool(name)
	if !found {
		return nil
	}
	x.tool = tool
	return tool.Scopes
}

func (d *Dispatcher) checkTool(x *exchange) error {
	if x.tool == nil {
		return fault.New(rpc.ToolNotFound, "There is no such tool. See tools/list.")
	}
	if missing := x.undeclared(x.tool.Requires); len(missing) > 0 {
		return fault.New(rpc.CapabilityMissing, "The tool needs client capabilities that the request does not declare in params._meta.").
			Naming("requiredCapabilities", missing)
	}
	_, err := x.arguments()
	return err
}

// undeclared returns which capabilities the request does not declare, as an
// object of capability objects, the form clients declare them in.
func (x *exchange) undeclared(required []string) map[string]struct{} {
	if len(required) == 0 {
		return nil
	}
	missing := map[string]struct{}{}
	declared, _, err := rpc.ParseObject(x.msg.Meta.Get(metaCapabilities))
	for _, name := range required {
		if err != nil || declared.Get(name) == nil {
			missing[name] = struct{}{}
		}
	}
	return missing
}

// callTool runs a tool. What breaks its schema or a rule of the business is a
// result the model can act on, not an error of the protocol; what failed on our
// side or concerns the caller itself stays an error.
func (d *Dispatcher) callTool(ctx context.Context, x *exchange) (result, error) {
	arguments := x.msg.Params.Get("arguments")
	if arguments == nil {
		arguments = []byte("{}")
	}
	out, err := x.tool.Call(ctx, x.caller(), arguments)
	if err != nil {
		failure := fault.Of(err)
		if status, _ := rpc.FaceOf(failure.Code, rpc.Legacy); status != 200 || failure.Code == fault.Internal {
			return result{}, failure
		}
		x.refused = failure
		out = catalog.Output{Content: []catalog.Block{catalog.TextBlock(failure.Message)}, IsError: true}
	} else if out.IsError {
		x.refused = fault.New(fault.InvalidArgument, "the tool refused the call")
		out.Structured = nil // clients hold it against the output schema and fail
	}
	out.Content = nonNil(out.Content)
	return object(out, nil)
}
