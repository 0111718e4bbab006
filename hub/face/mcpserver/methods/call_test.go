package methods

import (
	"testing"

	"tabhub/hub/call/ledger"
	"tabhub/storage"
)

// An answer that a request has waited for, and whose client has left meanwhile, is still there.
func TestLeftWhileWaiting(t *testing.T) {
	l := ledger.Open(ledger.Options{Keep: func(storage.Document, func(error)) {}, Forget: func(string) {}})
	ask := ledger.Ask{Session: ledger.Session{Client: "a", ID: "1"}, Tool: "pay", Request: "1"}
	c, _ := l.Begin(ask)
	c.End([]byte(`{}`), nil)
	rq := &Request{call: c, joined: true}
	if rq.endSilent(); c.WasTaken() {
		t.Error("nobody has had it")
	}
}
