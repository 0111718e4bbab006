package tabtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Local returns the Dial of tabs inside the process.
func Local(hub tabtransport.Attacher) Dial {
	return func(t testing.TB, conn tabtransport.Conn) (End, error) {
		e := &localEnd{t: t, requests: make(chan Request, 1024), cancelled: make(chan string, 1024)}
		local, err := tabtransport.Join(t.Context(), hub, conn, e.serve)
		if err != nil {
			return nil, err
		}
		e.local = local
		t.Cleanup(local.Close)
		return e, nil
	}
}

// localEnd is the End of a tab inside the process.
type localEnd struct {
	t         testing.TB
	local     *tabtransport.Local
	requests  chan Request
	cancelled chan string
}

// serve leaves the answer to Answer and only watches for the end.
func (e *localEnd) serve(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
	r := Request{ID: in.ID, Tab: in.Tab, Method: in.Request.Method()}
	if call, ok := in.Request.(*spec.ExecuteTool); ok {
		r.Call = *call
	}
	e.requests <- r
	<-ctx.Done()
	if _, closed := errors.AsType[*tabtransport.ClosedError](context.Cause(ctx)); !closed {
		e.cancelled <- in.ID
	}
	return spec.Response{}, context.Cause(ctx)
}

func (e *localEnd) Notify(tab int64, msg spec.Inbound) { e.local.Send(tab, msg) }

func (e *localEnd) Ask(tab int64, msg spec.Inbound) (json.RawMessage, error) {
	return e.local.Ask(e.t.Context(), tab, msg)
}

func (e *localEnd) Next() Request { return <-e.requests }

func (e *localEnd) Answer(r Request, resp spec.Response, rpcErr *spec.Error) {
	var err error
	if rpcErr != nil {
		err = rpcErr
	}
	e.local.Answer(r.Tab, r.ID, resp, err)
}

func (e *localEnd) Progress(r Request, progress float64) {
	e.local.Progress(r.Tab, spec.Progress{RequestID: r.ID, Progress: progress})
}

func (e *localEnd) Waits(r Request) {
	e.local.Progress(r.Tab, spec.Progress{RequestID: r.ID, Waiting: true})
}

func (e *localEnd) Continues(r Request) {
	e.local.Progress(r.Tab, spec.Progress{RequestID: r.ID, Continues: true})
}

func (e *localEnd) Cancelled() string { return <-e.cancelled }

func (e *localEnd) Closed() spec.CloseCode {
	<-e.local.Done()
	closed, ok := errors.AsType[*tabtransport.ClosedError](e.local.Err())
	if !ok {
		e.t.Errorf("connection ended with %v, was not closed by the hub", e.local.Err())
		return 0
	}
	return closed.Code
}

func (e *localEnd) Cut() { e.local.Close() }
