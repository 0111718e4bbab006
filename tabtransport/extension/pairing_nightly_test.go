//go:build nightly

package extension_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver"
)

// What both sides prove delays each connection of the browser. Nobody should feel that.
func TestHandshakeIsFast(t *testing.T) {
	h := newHub(t)
	h.stop()
	var begun time.Time
	var took []time.Duration
	ws := wsserver.New(wsserver.Options{
		Pair: func(r *http.Request, m *spec.Pair) (*pairing.Exchange, error) {
			begun = time.Now()
			return h.pairings.Pair(r, m)
		},
		Authenticate: func(_ *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
			id, err := h.pairings.Check(hello, ex)
			took = append(took, time.Since(begun))
			return tabtransport.Admission{Attested: true, Pairing: id}, err
		},
	})
	h.wire = ws.Transport(spec.LocalUser)
	h.wire.Handle(h)
	server := &http.Server{Handler: ws.Tabs()}
	go server.Serve(h.port.Listen())
	h.browse(chromium.Options{})
	for n := 1; n < 8; n++ {
		h.cut()
		h.wait("the extension is back", func() bool { return h.hellos > n })
	}
	server.Close()
	if err := ws.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	t.Logf("from browser/pair to browser/hello: %v to %v, half of them within %v", took[0], took[len(took)-1], took[len(took)/2])
	if took[0] > 5*time.Millisecond {
		t.Errorf("a handshake takes at least %v", took[0])
	}
}
