package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/record"
	"tabhub/hub/relaytool"
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
func (g *relayGate) Admit(method string, params json.RawMessage, answered bool) (ask func(context.Context) error, err error) {
	if g.ended() {
		return nil, errHubEnded
	}
	start := time.Now()
	a := relaytool.Action(g.by, method, params)
	e := g.by.Entry(record.Relay, start)
	e.Tool, e.Args = a.Name, bytes.Clone(params)
	by := g.by.Noted(&e)
	ok, err := g.hub.AdmitAtOnce(by, &a)
	switch {
	case ok:
	case answered:
		return func(ctx context.Context) error {
			_, _, err := g.hub.Admit(ctx, by, &a, e.Args)
			return g.recorded(e, start, err)
		}, nil
	default:
		err = &hub.Failure{Code: spec.FailDenied, Message: "the owner is asked about requests only, and this has no id"}
	}
	return nil, g.recorded(e, start, err)
}

// recorded leaves the record of a decision, and returns its error as the relay has it.
func (g *relayGate) recorded(e record.Entry, start time.Time, err error) error {
	f, refused := errors.AsType[*hub.Failure](err)
	switch {
	case refused:
		e.Outcome, err = string(f.Code), relay.Refused(f.Code, f.Message)
	case err != nil:
		e.Outcome = "cancelled"
	default:
		e.Outcome = "ok"
	}
	e.Duration = time.Since(start)
	g.hub.Record(e)
	return err
}

// Hears implements relay.Gate: what may end a connection to an extension ends what it brings.
func (g *relayGate) Hears() error {
	if g.ended() {
		return errHubEnded
	}
	a := relaytool.Action(g.by, "connect", nil)
	if f, denied := errors.AsType[*hub.Failure](g.hub.Hears(&a)); denied {
		return relay.Refused(f.Code, f.Message)
	}
	return nil
}

var errHubEnded = relay.Refused(spec.FailNotConnected, "This hub has given way to another one: connect again")

// ended reports whether the hub has given way to another one, whose decisions count.
func (g *relayGate) ended() bool {
	select {
	case <-g.hub.Done():
		return true
	default:
		return false
	}
}
