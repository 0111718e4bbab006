package forward_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"tabhub/hub/cluster/forward"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

// spliced returns a listener of another node, which has none of the users: it gives up each socket at the
// message that shows a credential, and has what l serves serve it. Pages of webmcp.v1 show theirs in the
// request, by which they are forwarded.
func spliced(t testing.TB, l *wstest.Listener) *wstest.Listener {
	to := forward.New(forward.Options{Dial: func(ctx context.Context, _ string) (net.Conn, error) { return l.Dial(ctx) }})
	remote := to.To("owner", func(_ context.Context, node, _ string) (string, error) { return node, nil })
	srv := wsserver.New(wsserver.Options{
		Detachable: true,
		Authenticate: func(*http.Request, *spec.Hello, *pairing.Exchange) (tabtransport.Admission, error) {
			return tabtransport.Admission{}, &tabtransport.RemoteError{Handler: remote}
		},
		Pair: func(*http.Request, *spec.Pair) (*pairing.Exchange, error) {
			return nil, &tabtransport.RemoteError{Handler: remote}
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/tabs", srv.Tabs())
	mux.Handle("/", remote)
	front := wstest.Serve(t, mux)
	t.Cleanup(func() {
		srv.Close(context.Background())
		to.Close()
	})
	return front
}

// A tab may come to any node: its hub serves it in the same way.
func TestSplicedWebSocketsKeepTheContract(t *testing.T) {
	tabtest.Run(t, func(t *testing.T) (tabtransport.TabHubTransport, tabtest.Dial) {
		srv := wsserver.New(wsserver.Options{})
		t.Cleanup(func() { srv.Close(context.Background()) })
		return srv.Transport(spec.LocalUser), spliced(t, wstest.Serve(t, srv.Tabs())).TabDial("/tabs")
	})
}

func TestSplicedTranscripts(t *testing.T) {
	wstest.ReplayFilesVia(t, "../../../spec/testdata/*.txtar", spliced)
}
