package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport/relay"
)

// relayGate is the relay.Gate of a client: its user's hub decides.
type relayGate struct {
	hub *hub.Hub
	by  *consent.Caller
}

// Admit implements relay.Gate. What it decides is recorded; what came of a message that was
// let pass only the client and the extension know.
func (g *relayGate) Admit(method string, params json.RawMessage, answered bool) (relay.InFlight, func(context.Context) (relay.InFlight, error), error) {
	if err := g.closed(); err != nil {
		return nil, nil, err
	}
	a := relayAction(g.by, method, params)
	e := g.by.Entry(record.Relay, time.Now())
	e.Tool = a.Name
	by := g.by.Noted(&e)
	p, err := g.hub.Calls.ForwardAtOnce(by, &a)
	switch {
	case p != nil || err != nil:
	case answered:
		return nil, func(ctx context.Context) (relay.InFlight, error) {
			p, err := g.hub.Calls.Forward(ctx, by, &a, params)
			return g.recorded(e, params, p, err)
		}, nil
	default:
		err = &core.Failure{Code: spec.FailDenied, Message: "the owner is asked about requests only, and this has no id"}
	}
	inFlight, err := g.recorded(e, params, p, err)
	return inFlight, nil, err
}

// recorded leaves the record of a decision, and returns what came of it as the relay has it.
func (g *relayGate) recorded(e record.Entry, params json.RawMessage, p *call.Forwarded, err error) (relay.InFlight, error) {
	e.Args, e.Duration = bytes.Clone(params), time.Since(e.Time)
	if f, refused := errors.AsType[*core.Failure](err); refused {
		e.Outcome = string(f.Code)
	} else if err != nil {
		e.Outcome = "cancelled"
	} else {
		e.Outcome, e.Call = "ok", p.ID()
	}
	g.hub.Core.Record(e)
	if err != nil {
		return nil, refusal(err)
	}
	return forwarded{p}, nil
}

// forwarded is the relay.InFlight of a message.
type forwarded struct{ *call.Forwarded }

func (f forwarded) OnStop(stop func()) error { return refusal(f.Forwarded.OnStop(stop)) }

func (f forwarded) Stopped(sent bool) error { return refusal(f.Forwarded.Stopped(sent)) }

// refusal returns a failure of the hub as the relay has it.
func refusal(err error) error {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return relay.Refused(f.Code, f.Message)
	}
	return err
}

// Hears implements relay.Gate: what may end a connection to an extension ends what it brings.
func (g *relayGate) Hears() error {
	if err := g.closed(); err != nil {
		return err
	}
	a := relayAction(g.by, "connect", nil)
	return refusal(g.hub.Rules.Hears(&a))
}

var (
	errHubEnded = relay.Refused(spec.FailNotConnected, "This hub has given way to another one: connect again")
	errBound    = relay.Refused(spec.FailDenied, bindsAway)
)

const bindsAway = "this client is bound to browsers of the hub, and an extension of the proxy protocols is none"

// closed returns why nothing of the client passes: the hub has given way to another one, whose
// decisions count, or the client is bound to browsers.
func (g *relayGate) closed() error {
	select {
	case <-g.hub.Core.Done():
		return errHubEnded
	default:
	}
	if g.hub.Rules.Policy().Browsers(g.by.Principal, g.by.Bound) != nil {
		return errBound
	}
	return nil
}
