package admin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// Options configure an API. Info, Doctor and Stop must be set. The door sets Tenants, Accounts, URL,
// Clients and Log.
type Options struct {
	Tenants  *tenant.Registry
	Accounts bool   // the hub has several users
	URL      string // where users open the dashboard, without the slash at its end
	Log      *slog.Logger
	// Served returns how many clients the hub serves now.
	Served func() int

	Info func() Info
	// Doctor checks everything that tabhub needs.
	Doctor func(context.Context) []Finding
	// Stop asks the process to end; why is "stop", "upgrade" or "idle".
	Stop func(why string)
	// CheckUpgrade returns why the process must not end for an upgrade. Nil: nothing prevents it.
	CheckUpgrade func(context.Context) error
	// Rotate replaces the hub's token. Nil: it has none.
	Rotate func() error
	// Ring has the pairings of the hub with browsers. Nil: no browser can be paired.
	Ring *pairing.Ring
	// Clients are the clients that have a credential. Nil: none can get one.
	Clients *auth.Clients
	// RelayClients describes a user's clients of the relay. Nil: there are none.
	RelayClients func(spec.UserID) []methods.SessionInfo
	// RelayExtensions returns how many extensions of a user the relay has. Nil: there are none.
	RelayExtensions func(spec.UserID) int
	// Connect says how MCP clients are connected. Nil: that is not known.
	Connect func() []Connectable
}

// API is the admin API of all users. It is safe for concurrent use.
type API struct {
	o      Options
	doctor sync.Mutex // held while Options.Doctor runs

	ctx context.Context // done when the API is closed
	end context.CancelFunc

	mu      sync.Mutex
	streams map[stream]int // how many are open
}

// New returns an API.
func New(o Options) *API {
	api := &API{o: o, streams: map[stream]int{}}
	api.ctx, api.end = context.WithCancel(context.Background())
	return api
}

// Close ends the streams and the requests that wait for a person.
func (api *API) Close() { api.end() }

// stream identifies the streams that count as one kind.
type stream struct {
	user spec.UserID
	path string
}

// maxStreams is how many streams of one kind a user may have open: each may take some MiB.
const maxStreams = 16

// beginStream counts a request that is answered by a stream, until end is called. ctx ends with the
// request, with its credential and with the API.
func (api *API) beginStream(r *endpoint.Request) (ctx context.Context, end func(), err error) {
	of := stream{r.Tenant.User, r.URL.Path}
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.streams[of] >= maxStreams {
		return nil, nil, &endpoint.Error{Status: http.StatusTooManyRequests, Text: fmt.Sprintf("%d windows or programs read %s already; close some", maxStreams, of.path)}
	}
	api.streams[of]++
	ctx, cancel := r.Identity.Context(r.Context())
	detach := context.AfterFunc(api.ctx, cancel)
	return ctx, func() {
		detach()
		cancel()
		api.mu.Lock()
		defer api.mu.Unlock()
		if api.streams[of]--; api.streams[of] == 0 {
			delete(api.streams, of)
		}
	}, nil
}

// Streams returns how many streams a user has open, or for "" how many are open. An open dashboard
// has one.
func (api *API) Streams(user spec.UserID) (n int) {
	api.mu.Lock()
	defer api.mu.Unlock()
	for of, open := range api.streams {
		if user == "" || of.user == user {
			n += open
		}
	}
	return n
}

// nonNil makes an empty list [] in JSON.
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
