package wstest

import (
	"context"
	"net"
	"net/http"
	"testing"

	"tabhub/hub/cluster/forward"
	"tabhub/spec"
	"tabhub/spec/transcript"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsserver"
)

// Spliced returns a listener of another node, which has none of the users: it lets go of each
// socket at the message that shows a credential, and has it served by what l serves. Pages of
// webmcp.v1, which show theirs in the request, are passed on by that.
func (l *Listener) Spliced(t testing.TB) *Listener {
	to := forward.New(forward.Options{Dial: func(ctx context.Context, _ string) (net.Conn, error) { return l.Dial(ctx) }})
	elsewhere := to.To("owner", func(_ context.Context, node, _ string) (string, error) { return node, nil })
	srv := wsserver.New(wsserver.Options{
		Detachable: true,
		Authenticate: func(*http.Request, *spec.Hello, *pairing.Exchange) (tabtransport.Admission, error) {
			return tabtransport.Admission{}, &tabtransport.RemoteError{Handler: elsewhere}
		},
		Pair: func(*http.Request, *spec.Pair) (*pairing.Exchange, error) {
			return nil, &tabtransport.RemoteError{Handler: elsewhere}
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/tabs", srv.Tabs())
	mux.Handle("/", elsewhere)
	front := Serve(t, mux)
	t.Cleanup(func() {
		srv.Close(context.Background())
		to.Close()
	})
	return front
}

// ReplayFilesSpliced is ReplayFiles where all peers come to another node.
func ReplayFilesSpliced(t *testing.T, pattern string) {
	transcript.Run(t, pattern, func(t *testing.T, v transcript.Vars) transcript.Player {
		p := start(t, v).(*player)
		p.listener = p.listener.Spliced(t)
		return p
	})
}
