package proxytool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Hub is what the tools use of a *hub.ClientView.
type Hub interface {
	ListFor(by *consent.Caller, kind lists.ListKind) *lists.Listing
	Shows(*policy.Action) bool
	FindFor(by *consent.Caller, kind spec.Kind, name string) (lists.Item, error)
	Call(ctx context.Context, c call.Request) (json.RawMessage, error)
	ReadResource(ctx context.Context, by *consent.Caller, uri string) (json.RawMessage, error)
	GetPrompt(ctx context.Context, by *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error)
	Ledger() *ledger.Ledger
}

// proxy is what the tools of one hub have in common. It is safe for concurrent use.
type proxy struct {
	hub          Hub
	builtin      []builtin.Tool     // the hub's other tools
	builtinItems []lists.Item       // the same as lists have them
	log          func(record.Entry) // may be nil
}

// handler returns the Call of the tool of that name, which blocks until all operations
// are done. With readOnly it refuses calls of tools that do not say that they only read.
func (t *proxy) handler(name string, readOnly bool) func(context.Context, *consent.Caller, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, by *consent.Caller, args json.RawMessage) (json.RawMessage, error) {
		c := &caller{tool: t, name: name, readOnly: readOnly, by: by.Through(name)}
		if a := (&builtin.Tool{Name: name}).Action(by); !t.hub.Shows(&a) {
			return (&core.Failure{Code: spec.FailDenied, Message: "the owner does not let this client use " + name}).Result(), nil
		}
		op, err := parse(args)
		r, err := c.run(ctx, op, err, whole)
		if err != nil {
			return nil, err
		}
		return r.json(), nil
	}
}

// caller runs the operations of one call of one of the tools.
type caller struct {
	tool     *proxy
	name     string // of the tool
	readOnly bool
	by       *consent.Caller
}

// whole is the position of an operation that is not part of a batch.
const whole = -1

// run runs one operation, which is number at of a batch. err is what parse said of it. The
// error is ctx's cause, or a *consent.AskBack.
func (c *caller) run(ctx context.Context, op *operation, err error, at int) (*result, error) {
	start := time.Now()
	if err == nil && op.action == actionBatch && at != whole {
		err = refusal("Parameter 'action' is 'batch' within a batch; allowed there: list, info, call")
	}
	n := op.annotations(at)
	if err != nil {
		c.record(op, start, "refused", err.Error())
		return failure(err.Error(), n), nil
	}
	var r *result
	switch op.action {
	case actionList:
		r, err = c.list(op, n)
	case actionInfo:
		r, err = c.info(op, n)
	case actionCall:
		r, err = c.call(ctx, op, n)
	case actionBatch:
		return c.batch(ctx, op)
	case actionOutcome:
		r, err = c.outcome(op, n)
	}
	_, asks := errors.AsType[*consent.AskBack](err)
	unknown, isUnknown := errors.AsType[*lists.UnknownError](err)
	_, said := errors.AsType[*core.Failure](err)
	switch {
	case ctx.Err() != nil && err != nil && !said: // its owner's stop is said
		return nil, context.Cause(ctx)
	case asks && at == whole:
		return nil, err
	case asks:
		err = refusal("The owner is to be asked first, which the client cannot do within a batch: call it by itself")
	case isUnknown:
		err = c.unknown(op, unknown)
		c.record(op, start, "unknown", err.Error())
	case errors.Is(err, call.ErrNotReadOnly):
		err = refusal("Tool '" + shorten(op.path) + "' does not say that it only reads (readOnlyHint), so " + c.name + " does not call it: call it with " + Name)
		c.record(op, start, "refused", err.Error())
	case op.action != actionCall:
		c.record(op, start, "ok", "")
	}
	if err != nil {
		return failed(err, n), nil
	}
	if at != whole && r.asksBack() {
		return failure("The page asks back, which it cannot do within a batch: call it by itself", n), nil
	}
	return r, nil
}

// subject returns what a call with these arguments is about, see builtin.Tool.
func subject(args json.RawMessage) string {
	var about []string
	for _, name := range []string{"action", "type", "path"} {
		s, _ := rawjson.String(rawjson.Get(args, name))
		about = append(about, s)
	}
	return strings.Join(about, " ")
}

// unknown says that nothing has the path, and which ones are like it.
func (c *caller) unknown(op *operation, err *lists.UnknownError) error {
	text := title(op.kind) + " '" + shorten(op.path) + "' not found"
	if op.action == actionCall {
		text = "Unknown " + string(op.kind) + ": '" + shorten(op.path) + "'"
	}
	near := err.Nearest
	if len(near) == 0 {
		near = c.similar(op.kind, op.path)
	}
	if len(near) > 0 {
		text += "; nearest: " + strings.Join(near, ", ")
	}
	return refusal(text)
}

func (c *caller) record(op *operation, start time.Time, outcome, reason string) {
	if c.tool.log == nil {
		return
	}
	e := c.by.Entry(record.Proxy, start)
	e.Via, e.Outcome, e.Reason = c.name, outcome, reason
	e.Tool = strings.TrimSpace(op.action + " " + string(op.kind) + " " + shorten(op.path))
	c.tool.log(e)
}

// title returns "Tool", "Resource" or "Prompt".
func title(k spec.Kind) string { return strings.ToUpper(string(k[:1])) + string(k[1:]) }
