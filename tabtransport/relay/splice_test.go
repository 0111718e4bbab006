package relay

import (
	"context"
	"net"
	"net/http"

	"github.com/gorilla/websocket"

	"tabhub/hub/cluster/forward"
	"tabhub/tabtransport"
)

// spliced has all peers come to the relay of another node, which has none of the users and
// lets go of each when it has shown its token.
func (r *rig) spliced() {
	direct := r.dial.NetDialContext
	to := forward.New(forward.Options{Dial: func(ctx context.Context, _ string) (net.Conn, error) { return direct(ctx, "", "") }})
	elsewhere := to.To("owner", func(_ context.Context, node, _ string) (string, error) { return node, nil })
	entrance := New(Options{
		Limits: r.relay.limits, Detachable: true,
		Verify: func(Handshake) (Admission, error) {
			return Admission{}, &tabtransport.RemoteError{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				req = req.Clone(req.Context())
				req.Header.Set(openedHeader, "yes")
				elsewhere.ServeHTTP(w, req)
			})}
		},
	})
	m := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: (&rig{relay: entrance}).handler()}
	go srv.Serve(m)
	r.dial = websocket.Dialer{NetDialContext: m.dial}
	r.t.Cleanup(func() {
		entrance.Close()
		to.Close()
		srv.Close()
	})
}

// openedHeader is how the nodes of these tests say tabtransport.WithOpened.
const openedHeader = "Test-Opened"

func opened(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(openedHeader) != "" {
			r = r.WithContext(tabtransport.WithOpened(r.Context()))
		}
		h.ServeHTTP(w, r)
	})
}
