package tabtransport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"tabhub/spec"
)

// Incoming is a request of the hub to a tab inside this process.
type Incoming struct {
	ID      string
	Tab     int64
	Request spec.Request
	local   *Local
}

// Progress reports that the request is still under way.
func (in Incoming) Progress(progress float64, total *float64, message string) {
	in.local.Progress(in.Tab, spec.Progress{RequestID: in.ID, Progress: progress, Total: total, Message: message})
}

// Serve answers one request; each runs in its own goroutine. ctx ends when the hub
// cancels the request or the tab is closed. An *spec.Error is passed on as it is,
// any other error as a failure with its text.
type Serve func(ctx context.Context, in Incoming) (spec.Response, error)

// Local is a peer inside this process: a tab, or a browser with tabs. All methods are safe
// for concurrent use.
type Local struct {
	attachment Attachment
	serve      Serve
	ctx        context.Context // ends with the connection; its cause says why
	cancel     context.CancelCauseFunc
	wg         sync.WaitGroup // requests being served

	mu      sync.Mutex
	serving map[string]context.CancelCauseFunc // by request id; nil once closed
	asked   map[string]chan answer             // requests of the tab, by raw id
	lastID  int
}

type answer struct {
	result json.RawMessage
	err    error
}

// ClosedError is why a Local ended if the hub closed it.
type ClosedError struct {
	Code   spec.CloseCode
	Reason string
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("closed by the hub: %s (%d)", e.Reason, e.Code)
}

// Join connects a tab, or a browser, that lives in this process: no frame is ever
// encoded. ctx bounds only the wait for a hub that is not open yet. The caller closes
// the Local.
func Join(ctx context.Context, hub Attacher, conn Conn, serve Serve) (*Local, error) {
	l := &Local{serve: serve, serving: make(map[string]context.CancelCauseFunc), asked: make(map[string]chan answer)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	// The first request may be there before Attach has returned.
	attached := make(chan struct{})
	link := localLink{l, attached}
	var err error
	if l.attachment, err = hub.Attach(ctx, conn, func(Accepted) Link { return link }); err != nil {
		l.cancel(err)
		return nil, err
	}
	close(attached)
	return l, nil
}

// Join connects a tab inside this process, as the function Join does.
func (p *Peers) Join(ctx context.Context, conn Conn, serve Serve) (*Local, error) {
	return Join(ctx, p, conn, serve)
}

// Send sends a message as a notification.
func (l *Local) Send(tab int64, msg spec.Inbound) { l.attachment.Message(tab, nil, msg) }

// Ask sends a message as a request and blocks until it is answered, the connection ends or
// ctx is done. The error is an *spec.Error of the hub, Err's, or ctx's cause.
func (l *Local) Ask(ctx context.Context, tab int64, msg spec.Inbound) (json.RawMessage, error) {
	ch := make(chan answer, 1)
	l.mu.Lock()
	l.lastID++
	id := fmt.Sprintf(`"local-%d"`, l.lastID)
	l.asked[id] = ch
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asked, id)
		l.mu.Unlock()
	}()
	l.attachment.Message(tab, json.RawMessage(id), msg)
	select {
	case a := <-ch:
		return a.result, a.err
	case <-l.ctx.Done():
		return nil, context.Cause(l.ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Answer answers a request: one that came over an earlier connection of the same
// peer, or one that Serve is still busy with. Of several answers the first counts.
func (l *Local) Answer(tab int64, id string, resp spec.Response, err error) {
	l.attachment.Answer(tab, id, func(spec.Request) (spec.Response, error) {
		if err == nil {
			return resp, nil
		}
		if coded, ok := errors.AsType[*spec.Error](err); ok {
			return spec.Response{}, coded
		}
		text, _ := json.Marshal(err.Error())
		return spec.Response{Result: text, Failed: true}, nil
	})
}

// Progress reports progress of a request, like Incoming.Progress.
func (l *Local) Progress(tab int64, msg spec.Progress) { l.attachment.Progress(tab, msg) }

// Done is closed when the connection has ended; Err then says why.
func (l *Local) Done() <-chan struct{} { return l.ctx.Done() }

// Err returns nil while the connection lasts, then a *ClosedError if the hub ended
// it.
func (l *Local) Err() error { return context.Cause(l.ctx) }

// Close ends the connection as a closed socket would, and waits until no request is
// being served.
func (l *Local) Close() {
	l.end(errClosed)
	l.attachment.Leave(errClosed)
	l.wg.Wait()
}

func (l *Local) end(cause error) {
	l.mu.Lock()
	l.serving = nil
	l.mu.Unlock()
	l.cancel(cause)
}

// localLink is the hub's side of a Local.
type localLink struct {
	*Local
	attached <-chan struct{}
}

func (l localLink) Send(out Outgoing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serving == nil {
		return ErrNotConnected
	}
	ctx, cancel := context.WithCancelCause(l.ctx)
	l.serving[out.ID] = cancel
	l.wg.Go(func() {
		l.run(ctx, out)
		l.mu.Lock()
		delete(l.serving, out.ID)
		l.mu.Unlock()
		cancel(nil)
	})
	return nil
}

func (l localLink) run(ctx context.Context, out Outgoing) {
	<-l.attached
	if ctx.Err() != nil {
		out.Unsent()
		return
	}
	if !out.Sending() {
		return
	}
	resp, err := l.serve(ctx, Incoming{ID: out.ID, Tab: out.Tab, Request: out.Request, local: l.Local})
	if l.ctx.Err() != nil {
		return // a closed connection carries no answer
	}
	l.Answer(out.Tab, out.ID, resp, err)
}

func (l localLink) Cancel(_ int64, id, reason string) {
	l.mu.Lock()
	cancel := l.serving[id]
	l.mu.Unlock()
	if cancel != nil {
		cancel(errors.New(reason))
	}
}

func (l localLink) Respond(_ int64, id json.RawMessage, result any, rpcErr *spec.Error) {
	a := answer{}
	if rpcErr != nil {
		a.err = rpcErr
	} else {
		a.result, a.err = json.Marshal(result)
	}
	l.mu.Lock()
	ch := l.asked[string(id)]
	l.mu.Unlock()
	if ch != nil {
		select {
		case ch <- a:
		default:
		}
	}
}

func (l localLink) Close(code spec.CloseCode, reason string) {
	l.end(&ClosedError{code, reason})
}
