package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// The documents that the hub keeps in the store.
const (
	policySettings  = "policy"  // a policy.Document
	allowedSettings = "allowed" // what consent.Desk keeps
)

// Policy returns the rules that hold now. They are immutable.
func (h *Hub) Policy() *policy.Set { return h.gate.rules.Load() }

// EditPolicy changes what the owner has decided so far; by says by what means, for the
// record. edit gets a copy that it may change; its error, one of the document that it makes,
// and one of the store are returned, and then nothing has changed but that what edit has
// paused is. The rest holds once it is stored, which EditPolicy waits for.
func (h *Hub) EditPolicy(by string, edit func(*policy.Document) error) error {
	h.editing.Lock()
	defer h.editing.Unlock()
	was := h.Policy()
	doc := *was.Document()
	doc.Rules, doc.Pauses = slices.Clone(doc.Rules), slices.Clone(doc.Pauses)
	doc.Private, doc.Bindings = slices.Clone(doc.Private), slices.Clone(doc.Bindings)
	if err := edit(&doc); err != nil {
		return err
	}
	doc.Rules = slices.DeleteFunc(doc.Rules, func(r policy.Rule) bool { return !r.Until.IsZero() && r.Until.Before(time.Now()) })
	set, err := policy.New(doc, h.opts.Mode, h.policyFile)
	if err != nil {
		return err
	}
	if len(doc.Pauses) > len(was.Document().Pauses) {
		h.setPolicy(set)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if err := h.KeepSettings(storage.Settings{Name: policySettings, Body: body}); err != nil {
		return fmt.Errorf("it could not be stored: %w", err)
	}
	h.setPolicy(set)
	h.recordPolicy(by, was.Document(), &doc)
	return nil
}

// SetPolicyFile replaces what the policy file says. An error in it leaves what holds.
func (h *Hub) SetPolicyFile(file policy.File) error {
	h.editing.Lock()
	defer h.editing.Unlock()
	set, err := policy.New(*h.Policy().Document(), h.opts.Mode, file)
	if err != nil {
		return err
	}
	h.policyFile = file
	h.setPolicy(set)
	return nil
}

// setPolicy makes rules hold, ends what they stop, and tells clients that lists may have
// changed.
func (h *Hub) setPolicy(set *policy.Set) {
	h.gate.rules.Store(set)
	h.stopPaused()
	now := time.Now()
	h.gate.desk.Withdraw(func(a *policy.Action) error {
		switch d := set.Decide(a, now); {
		case d.Paused:
			return errPaused
		case d.Effect == policy.Deny:
			return refusal(d, a)
		}
		return nil
	})
	for _, sub := range h.gate.denied() {
		h.unsubscribe(sub)
	}
	h.notices.allChanged()
	h.gate.apps.changed.Fire()
	h.gate.edits.Add(1)
	h.gate.changed.Fire()
}

// openPolicy makes the gate of a Hub that is being opened. What is stored for others is in
// h.settings then.
func (h *Hub) openPolicy(stored []storage.Settings) error {
	var doc policy.Document
	var kept json.RawMessage
	for _, s := range stored {
		switch s.Name {
		case policySettings:
			if err := json.Unmarshal(s.Body, &doc); err != nil {
				return fmt.Errorf("the policy in the store: %w", err)
			}
		case allowedSettings:
			kept = s.Body
		default:
			h.settings = append(h.settings, s)
		}
	}
	set, err := policy.New(doc, h.opts.Mode, h.policyFile)
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	h.gate = &gate{
		transport: h.transport, browserOf: h.browserOf, telemetry: h.opts.Telemetry, changed: h.opts.Changed, followed: map[*state.Subscription]*policy.Action{}, began: map[session]time.Time{},
		desk: consent.New(consent.Options{
			Askers: h.opts.Askers, Browser: window{h}, Remember: h.remember, Record: h.opts.Record, Log: h.log,
			Kept: kept,
			Keep: func(body json.RawMessage) {
				h.SaveSettings(storage.Settings{Name: allowedSettings, Body: body}, nil)
			},
		}),
	}
	h.gate.rules.Store(set)
	h.gate.flows = flow.New()
	return nil
}

// remember stores a rule that an answer of the owner has made.
func (h *Hub) remember(r policy.Rule) error {
	return h.EditPolicy(r.By, func(doc *policy.Document) error {
		doc.Put(r, time.Now())
		return nil
	})
}

// Desk has the questions to the owner.
func (h *Hub) Desk() *consent.Desk { return h.gate.desk }

// Hears returns why a client is not to be told now what an action brings it: a *Failure if
// that is denied by now; nil otherwise.
func (h *Hub) Hears(a *policy.Action) error {
	if d := h.gate.rules.Load().Decide(a, time.Now()); d.Effect != policy.Allow && d.Effect != policy.Ask {
		return refusal(d, a)
	}
	return nil
}

// admitItem decides about the item that a public name or URI stands for, and asks the owner
// if need be. The error is an *UnknownError or one of Admit.
func (h *Hub) admitItem(ctx context.Context, by *consent.Caller, kind spec.Kind, name string) (*item.Item, error) {
	r := run{h: h, kind: kind, name: name, by: by}
	h.inFlight.Add(1)
	defer h.inFlight.Add(-1)
	for {
		h.mu.RLock()
		err := r.lookUpLocked()
		var it *item.Item
		if err == nil {
			if it = h.state.Known(&r.ref, h.by(by)); it == nil {
				err = h.unknownLocked(by, kind, name)
			}
		}
		h.mu.RUnlock()
		if err != nil {
			return nil, err
		}
		if _, again, err := r.admit(ctx, it, time.Time{}); err != nil || !again {
			return it, err
		}
	}
}

// Shows reports whether a client is to know of what an action is about.
func (h *Hub) Shows(a *policy.Action) bool { return h.gate.shows(a) }

// gateError returns the error of a request of a client's, which may have been sent, as the
// client gets it.
func (h *Hub) gateError(err error, sent bool) error {
	switch {
	case errors.Is(err, errClosed), errors.Is(err, errSuperseded): // while its owner was asked
		return h.endedFailure(sent)
	case sent && StoppedByOwner(err) != nil:
		return StoppedByOwner(err)
	case errors.Is(err, errPaused):
		return &Failure{spec.FailPaused, "the owner has paused this; the call was not sent"}
	case errors.Is(err, errOwnerStopped):
		return &Failure{spec.FailStopped, "the owner has stopped this call; it was not sent"}
	}
	return err
}

// StoppedByOwner returns what a client is told of a call that its owner has stopped or paused, by the cause
// with which its context has ended; nil if that is another.
func StoppedByOwner(cause error) *Failure {
	switch {
	case errors.Is(cause, errPaused):
		return &Failure{spec.FailPaused, "the owner has paused this while the call was under way; it may have taken effect"}
	case errors.Is(cause, errOwnerStopped):
		return &Failure{spec.FailStopped, "the owner has stopped this call; it may have taken effect"}
	}
	return nil
}

// window is consent.Browser: the owner's browsers.
type window struct{ h *Hub }

func (w window) Paired() bool { return w.h.opts.Paired != nil && w.h.opts.Paired() }

func (w window) Connected() bool {
	_, ok := w.asker()
	return ok
}

// asker returns the browser to ask in.
func (w window) asker() (peer spec.PeerID, ok bool) {
	w.h.mu.RLock()
	defer w.h.mu.RUnlock()
	return w.h.state.Asker(w.h.opts.OwnBrowser)
}

func (w window) Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error) {
	for {
		changed := w.h.changes.Wait()
		peer, ok := w.asker()
		if !ok {
			if err := await(ctx, w.h, changed); err != nil {
				return spec.AskResult{}, err
			}
			continue
		}
		resp, err := w.h.gate.own(ctx, spec.TabAddr{Peer: peer}, q, tabtransport.Wait{Timeout: askTimeout})
		switch {
		case errors.Is(err, tabtransport.ErrNotConnected), errors.Is(err, tabtransport.ErrLost):
			// It is shown again by the browser that comes back, or another.
			if err := await(ctx, w.h, time.After(lossDelay)); err != nil {
				return spec.AskResult{}, err
			}
			continue
		case err != nil:
			return spec.AskResult{}, err
		}
		var result spec.AskResult
		if wrong := spec.Decode(resp.Result, &result); wrong != nil {
			return spec.AskResult{}, wrong
		}
		return result, nil
	}
}

// askTimeout is longer than any question is open: the desk ends it.
const askTimeout = 5 * time.Minute
