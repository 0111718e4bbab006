package call

import (
	"context"
	"maps"
	"sync"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// Handover says what becomes of a client's calls of a tab that it holds, while the owner uses
// the tab. What only reads goes on.
type Handover string

// The choices for Handover.
const (
	HandoverWait   Handover = "wait"   // they wait for the owner, as long as they may take
	HandoverFail   Handover = "fail"   // they fail at once
	HandoverIgnore Handover = "ignore" // they go on
)

// waitingEvery is how often a client is told that its call waits for the owner, and its lease renewed:
// more often than any ends.
const waitingEvery = 5 * time.Second

// inputWaits are the calls that wait until the owner does not use a tab, by tab. It is safe for
// concurrent use.
type inputWaits struct {
	changed func()

	mu   sync.Mutex
	tabs map[spec.TabAddr]int
}

// begin says that a call waits, until end is called.
func (y *inputWaits) begin(addr spec.TabAddr) (end func()) {
	turn := func(n int) {
		y.mu.Lock()
		if y.tabs == nil {
			y.tabs = map[spec.TabAddr]int{}
		}
		if y.tabs[addr] += n; y.tabs[addr] == 0 {
			delete(y.tabs, addr)
		}
		y.mu.Unlock()
		y.changed()
	}
	turn(1)
	return func() { turn(-1) }
}

// in returns how many calls wait, by tab.
func (y *inputWaits) in() map[spec.TabAddr]int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return maps.Clone(y.tabs)
}

// Waiting returns how many calls wait until the owner does not use a tab, by tab.
func (cs *Calls) Waiting() map[spec.TabAddr]int { return cs.inputWaits.in() }

// awaitUser blocks while the owner uses a tab that a client holds, if the Hub is to wait then,
// and reports whether it has. What must not wait, or not any longer, gets a *Failure.
func (cs *Calls) awaitUser(ctx context.Context, of *ledger.Call, by *consent.Caller, addr spec.TabAddr, until time.Time) (waited bool, err error) {
	id := core.SessionOf(by)
	inUse := func(s *state.State) bool { return s.Agents().InUse(addr, id) }
	if cs.opts.Handover == HandoverIgnore || !core.View(cs.core, inUse) {
		return false, nil
	}
	failure := core.Fail(spec.FailTabInUse, "the owner is using tab %s by hand; nothing was sent. Try again later, or work in another tab", addr.Public())
	if cs.opts.Handover == HandoverFail {
		return false, failure
	}
	of.Waits(addr)
	defer of.GoesOn()
	defer cs.inputWaits.begin(addr)()
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	tick := time.NewTicker(waitingEvery)
	defer tick.Stop()
	tell := func(n int) {
		p := spec.Progress{Progress: float64(n) / 1000, Message: "the owner is using this tab; the call waits until they have finished", Waiting: true}
		progressed(of, p)
		by.Report(p)
	}
	tell(0)
	for n := 1; ; {
		changed := cs.core.Changes()
		if !core.View(cs.core, inUse) {
			return true, nil
		}
		select {
		case <-changed:
		case <-tick.C:
			cs.renew(id, addr)
			tell(n)
			n++
		case <-late.C:
			return true, failure
		case <-ctx.Done():
			return true, context.Cause(ctx)
		case <-cs.core.Context().Done():
			return true, cs.core.EndedFailure(false)
		}
	}
}

// renew renews the lease that a session has of a tab.
func (cs *Calls) renew(id agents.SessionID, addr spec.TabAddr) {
	if core.View(cs.core, func(s *state.State) bool { return s.Agents().Renew(id, addr, time.Now()) }) {
		cs.core.Update(func(tx *state.Tx) { tx.Agents().Save(id) })
	}
}

// held returns the leased tabs of a browser, for its owner.
func (o *Owner) held(browser spec.PeerID) []spec.HeldTab {
	waiting := o.calls.inputWaits.in()
	o.calls.core.RLock()
	defer o.calls.core.RUnlock()
	if !o.calls.core.State().TellsUse(browser) {
		return nil
	}
	var held []spec.HeldTab
	for _, addr := range o.calls.core.State().Agents().LeasedIn(browser, agents.SessionID{}) {
		by := o.calls.core.State().Agents().Holder(addr)
		held = append(held, spec.HeldTab{TabID: addr.Tab, By: by.Name, UntilMs: max(time.Until(by.Until).Milliseconds(), 0), Waiting: waiting[addr] > 0})
	}
	return held
}
