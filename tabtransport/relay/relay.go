package relay

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/tabtransport/wsconn"
)

// Options configure a Relay.
type Options struct {
	// Verify checks the credential of a peer. Its errors are sentences for the peer. It
	// may block.
	Verify func(Handshake) (Admission, error)
	// Detachable: Verify may return a *tabtransport.RemoteError, whose Handler then takes
	// the connection over.
	Detachable bool
	Log        *slog.Logger // nil discards
	Limits     Limits
}

// Handshake is what a peer says about itself before it is admitted.
type Handshake struct {
	Token     string        // "" if it shows none
	Extension bool          // it offers a browser; otherwise it is a client, which uses one
	Client    string        // the relay's id of the client, unique to it; "" for an extension
	Name      string        // what the client calls itself, "" if nothing
	Again     bool          // the client was admitted before, on the same WebSocket
	Request   *http.Request // that opened its WebSocket; its context ends with that
}

// Relay serves the MCP Proxy Protocol. Its handlers expect that the Host and Origin
// of a request have been checked. All methods are safe for concurrent use.
type Relay struct {
	// static after construction
	verify func(Handshake) (Admission, error)
	log    *slog.Logger
	limits Limits

	detachable bool

	conns *wsconn.Server

	// A peer that is refused may come back every few seconds: one refusal a minute is logged.
	refusedExtension, refusedClient rate.Sometimes

	mu sync.Mutex
	// tenants are never removed: a user with a new one would escape the rate limits.
	tenants map[spec.UserID]*tenant
}

// New returns a Relay.
func New(o Options) *Relay {
	r := &Relay{
		verify: o.Verify,
		log:    o.Log,
		limits: o.Limits.withDefaults(),

		detachable: o.Detachable,

		tenants: map[spec.UserID]*tenant{},
	}
	r.conns = wsconn.NewServer(wsconn.Config{
		MaxFrame:       r.limits.MaxFrame,
		MaxFirstFrame:  maxFirstFrame,
		MaxUnadmitted:  r.limits.MaxUnknown,
		MaxQueueFrames: r.limits.MaxQueueFrames,
		MaxQueue:       r.limits.MaxQueue,
		WriteTimeout:   writeTimeout,
		KeepAlive:      r.limits.KeepAlive,
		Awaited:        "shaken hands",
	})
	r.refusedExtension.Interval, r.refusedClient.Interval = time.Minute, time.Minute
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Close ends all connections and waits for them: requests under way are answered
// with an error, then the WebSockets are closed so that peers come back. It takes a few
// seconds at most, whatever peers do.
func (r *Relay) Close() {
	for _, t := range r.all() {
		t.shutDown()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	r.conns.Close(ctx)
}

// tenant returns the tenant of a user.
func (r *Relay) tenant(user spec.UserID) *tenant {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenants[user]
	if t == nil {
		t = newTenant(user, r.limits)
		r.tenants[user] = t
	}
	return t
}

// existing returns the tenant of a user, or nil if none of the user's peers has connected.
func (r *Relay) existing(user spec.UserID) *tenant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenants[user]
}

// all returns the tenants that there are.
func (r *Relay) all() []*tenant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.tenants))
}
