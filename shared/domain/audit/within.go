package audit

import "context"

// pending is the outer event of a request on its way: kept says that a change
// the request made has taken it along.
type pending struct {
	call Call
	kept bool
}

type pendingKey struct{}

// Within makes a context that is one request's. The first change committed in it
// takes the request's outer event into its transaction: the change and the call
// that made it are then recorded together or not at all, and Called has nothing
// left to do. What becomes of the reply afterwards does not change what was
// done. A request makes its changes one after the other.
func Within(ctx context.Context, call Call) context.Context {
	return context.WithValue(ctx, pendingKey{}, &pending{call: call})
}

// outer is the request's event that still waits to be kept, nil when there is
// none.
func outer(ctx context.Context) *pending {
	p, _ := ctx.Value(pendingKey{}).(*pending)
	if p == nil || p.kept {
		return nil
	}
	return p
}

// recorded says that the request's outer event is kept already.
func recorded(ctx context.Context) bool {
	p, _ := ctx.Value(pendingKey{}).(*pending)
	return p != nil && p.kept
}
