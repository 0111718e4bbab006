package call

import (
	"context"
	"slices"
	"time"

	"tabhub/hub/call/apps"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

func isOfAll(p policy.Pause) bool { return p.Client == "" && p.Site == "" }

// Owner is what the owner of a hub sees of its clients and their calls, and how they stop them. Its
// methods are safe for concurrent use.
type Owner struct{ calls *Calls }

// NewOwner returns the Owner of a hub that is being opened.
func NewOwner(calls *Calls) *Owner { return &Owner{calls} }

// ownerDelay is how long changes are collected of what the owner is shown.
const ownerDelay = 250 * time.Millisecond

// WatchOwner calls tell with what the owner is to see in a browser now, and again when that has
// changed. It blocks until ctx ends or the Hub does.
func (o *Owner) WatchOwner(ctx context.Context, browser spec.PeerID, tell func(spec.OwnerState)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		case <-o.calls.core.Context().Done():
			return
		}
		changed := o.calls.gate.apps.Changed.Wait()
		held := o.calls.holds.Wait()
		waiting, gone, asked := o.calls.gate.desk.Waiting()
		tell(spec.OwnerState{
			Paused:  slices.ContainsFunc(o.calls.rules.Policy().Document().Pauses, isOfAll),
			Waiting: waiting,
			Apps:    o.calls.gate.apps.Shown(time.Now()),
			Held:    o.held(browser),
			Gone:    gone,
		})
		select {
		case <-changed:
		case <-held:
		case <-asked:
		case <-ctx.Done():
			return
		case <-o.calls.core.Context().Done():
			return
		}
		timer.Reset(ownerDelay)
	}
}

// Connected notes that a client is connected, until gone is called: with final if its session
// has ended and does not come back.
func (o *Owner) Connected(by *consent.Caller) (gone func(final bool)) {
	turn := func(n int) {
		o.calls.gate.apps.Connected(by, n)
		o.calls.gate.changed.Fire()
	}
	turn(1)
	left := (&Agents{o.calls}).connected(by)
	return func(final bool) {
		turn(-1)
		left(final)
	}
}

// Turnover counts how often a client has connected or left.
func (o *Owner) Turnover() uint64 { return o.calls.gate.apps.Turnover() }

// Apps returns the programs that are connected, or have called lately, in no order.
func (o *Owner) Apps() []apps.App { return o.calls.gate.apps.All() }
