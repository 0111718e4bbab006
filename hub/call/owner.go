package call

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/hub/broadcast"
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
		changed := o.calls.gate.apps.changed.Wait()
		held := o.calls.holds.Wait()
		waiting, gone, asked := o.calls.gate.desk.Waiting()
		tell(spec.OwnerState{
			Paused:  slices.ContainsFunc(o.calls.rules.Policy().Document().Pauses, isOfAll),
			Waiting: waiting,
			Apps:    o.calls.gate.apps.list(time.Now()),
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
		o.calls.gate.apps.connected(by, n)
		o.calls.gate.changed.Fire()
	}
	turn(1)
	left := (&Agents{o.calls}).connected(by)
	return func(final bool) {
		turn(-1)
		left(final)
	}
}

// Bounds of what is shown of clients, and kept of them.
const (
	maxApps     = 16
	maxKeptApps = 256
	maxSaid     = 80               // bytes of a client's name, or of what it calls itself
	appGrace    = 10 * time.Minute // for how long one is shown that has called, and is not connected
)

// apps are the clients that are connected, or have just called. Its methods are safe for
// concurrent use.
type apps struct {
	changed  broadcast.Signal
	turnover atomic.Uint64 // how often one has connected or left

	mu  sync.Mutex
	all map[appKey]*app
}

// appKey tells apart the programs that show the same credential.
type appKey struct{ id, said string }

type app struct {
	spec.OwnerApp // but for LastMs
	connections   int
	last          time.Time // of its calls; zero: none
}

func (a *apps) connected(by *consent.Caller, n int) {
	a.change(by, func(it *app) { it.connections += n })
	a.turnover.Add(1)
}

func (a *apps) called(by *consent.Caller) {
	a.change(by, func(it *app) { it.Calls, it.last = it.Calls+1, time.Now() })
}

func (a *apps) change(by *consent.Caller, f func(*app)) {
	key := appKey{by.Principal.ID, by.Said}
	a.mu.Lock()
	it := a.all[key]
	if it == nil {
		if len(a.all) >= maxKeptApps {
			maps.DeleteFunc(a.all, func(_ appKey, it *app) bool { return it.connections == 0 })
		}
		it = &app{OwnerApp: spec.OwnerApp{Name: by.Principal.Name}}
		if said := describe.Clean(by.Said, maxSaid); said != by.Principal.Name {
			it.Said = said
		}
		if a.all == nil {
			a.all = map[appKey]*app{}
		}
		a.all[key] = it
	}
	f(it)
	a.mu.Unlock()
	a.changed.Fire()
}

// Turnover counts how often a client has connected or left.
func (o *Owner) Turnover() uint64 { return o.calls.gate.apps.turnover.Load() }

// App is a program that shows a client's credential: it is connected, or has called lately.
type App struct {
	Client    string    // the ID of the credential
	Said      string    // what it calls itself, as consent.Caller has it
	Connected bool      // with a connection that lasts
	Calls     int64     // since it came
	Last      time.Time // when it has called last; zero: it has not
}

// Apps returns the programs that are connected, or have called lately, in no order.
func (o *Owner) Apps() []App {
	a := &o.calls.gate.apps
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgetLocked(time.Now())
	all := make([]App, 0, len(a.all))
	for key, it := range a.all {
		all = append(all, App{Client: key.id, Said: key.said, Connected: it.connections > 0, Calls: it.Calls, Last: it.last})
	}
	return all
}

// forgetLocked forgets the apps that are gone.
func (a *apps) forgetLocked(now time.Time) {
	maps.DeleteFunc(a.all, func(_ appKey, it *app) bool { return it.connections == 0 && now.Sub(it.last) > appGrace })
}

// list returns the apps that are to be shown, the last to call first.
func (a *apps) list(now time.Time) []spec.OwnerApp {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgetLocked(now)
	latest := slices.SortedFunc(maps.Values(a.all), func(a, b *app) int {
		return cmp.Or(b.last.Compare(a.last), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Said, b.Said))
	})
	var shown []spec.OwnerApp
	for _, it := range latest[:min(len(latest), maxApps)] {
		made := it.OwnerApp
		if !it.last.IsZero() {
			made.LastMs = max(now.Sub(it.last).Milliseconds(), 1)
		}
		shown = append(shown, made)
	}
	return shown
}
