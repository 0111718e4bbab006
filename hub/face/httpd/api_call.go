package httpd

import (
	"encoding/json"
	"errors"
	"sync"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// CallRequest is the body of POST /api/call.
type CallRequest struct {
	Name      string          `json:"name" validate:"required"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Pin       *policy.Pin     `json:"pin,omitempty"` // of the definition that the caller was shown; nil: any will do
}

// CallEvent is one event of the answer to POST /api/call for who accepts text/event-stream. The
// last has a result or an error.
type CallEvent struct {
	Call     string          `json:"call,omitempty"` // the call's ID, before all else
	Progress *ProgressReport `json:"progress,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // a CallToolResult
	*ErrorReport
}

// ProgressReport is what is heard of a call under way.
type ProgressReport struct {
	Progress float64  `json:"progress"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
	Waiting  bool     `json:"waiting,omitempty"` // for a person
}

// postCall calls a tool, and answers its result byte by byte, or with all that is heard of the
// call as events. The call ends with the request.
func (s *Server) postCall(r *request) error {
	var in CallRequest
	if err := r.read(spec.MaxFrame, &in); err != nil { // what a tab may be sent
		return err
	}
	call := func(by *consent.Caller) (result json.RawMessage, err error) {
		if t := builtin.Find(r.tenant.Builtin, in.Name); t != nil {
			result, err = t.Call(r.Context(), by, in.Arguments)
		} else {
			result, err = r.tenant.Hub.Call(r.Context(), hub.Call{Name: in.Name, Args: in.Arguments, By: by, Pin: in.Pin})
		}
		if f, ok := errors.AsType[*hub.Failure](err); ok {
			return f.Result(), nil
		}
		return result, err
	}
	by := r.caller("tabhub call")
	if r.acceptsEvents() {
		s.streamCall(r, by, call)
		return nil
	}
	return r.answerRaw(call(by))
}

// answerRaw answers what a page has said byte by byte, or err.
func (r *request) answerRaw(result json.RawMessage, err error) error {
	if err != nil {
		return err
	}
	jsonHeaders(r.w.Header())
	newTimedWriter(r.w).Write(result)
	return nil
}

// caller is on whose behalf the dashboard calls, or else the owner's own program of that name.
func (r *request) caller(said string) *consent.Caller {
	if editor(r) == consent.ByDashboard {
		said = "the dashboard"
	}
	return &consent.Caller{Who: r.pass.identity.Who, Said: said}
}

// maxUnsent bounds the progress that waits for who reads slowly, who misses what is more.
const maxUnsent = 64

// streamCall answers a call as events.
func (s *Server) streamCall(r *request, by *consent.Caller, call func(*consent.Caller) (json.RawMessage, error)) {
	out, events := r.events(), make(chan CallEvent, maxUnsent)
	tell := func(e CallEvent) {
		select {
		case events <- e:
		default:
		}
	}
	by.Begun = func(id string) { tell(CallEvent{Call: id}) }
	by.Progress = func(p spec.Progress) {
		tell(CallEvent{Progress: &ProgressReport{p.Progress, p.Total, p.Message, p.Waiting}})
	}
	var telling sync.WaitGroup
	telling.Go(func() {
		for e := range events {
			out.send(e)
		}
	})
	result, err := call(by)
	close(events)
	telling.Wait()
	switch {
	case err == nil:
		out.send(CallEvent{Result: result})
	case r.Context().Err() == nil:
		_, report := s.errorReport(r.Request, err)
		out.send(CallEvent{ErrorReport: &report})
	}
}
