package browsertool_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/relay/relaytest"
	"tabhub/tabtransport/wsserver/wstest"
)

// relayed connects browsers whose extensions speak the MCP Proxy Protocol, or its
// predecessor, to the hub.
func (w *rig) relayed(browsers ...*relaytest.Browser) {
	w.t.Helper()
	r := relay.New(relay.Options{
		Verify: func(h relay.Handshake) (tabtransport.Admission, error) {
			if h.Token != "token" {
				return tabtransport.Admission{}, errors.New("no token")
			}
			return tabtransport.Admission{User: spec.LocalUser}, nil
		},
		Hub: func(spec.UserID) tabtransport.Attacher { return w.peers },
	})
	current, predecessor := httptest.NewServer(r.Extension()), httptest.NewServer(r.Legacy())
	w.t.Cleanup(func() { r.Close(); current.Close(); predecessor.Close() })
	for _, b := range browsers {
		url := current.URL
		if b.Predecessor {
			url = predecessor.URL
		}
		ws, _, err := wstest.Connect(w.t.Context(), "ws"+strings.TrimPrefix(url, "http"), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		b.Token = "token"
		served := make(chan struct{})
		go func() {
			defer close(served)
			b.Serve(ws.Receive, ws.Send)
		}()
		w.t.Cleanup(func() {
			ws.Close()
			<-served
		})
		if _, err := w.hub.AwaitPeer(w.t.Context(), func(info state.BrowserInfo) bool { return info.Name == b.Name }); err != nil {
			w.t.Fatal(err)
		}
	}
}

// A user whose browsers have the extension of another project uses them as any other.
func TestRelayedBrowsers(t *testing.T) {
	w := newRig(t)
	current := &relaytest.Browser{Name: "Chrome 141", ClientID: "chrome"}
	old := &relaytest.Browser{Name: "Edge 140", Predecessor: true}
	w.relayed(current, old)
	current.Add("https://a.example/")
	current.Add("https://b.example/")
	old.Add("https://c.example/")

	l := w.list()
	if len(l.Browsers) != 2 || len(l.Tabs) != 3 || w.hub.Status().Browsers != 2 {
		t.Fatalf("%+v", l)
	}
	t.Logf("%+v", l)
}
