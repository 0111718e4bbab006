package admin

import (
	"encoding/json"
	"errors"
	"sync"

	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// CallRequest is the body of POST /api/call.
type CallRequest struct {
	Name      string          `json:"name" validate:"required"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Pin       *policy.Pin     `json:"pin,omitempty"` // of the definition that the caller has seen; nil: any
}

// CallEvent is one event of the answer to POST /api/call as text/event-stream. The last has a result or
// an error.
type CallEvent struct {
	Call     string          `json:"call,omitempty"` // the call's ID, before all else
	Progress *ProgressReport `json:"progress,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // a CallToolResult
	*endpoint.ErrorReport
}

// ProgressReport is the progress of a call.
type ProgressReport struct {
	Progress float64  `json:"progress"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
	Waiting  bool     `json:"waiting,omitempty"` // for a person
}

// postCall calls a tool, and answers its result byte by byte, or the call's progress and its result as
// events. The call ends with the request.
func (api *API) postCall(r *endpoint.Request) error {
	var in CallRequest
	if err := r.Read(spec.MaxFrame, &in); err != nil { // what a tab may be sent
		return err
	}
	call := func(by *consent.Caller) (result json.RawMessage, err error) {
		if t := builtin.Find(r.Tenant.Builtin, in.Name); t != nil {
			result, err = t.Call(r.Context(), by, in.Arguments)
		} else {
			result, err = r.Tenant.Hub.Calls.Call(r.Context(), call.Request{Name: in.Name, Args: in.Arguments, By: by, Pin: in.Pin})
		}
		if f, ok := errors.AsType[*core.Failure](err); ok {
			return f.Result(), nil
		}
		return result, err
	}
	by := caller(r, "tabhub call")
	if r.AcceptsEvents() {
		api.streamCall(r, by, call)
		return nil
	}
	return r.AnswerRaw(call(by))
}

// caller is the caller of a tool for a request: the dashboard, or the owner's program of that name.
func caller(r *endpoint.Request, said string) *consent.Caller {
	if editor(r) == consent.ByDashboard {
		said = "the dashboard"
	}
	return &consent.Caller{Principal: r.Identity.Principal, Said: said}
}

// maxUnsent bounds the progress that waits for a slow client. More is lost.
const maxUnsent = 64

// streamCall answers a call as events.
func (api *API) streamCall(r *endpoint.Request, by *consent.Caller, call func(*consent.Caller) (json.RawMessage, error)) {
	out, events := r.Events(), make(chan CallEvent, maxUnsent)
	send := func(e CallEvent) {
		select {
		case events <- e:
		default:
		}
	}
	by.Begun = func(id string) { send(CallEvent{Call: id}) }
	by.Progress = func(p spec.Progress) {
		send(CallEvent{Progress: &ProgressReport{p.Progress, p.Total, p.Message, p.Waiting}})
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		for e := range events {
			out.Send(e)
		}
	})
	result, err := call(by)
	close(events)
	sending.Wait()
	switch {
	case err == nil:
		out.Send(CallEvent{Result: result})
	case r.Context().Err() == nil:
		_, report := endpoint.Report(api.o.Log, r.Request, err)
		out.Send(CallEvent{ErrorReport: &report})
	}
}
