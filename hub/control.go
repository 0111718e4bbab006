package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"tabhub/hub/consent"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Control sends a control request to a tab, or for Tab 0 to a browser, and blocks
// until it is answered. The error is a *Failure, the peer's own *spec.Error, or
// ctx's cause.
func (h *Hub) Control(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Request) (spec.Response, error) {
	h.mu.RLock()
	there, capable := h.state.Controllable(to, capabilityOf(req))
	h.mu.RUnlock()
	switch {
	case !there:
		return spec.Response{}, &Failure{spec.FailTabNotFound, fmt.Sprintf("no tab or browser %s is connected; list them first", to)}
	case !capable:
		return spec.Response{}, &Failure{spec.FailToolError, fmt.Sprintf("this browser connection does not offer %s; the companion extension does", capabilityOf(req))}
	}
	resp, err := h.transport.SendRequest(ctx, to, req, tabtransport.Wait{Timeout: spec.ControlTimeout})
	switch {
	case errors.Is(err, tabtransport.ErrLost) && view(h, func(s *state.State) bool { return s.Connected(to.Peer) }):
		// The browser said that the tab is closed before it could answer.
		if req.Method() == spec.MethodCloseTab {
			return spec.Response{Result: json.RawMessage(`{}`)}, nil
		}
		return resp, &Failure{spec.FailTabClosed, "the tab was closed"}
	case errors.Is(err, tabtransport.ErrNotConnected):
		return resp, &Failure{spec.FailNotConnected, "the browser went away; nothing was sent"}
	case errors.Is(err, tabtransport.ErrLost):
		return resp, &Failure{spec.FailNotConnected, "the browser went away before it answered; it may have done what was asked"}
	case errors.Is(err, tabtransport.ErrTimeout):
		return resp, &Failure{spec.FailToolTimeout, fmt.Sprintf("the browser did not answer within %s; it may have done what was asked, or do it yet", spec.ControlTimeout)}
	case errors.Is(err, tabtransport.ErrBusy):
		return resp, &Failure{spec.FailQueueFull, "the browser does not take more messages now"}
	case errors.Is(err, tabtransport.ErrUnsupported):
		return resp, &Failure{spec.FailToolError, "the page's protocol has no such request"}
	}
	return resp, err
}

// capabilityOf returns the capability that a control request needs: that of its
// method's name.
func capabilityOf(req spec.Request) spec.Capability {
	if req.Method() == spec.MethodElicitConfirmation {
		return spec.CapElicit
	}
	return spec.Capability(req.Method()[len("browser/"):])
}
