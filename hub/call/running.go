package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabhub/describe"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Running is a request of a client that is in flight, as its owner sees it.
type Running struct {
	ID       string         `json:"id"`               // of the call, as in the record
	Client   string         `json:"client,omitempty"` // the ID of its credential
	Name     string         `json:"name,omitempty"`   // the owner's name of the client
	Said     string         `json:"said,omitempty"`   // what the client calls itself
	Via      string         `json:"via,omitempty"`    // the hub's own tool that the client called for it
	Kind     spec.Kind      `json:"kind,omitempty"`   // "" for a tool of the hub itself, and for what is forwarded to an extension
	Domain   spec.Domain    `json:"domain,omitempty"`
	Tool     string         `json:"tool"`              // the page's own name; the method of what is forwarded
	Pack     string         `json:"pack,omitempty"`    // that gives the tool
	Tab      string         `json:"tab,omitempty"`     // "" until it is sent to one, or waits for the owner there
	Browser  string         `json:"browser,omitempty"` // the name of the extension that it is forwarded to, "" until it is
	Began    time.Time      `json:"began"`
	Asked    time.Duration  `json:"asked,omitempty"` // how long the owner was asked about it; not while one is
	Phase    Phase          `json:"phase"`
	Decision string         `json:"decision,omitempty"` // "allow", or "ask" where the owner has; "" before
	Progress *spec.Progress `json:"progress,omitempty"` // the latest
}

// Phase is how far a request has come.
type Phase string

// The phases.
const (
	PhaseWaiting Phase = "waiting" // for a tab that is away or being opened, or that the owner uses
	PhaseAsking  Phase = "asking"  // for the owner's answer
	PhaseRunning Phase = "running" // in the tab, or in the hub
)

// maxRunning is how many requests Running describes at most.
const maxRunning = 200

// Running describes the requests of clients that are in flight, those that have taken longest
// first, and says how many there are in all.
func (o *Owner) Running() (shown []Running, all int) {
	for _, c := range o.calls.ledger.UnderWay() {
		if c.Part {
			continue
		}
		if all++; all <= maxRunning {
			shown = append(shown, describeShown(&c))
		}
	}
	return shown, all
}

func describeShown(c *ledger.Shown) Running {
	e := (&consent.Caller{Principal: c.Principal, Said: c.Said, Via: c.Via}).Entry("", c.Began)
	r := Running{
		ID: c.ID, Client: e.Client, Name: e.Name, Said: e.Said, Via: e.Via,
		Kind: c.Kind, Domain: c.Site.Domain, Tool: c.Tool, Pack: c.Pack, Browser: c.Browser, Began: c.Began, Asked: c.Asked, Phase: PhaseRunning, Progress: c.Progress,
	}
	switch {
	case c.Asking:
		r.Phase = PhaseAsking
	case c.Waits:
		r.Phase = PhaseWaiting
	}
	if c.Tab.Peer != "" {
		r.Tab = c.Tab.String()
	}
	if c.Decision != policy.Unset {
		r.Decision = c.Decision.String()
	}
	return r
}

// Stop ends a request that is in flight, by its id, and reports whether there is one. Its
// client is told that the owner has stopped it.
func (o *Owner) Stop(id string) bool {
	return o.calls.ledger.StopWhere(errOwnerStopped, func(c string, about *ledger.Subject) bool { return c == id && !about.Part })
}

// Track shows a call of one of the hub's own tools to its owner until end is called with how
// it has ended, which returns that as the client is to get it.
func (cs *Calls) Track(ctx context.Context, by *consent.Caller, tool string) (_ context.Context, id string, end func(json.RawMessage, error) (json.RawMessage, error)) {
	ctx, c := cs.enter(ctx, by, ledger.Subject{Tool: tool, Own: true})
	return ctx, c.ID(), func(result json.RawMessage, err error) (json.RawMessage, error) {
		if err != nil && context.Cause(ctx) == errOwnerStopped {
			f, _ := errors.AsType[*core.Failure](cs.gateError(errOwnerStopped, true))
			result, err = f.Result(), nil
		}
		c.Leave()
		return result, err
	}
}

// What the owner has stopped.
var (
	errPaused       = errors.New("the owner has paused this")
	errOwnerStopped = fmt.Errorf("the owner has stopped this: %w", consent.ErrWithdrawn)
)

// maxShown is how long a message of a page may be that is shown while it runs, in bytes.
const maxShown = 200

// progressed shows how far the page of a call has come.
func progressed(c *ledger.Call, to spec.Progress) {
	to.Message = describe.Clean(to.Message, maxShown)
	c.Progressed(to)
}

// stopPaused ends what is in flight and paused.
func (cs *Calls) stopPaused() {
	rules, now := cs.rules.Policy(), time.Now()
	cs.ledger.StopWhere(errPaused, func(_ string, about *ledger.Subject) bool {
		if about.Own {
			return false
		}
		a := policy.Action{Principal: about.Principal, Session: about.Session, Site: about.Site}
		if a.Site == (policy.Site{}) {
			a.Of = policy.OfHub
		}
		return rules.Decide(&a, now).Paused
	})
}

// gateError returns the error of a request of a client's, which may have been sent, as the
// client gets it.
func (cs *Calls) gateError(err error, sent bool) error {
	switch {
	case errors.Is(err, core.ErrClosed), errors.Is(err, core.ErrSuperseded): // while its owner was asked
		return cs.core.EndedFailure(sent)
	case sent && StoppedByOwner(err) != nil:
		return StoppedByOwner(err)
	case errors.Is(err, errPaused):
		return &core.Failure{Code: spec.FailPaused, Message: "the owner has paused this; the call was not sent"}
	case errors.Is(err, errOwnerStopped):
		return &core.Failure{Code: spec.FailStopped, Message: "the owner has stopped this call; it was not sent"}
	}
	return err
}

// StoppedByOwner returns what a client is told of a call that its owner has stopped or paused, by the cause
// with which its context has ended; nil if that is another.
func StoppedByOwner(cause error) *core.Failure {
	switch {
	case errors.Is(cause, errPaused):
		return &core.Failure{Code: spec.FailPaused, Message: "the owner has paused this while the call was under way; it may have taken effect"}
	case errors.Is(cause, errOwnerStopped):
		return &core.Failure{Code: spec.FailStopped, Message: "the owner has stopped this call; it may have taken effect"}
	}
	return nil
}
