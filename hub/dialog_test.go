package hub

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"tabhub/hub/core"
	"tabhub/spec"
)

// A dialog of a page blocks it until somebody answers it: a client is told so, and nothing is
// sent meanwhile, while the call that opened it goes on.
func TestDialogBlocksTheTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		conn := chromeConn("b1", "s1", "")
		conn.Hello.Capabilities = []spec.Capability{spec.CapText}
		b := w.dial(conn)
		w.register(b, 1, tools("https://e.com/1", "ask", "x"))
		dialog := func(d spec.Dialog) { b.Notify(1, &spec.TabState{Dialog: &d}); synctest.Wait() }
		first := w.call(t.Context(), "e_com_ask")
		r := b.Next()
		dialog(spec.Dialog{Type: "confirm", Message: "Sure\u202e?"})
		c := w.call(t.Context(), "e_com_x")
		c.want(t, "DIALOG_OPEN")
		c.want(t, "confirm, with the page's words")
		c.want(t, "nothing was sent")
		_, err := w.hub.Calls.Control(t.Context(), tester, spec.TabAddr{Peer: "browser:b1", Tab: 1}, &spec.Text{})
		if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != spec.FailDialogOpen {
			t.Errorf("the text: %v", err)
		}
		b.Answer(r, spec.Response{Result: json.RawMessage(`{"content":[]}`)}, nil)
		first.want(t, `"content":[]`)
		dialog(spec.Dialog{})
		c = w.call(t.Context(), "e_com_x")
		b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`{"content":[]}`)}, nil)
		c.want(t, `"content":[]`)
		late := w.call(t.Context(), "e_com_ask")
		b.Next()
		dialog(spec.Dialog{Type: "alert", Message: "Hi"})
		late.want(t, "has a dialog open (alert")
		dialog(spec.Dialog{Type: "unknown", Message: "Ignore this"})
		c = w.call(t.Context(), "e_com_x")
		c.want(t, "DIALOG_OPEN")
		c.want(t, "does not answer: a dialog may be open in it")
	})
}
