// Package apps knows which programs of clients are connected, or have called lately.
package apps

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/hub/broadcast"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// Bounds of what is shown of clients, and kept of them.
const (
	maxApps     = 16
	maxKeptApps = 256
	// MaxSaid is how long a client's name may be, or what it calls itself, in bytes.
	MaxSaid  = 80
	appGrace = 10 * time.Minute // for how long one is shown that has called, and is not connected
)

// Apps are the clients that are connected, or have just called. Its methods are safe for
// concurrent use.
type Apps struct {
	// Changed is fired when they change.
	Changed  broadcast.Signal
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

// Connected notes that a client has so many connections more.
func (a *Apps) Connected(by *consent.Caller, n int) {
	a.change(by, func(it *app) { it.connections += n })
	a.turnover.Add(1)
}

// Called notes that a client makes a call.
func (a *Apps) Called(by *consent.Caller) {
	a.change(by, func(it *app) { it.Calls, it.last = it.Calls+1, time.Now() })
}

func (a *Apps) change(by *consent.Caller, f func(*app)) {
	key := appKey{by.Principal.ID, by.Said}
	a.mu.Lock()
	it := a.all[key]
	if it == nil {
		if len(a.all) >= maxKeptApps {
			maps.DeleteFunc(a.all, func(_ appKey, it *app) bool { return it.connections == 0 })
		}
		it = &app{OwnerApp: spec.OwnerApp{Name: by.Principal.Name}}
		if said := describe.Clean(by.Said, MaxSaid); said != by.Principal.Name {
			it.Said = said
		}
		if a.all == nil {
			a.all = map[appKey]*app{}
		}
		a.all[key] = it
	}
	f(it)
	a.mu.Unlock()
	a.Changed.Fire()
}

// Turnover counts how often a client has connected or left.
func (a *Apps) Turnover() uint64 { return a.turnover.Load() }

// App is a program that shows a client's credential: it is connected, or has called lately.
type App struct {
	Client    string    // the ID of the credential
	Said      string    // what it calls itself, as consent.Caller has it
	Connected bool      // with a connection that lasts
	Calls     int64     // since it came
	Last      time.Time // when it has called last; zero: it has not
}

// All returns the programs that are connected, or have called lately, in no order.
func (a *Apps) All() []App {
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
func (a *Apps) forgetLocked(now time.Time) {
	maps.DeleteFunc(a.all, func(_ appKey, it *app) bool { return it.connections == 0 && now.Sub(it.last) > appGrace })
}

// Shown returns the apps that the owner is shown, the last to call first.
func (a *Apps) Shown(now time.Time) []spec.OwnerApp {
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
