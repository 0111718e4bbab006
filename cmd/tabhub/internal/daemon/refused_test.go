package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/hub/face/admin"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
)

// sayAsExtension opens a connection as the companion extension does, says one thing, and
// returns the error that it is answered with and the code that the connection ends with.
func sayAsExtension(t *testing.T, d websocket.Dialer, addr, frame string) (*spec.Error, int) {
	t.Helper()
	d.Subprotocols = []string{spec.Subprotocol}
	ws, _, err := d.DialContext(t.Context(), "ws://"+addr+"/tabs", http.Header{"Origin": {extension.Origin}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		t.Fatal(err)
	}
	var answer struct{ Error *spec.Error }
	if err := ws.ReadJSON(&answer); err != nil || answer.Error == nil {
		t.Fatalf("the answer: %+v, %v; want an error", answer, err)
	}
	_, _, err = ws.ReadMessage()
	end, ok := err.(*websocket.CloseError)
	if !ok {
		t.Fatalf("the connection ends with %v", err)
	}
	return answer.Error, end.Code
}

// oldHello is what the extension says first that knows no pairing: its secrets.
func oldHello(token string) string {
	params, _ := json.Marshal(map[string]any{
		"protocolVersion": "tabhub.v1", "browserId": "0b1b", "browserSecret": "a secret of an older hub", "browserName": "Chromium 150",
		"session": "s-1", "capabilities": []string{"openTab", "listTabs"}, "token": token, "instance": "a nonce of an older hub",
	})
	return `{"jsonrpc":"2.0","id":"hello","method":"browser/hello","params":` + string(params) + `}`
}

// A user who updates tabhub has an extension that shows no pairing. It is kept out, even
// with the token, and both it and the owner are told what to do.
func TestOlderExtension(t *testing.T) {
	for _, token := range []bool{false, true} {
		p, _ := serve(t, io.Discard)
		shown := ""
		if token {
			secret, err := p.Dir.Token()
			if err != nil {
				t.Fatal(err)
			}
			shown = secret
		}
		told, code := sayAsExtension(t, websocket.Dialer{}, p.Info.Addrs[0], oldHello(shown))
		if told.Code != spec.CodeUnpaired || !strings.Contains(told.Message, "run `tabhub extension DIR` again") || code != int(spec.CloseRefused) {
			t.Errorf("it is answered %+v and %d", told, code)
		}
		list := p.inform().Refused
		if len(list) != 1 || !strings.Contains(list[0].Reason, "older version") || list[0].Times != 1 || !list[0].Own || time.Since(list[0].Last) > time.Minute {
			t.Errorf("the hub remembers %+v", list)
		}
		wantExtension(t, p, setup.StateProblem, "one was refused at")
	}
}

// wantExtension checks what the doctor says of the extension.
func wantExtension(t *testing.T, p *Process, state, words string) {
	t.Helper()
	all := setup.Diagnose(t.Context(), p.App, p.Config)
	if !slices.ContainsFunc(all, func(f admin.Finding) bool {
		return f.Check == "extension" && f.State == state && strings.HasPrefix(f.Text, words)
	}) {
		t.Errorf("the doctor says %+v", all)
	}
}

// An extension that is another hub's, or was forgotten.
func TestExtensionOfAnotherHub(t *testing.T) {
	p, _ := serve(t, io.Discard)
	pair := fmt.Sprintf(`{"jsonrpc":"2.0","id":"pair","method":"browser/pair","params":{"protocolVersion":"tabhub.v1","pairing":"copy.of.another","nonce":%q}}`, pairing.NewNonce())
	for range 2 {
		if told, code := sayAsExtension(t, websocket.Dialer{}, p.Info.Addrs[0], pair); told.Code != spec.CodeUnpaired || code != int(spec.CloseRefused) {
			t.Errorf("it is answered %+v and %d", told, code)
		}
	}
	if list := p.inform().Refused; len(list) != 1 || !strings.Contains(list[0].Reason, "does not know its pairing") || list[0].Times != 2 {
		t.Errorf("the hub remembers %+v", list)
	}
}

// What is remembered is bounded, whatever comes.
func TestRefusedIsBounded(t *testing.T) {
	var f refusals
	for n := range 3 * maxRefused {
		f.add(admin.Refusal{Reason: fmt.Sprint("reason ", n)})
	}
	f.add(admin.Refusal{Reason: fmt.Sprint("reason ", 2*maxRefused)})
	list := f.latest()
	if last := list[len(list)-1]; len(list) != maxRefused || last.Times != 2 {
		t.Errorf("%d refusals, at last %+v", len(list), last)
	}
	f.add(admin.Refusal{Reason: "another"})
	if list = f.latest(); list[0].Reason != fmt.Sprint("reason ", 2*maxRefused+2) {
		t.Errorf("the oldest is now %+v", list[0])
	}
}
