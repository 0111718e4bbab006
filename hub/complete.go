package hub

import (
	"context"
	"encoding/json"

	"tabhub/hub/offer/item"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// Complete asks the best tab what may complete an argument of a prompt, or of a resource
// template, by its public name or URI template. argument and given (the arguments that are
// known, may be nil) are those of MCP's completion/complete. It returns a raw MCP
// CompleteResult, an empty one if no page proposes anything. The error is an
// *UnknownError or ctx's cause.
//
// A client asks at each key that is pressed. So no tab is opened, woken or waited for, the
// owner is not asked, and no record is left.
func (h *Hub) Complete(ctx context.Context, by *consent.Caller, kind spec.Kind, name string, argument, given json.RawMessage) (json.RawMessage, error) {
	r := run{h: h, kind: kind, name: name, by: by, complete: &spec.Complete{Argument: argument, Context: given}}
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer h.running.Done()
	if !r.pick() || !r.target.Present || r.target.Asleep || !r.target.Item.Completes {
		return item.CompleteResult(spec.Response{}), nil
	}
	if h.free(by, r.target.Addr, true) != nil { // which the name names
		return item.CompleteResult(spec.Response{}), nil
	}
	r.timeout, r.moved, r.keeps = spec.ControlTimeout, false, false
	r.action = actionFor(by, r.target.Item, r.ref.Page)
	h.reach(by, &r.action, r.target.Addr.Peer)
	p, ok := h.gate.allows(&r.action)
	if !ok {
		return item.CompleteResult(spec.Response{}), nil
	}
	resp, err := r.send(ctx, p)
	if err != nil {
		h.log.Debug("no completion", "tab", r.target.Addr, "tool", r.ref.ID.Item, "err", err)
	}
	r.traced(resp, err)
	return item.CompleteResult(resp), context.Cause(ctx)
}
