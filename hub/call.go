package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// Call runs a tool in the best tab and blocks until it has a raw MCP
// CallToolResult. Failures of the hub are results, too, with isError set. The
// error is an *UnknownError, or ctx's cause when ctx ended first; the tab was told
// then. A call that may have reached a page is never sent again, unless the tool
// says that it may be (spec/docs/RULES.md, "Execution").
func (h *Hub) Call(ctx context.Context, c Call) (json.RawMessage, error) {
	if len(c.Args) == 0 || string(c.Args) == "null" {
		c.Args = json.RawMessage("{}")
	}
	r := run{h: h, kind: spec.KindTool, name: c.Name, client: c.Client, args: c.Args}
	if c.Progress != nil {
		r.progress = func(p spec.Progress) {
			p.Message = describe.Clean(p.Message, spec.MaxDescription)
			c.Progress(p)
		}
	}
	resp, err := r.do(ctx)
	var f *Failure
	if errors.As(err, &f) {
		return f.Result(), nil
	}
	var remote *spec.Error
	if errors.As(err, &remote) {
		return (&Failure{spec.FailToolError, remote.Message}).Result(), nil
	}
	if err != nil {
		return nil, err
	}
	return r.target.item.toolResult(resp), nil
}

// lossDelay is how long to wait for the news that a connection was lost.
const lossDelay = 5 * time.Millisecond

// run is one call under way. It is used by one goroutine.
type run struct {
	h        *Hub
	kind     spec.Kind
	name     string // public
	client   string
	args     json.RawMessage
	progress func(spec.Progress)
	ext      spec.Extensions

	info     CallInfo
	page     string // the page's own name, or URI, also of a resource that a template matched
	start    time.Time
	target   candidate
	reason   string
	excluded []spec.TabAddr
	peer     spec.PeerID // a call that falls over stays in this browser
	opened   bool        // a tab was opened for it
	away     bool        // it has waited for a browser that could open one
	checked  *item       // the arguments fit this item's schema
}

// target of one attempt.
type target struct {
	candidate
	timeout time.Duration
	wait    <-chan struct{} // closed at the next change; set when the tab is away
	moved   bool            // the domain's last call went to another URL
	none    bool
}

// do runs the call from the first look-up to the record in the log.
func (r *run) do(ctx context.Context) (spec.Response, error) {
	h := r.h
	h.mu.RLock()
	if h.closed {
		h.mu.RUnlock()
		return spec.Response{}, &Failure{spec.FailNotConnected, "the hub is shutting down; try again in a moment"}
	}
	b := h.lookupLocked(r)
	if b == nil {
		err := h.unknownLocked(r.kind, r.name)
		h.mu.RUnlock()
		return spec.Response{}, err
	}
	h.open.Add(1)
	h.mu.RUnlock()
	defer h.open.Done()

	r.start = time.Now()
	r.ext = extensionsOf(ctx)
	r.info = CallInfo{Kind: r.kind, Name: r.name, Domain: b.id.Domain, Item: b.id.Item, Client: r.client, Args: r.args}
	h.calls.Add(1)
	resp, err := r.guarded(ctx, b)
	err = cleanError(err)
	h.recordCall(r, resp, err)
	return resp, err
}

// cleanError returns err as it may be told to a client: what a page says is wrong is
// shown to people and models.
func cleanError(err error) error {
	remote, ok := errors.AsType[*spec.Error](err)
	if !ok {
		return err
	}
	clean := &spec.Error{Code: remote.Code, Message: describe.CleanLines(remote.Message, math.MaxInt)}
	if remote.Data != nil && rawjson.Valid(remote.Data, spec.MaxDepth) == nil {
		clean.Data = describe.CleanJSON(bytes.TrimSpace(remote.Data))
	}
	return clean
}

// guarded runs the call within the hub's limit and what Before says.
func (r *run) guarded(ctx context.Context, b *binding) (spec.Response, error) {
	h := r.h
	if n := h.inFlight.Add(1); n > spec.MaxCallsPerHub {
		h.inFlight.Add(-1)
		return spec.Response{}, &Failure{spec.FailQueueFull, fmt.Sprintf("%d calls are under way already; wait for some to end", n-1)}
	}
	defer h.inFlight.Add(-1)
	if h.opts.Before != nil {
		if err := h.opts.Before(ctx, &r.info); err != nil {
			return spec.Response{}, err
		}
	}
	return r.attempts(ctx, b)
}

// attempts tries tabs until the call has an answer, or was sent and must not be
// sent again.
func (r *run) attempts(ctx context.Context, b *binding) (spec.Response, error) {
	loading := 0
	for {
		if err := context.Cause(ctx); err != nil {
			return spec.Response{}, err
		}
		if r.h.ctx.Err() != nil {
			return spec.Response{}, &Failure{spec.FailNotConnected, "the hub is shutting down; the call was not sent"}
		}
		t := r.pick(b)
		if t.none {
			if err := r.none(ctx, b); err != nil {
				return spec.Response{}, err
			}
			continue
		}
		if t.wait != nil {
			if err := r.await(ctx, t.wait); err != nil {
				return spec.Response{}, err
			}
			continue
		}
		if err := r.check(t.item); err != nil {
			return spec.Response{}, err
		}
		resp, err := r.send(ctx, t)
		retry, err := r.judge(ctx, t, err, &loading)
		if !retry {
			return resp, err
		}
	}
}

// pick chooses a tab by a snapshot.
func (r *run) pick(b *binding) target {
	var room [8]candidate
	h := r.h
	h.mu.RLock()
	s := r.snapshotLocked(b, room[:])
	i, reason := choose(s)
	t := target{none: i < 0}
	if i >= 0 {
		t.candidate = s.candidates[i]
		t.moved = t.url != "" && t.url != b.domain.lastCall
		t.timeout = h.opts.CallTimeout
		if site, ok := h.sites[b.id.Domain]; ok && site.CallTimeout > 0 {
			t.timeout = site.CallTimeout
		}
	}
	h.mu.RUnlock()
	if i >= 0 {
		r.target, r.reason = t.candidate, reason
		if r.opened {
			r.reason = "opened for this call"
		}
		if !t.present {
			t.wait = r.awayChange(t.candidate)
		}
	}
	return t
}

// snapshotLocked collects the candidates that are left to the call.
func (r *run) snapshotLocked(b *binding, into []candidate) snapshot {
	if b.made {
		r.h.rematchLocked(r, b)
	}
	s := r.h.snapshotLocked(b, r.excluded, into)
	if r.peer != "" {
		for i := range s.candidates {
			if s.candidates[i].addr.Peer != r.peer {
				s.candidates[i].excluded = true
			}
		}
	}
	return s
}

// awayChange returns a channel that is closed at the next change if the tab is
// still away.
func (r *run) awayChange(c candidate) <-chan struct{} {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tabs[c.addr] != c.tab || c.holder.presentLocked() {
		now := make(chan struct{})
		close(now)
		return now
	}
	return h.waitLocked()
}

// await blocks until changed is closed.
func (r *run) await(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.h.ctx.Done():
		return &Failure{spec.FailNotConnected, "the hub is shutting down; the call was not sent"}
	}
}

// check validates the arguments of a tool call against the item's schema, and those
// of a prompt as far as there is one.
func (r *run) check(it *item) error {
	for _, name := range it.needs {
		if len(r.args) == 0 || rawjson.Get(r.args, name) == nil {
			return &Failure{spec.FailInvalidArguments, fmt.Sprintf("argument %q is required", name)}
		}
	}
	if it.schema == nil || r.checked == it {
		return nil
	}
	if err := it.schema.Check(r.args); err != nil {
		return &Failure{spec.FailInvalidArguments, err.Error()}
	}
	r.checked = it
	return nil
}

// send sends the request, within the tab's limit.
func (r *run) send(ctx context.Context, t target) (spec.Response, error) {
	h := r.h
	if n := t.tab.inFlight.Add(1); n > spec.MaxCallsPerTab {
		t.tab.inFlight.Add(-1)
		return spec.Response{}, &Failure{spec.FailQueueFull, fmt.Sprintf("%d calls to this tab are under way already; wait for some to end", spec.MaxCallsPerTab)}
	}
	defer t.tab.inFlight.Add(-1)
	if t.moved {
		h.mu.Lock()
		if d := h.domains[t.item.domain]; d != nil {
			d.lastCall = t.url
		}
		h.mu.Unlock()
	}
	wait := tabtransport.Wait{Timeout: t.timeout, Progress: r.progress}
	if r.kind == spec.KindTool {
		wait.Max = h.opts.CallTimeoutMax
	}
	return h.transport.SendRequest(ctx, t.addr, r.request(t.item), wait)
}

// request makes the request for an item.
func (r *run) request(it *item) spec.Request {
	switch r.kind {
	case spec.KindResource:
		return &spec.ReadResource{URI: r.page, FrameID: it.frame, Extensions: r.ext}
	case spec.KindPrompt:
		return &spec.GetPrompt{Name: it.source, Args: r.args, FrameID: it.frame, Extensions: r.ext}
	}
	return &spec.ExecuteTool{ToolName: it.source, Args: r.args, FrameID: it.frame, Origin: it.frameOrigin(), Extensions: r.ext}
}

// judge decides what the outcome of an attempt means: an answer, a failure, or
// another attempt.
func (r *run) judge(ctx context.Context, t target, err error, loading *int) (retry bool, _ error) {
	var remote *spec.Error
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, tabtransport.ErrNotConnected):
		// Not sent: pick waits for the tab, or finds another once it has gone. The
		// pause is for the moment in which the hub has not heard of the loss.
		return true, r.pause(ctx, lossDelay)
	case errors.Is(err, tabtransport.ErrBusy):
		return false, &Failure{spec.FailQueueFull, "the tab does not take more messages now; try again later"}
	case errors.Is(err, tabtransport.ErrUnsupported):
		return false, &Failure{spec.FailToolError, "the page's protocol has no such request"}
	case errors.Is(err, tabtransport.ErrTimeout):
		return false, &Failure{spec.FailToolTimeout, fmt.Sprintf("no answer within %s; the tab was told to stop, but the call may have taken effect", time.Since(r.start).Round(time.Millisecond))}
	case errors.Is(err, tabtransport.ErrLost) && r.h.ctx.Err() != nil:
		return false, &Failure{spec.FailNotConnected, "the hub was shut down while the call was under way; it may have taken effect"}
	case errors.Is(err, tabtransport.ErrLost):
		return r.lost(t)
	case errors.As(err, &remote) && remote.Code == spec.CodeTabNotFound && notDelivered(remote):
		if *loading++; *loading > spec.RetryAttempts {
			return false, &Failure{spec.FailNotConnected, fmt.Sprintf("the tab did not take the call in %d attempts: %s", *loading, remote.Message)}
		}
		return true, r.pause(ctx, spec.RetryDelay)
	case errors.As(err, &remote) && remote.Code == spec.CodeTabNotFound:
		return r.lost(t)
	}
	return false, err
}

// lost decides about a call that was sent to a tab which is gone: only one that
// may be run twice goes to another tab of the same browser.
func (r *run) lost(t target) (retry bool, _ error) {
	if r.kind == spec.KindTool && !t.item.safe || len(r.excluded) >= spec.RetryAttempts {
		return false, errTabClosed
	}
	r.excluded = append(r.excluded, t.addr)
	r.peer = t.addr.Peer
	return true, nil
}

var errTabClosed = &Failure{spec.FailTabClosed, "the tab went away after the call was sent; it may have taken effect"}

// pause waits; it returns early, with an error, when the call is over.
func (r *run) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.h.ctx.Done():
		return &Failure{spec.FailNotConnected, "the hub is shutting down; the call was not sent"}
	}
}

// notDelivered reports whether a peer says that a request did not reach a page.
func notDelivered(e *spec.Error) bool {
	return e.Data != nil && rawjson.Valid(e.Data, spec.MaxDepth) == nil &&
		string(rawjson.Get(e.Data, "delivered")) == "false"
}

// digest identifies arguments in the log without telling them.
func digest(args json.RawMessage) string {
	sum := sha256.Sum256(args)
	return hex.EncodeToString(sum[:8])
}
