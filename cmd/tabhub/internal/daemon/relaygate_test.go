package daemon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/wsserver/wstest"
)

// What a client of the relay has done in a browser is the owner's to decide, and to read of.
func TestRelayGate(t *testing.T) {
	h := hubtest.Open(t, hub.Options{Mode: policy.ModeCareful})
	g := &relayGate{h.Hub, &consent.Caller{Principal: &policy.Principal{ID: "c1", Name: "Claude"}, Said: "project", Session: "mcp-1"}}
	navigate := json.RawMessage(`{"method":"Page.navigate","params":{"url":"https://shop.example/"}}`)
	refused := func(err error, code spec.FailureCode, words string) {
		t.Helper()
		if e, ok := err.(*spec.Error); !ok || !strings.Contains(string(e.Data), string(code)) || !strings.Contains(e.Message, words) {
			t.Errorf("%v is not %s, %s", err, code, words)
		}
	}
	edit := func(edit func(*policy.Document)) {
		t.Helper()
		if err := h.Rules.EditPolicy("test", func(doc *policy.Document) error { edit(doc); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := g.Admit("forwardCDPCommand", navigate, false)
	refused(err, spec.FailDenied, "has no id")
	_, ask, err := g.Admit("forwardCDPCommand", navigate, true)
	if ask == nil || err != nil {
		t.Fatalf("the owner is not asked: %v", err)
	}
	_, err = ask(t.Context())
	refused(err, spec.FailDenied, "tabhub approve")

	rule := policy.Rule{ID: "r1", Effect: policy.Allow, Client: "c1", Class: "relay", Tool: "forwardCDPCommand Page.navigate"}
	edit(func(doc *policy.Document) { doc.Put(rule, time.Now()) })
	if p, ask, err := g.Admit("forwardCDPCommand", navigate, true); p == nil || ask != nil || err != nil {
		t.Errorf("what the owner allows is not let pass: %v", err)
	}
	if _, ask, _ := g.Admit("getTabs", nil, true); ask == nil {
		t.Error("one answer is good for another method")
	}
	if err := g.Hears(); err != nil {
		t.Errorf("a client whose connection the owner was asked about hears nothing: %v", err)
	}
	edit(func(doc *policy.Document) { doc.Pauses = append(doc.Pauses, policy.Pause{Client: "c1"}) })
	_, _, err = g.Admit("forwardCDPCommand", navigate, true)
	refused(err, spec.FailPaused, "paused")
	refused(g.Hears(), spec.FailPaused, "paused")

	var lines []string
	for _, e := range h.Recorded.Entries(record.Query{}) {
		if e.Event == record.Relay {
			lines = append(lines, strings.Join([]string{e.Client, e.Said, e.Session, e.Tool, e.Class, e.Decision, e.Rule, e.Outcome}, " "))
		}
	}
	const who = "c1 project mcp-1 forwardCDPCommand Page.navigate write "
	want := []string{who + "ask preset:relay DENIED", who + "ask preset:relay DENIED", who + "allow r1 ok", who + "deny pause PAUSED"}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("recorded\n%s", got)
	}

	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err = g.Admit("getTabs", nil, true)
	refused(err, spec.FailNotConnected, "connect again")
	refused(g.Hears(), spec.FailNotConnected, "connect again")
}

// relayRig is a relay behind a real listener, with the hubs of its users.
type relayRig struct {
	t    *testing.T
	hubs map[spec.UserID]*hubtest.Hub
	ext  map[spec.UserID]*wstest.Peer
	mcp  map[spec.UserID]*wstest.Peer
}

// newRelayRig connects a client and an extension of each user.
func newRelayRig(t *testing.T, users ...spec.UserID) *relayRig {
	w := &relayRig{t: t, hubs: map[spec.UserID]*hubtest.Hub{}, ext: map[spec.UserID]*wstest.Peer{}, mcp: map[spec.UserID]*wstest.Peer{}}
	r := relay.New(relay.Options{Verify: func(h relay.Handshake) (a relay.Admission, err error) {
		a.User = spec.UserID(h.Token)
		a.Gate = &relayGate{w.hubs[a.User].Hub, &consent.Caller{Principal: &policy.Principal{ID: "c1", Name: "Claude"}, Said: h.Name, Session: h.Client}}
		return a, nil
	}})
	mux := http.NewServeMux()
	mux.Handle("/extension", r.Extension())
	mux.Handle("/mcp", r.Client())
	server := httptest.NewServer(mux)
	t.Cleanup(func() { r.Close(); server.Close() })
	connect := func(path string) *wstest.Peer {
		ws, _, err := wstest.Connect(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	for _, user := range users {
		w.hubs[user] = hubtest.Open(t, hub.Options{Mode: policy.ModeOpen})
		ext, mcp := connect("/extension"), connect("/mcp")
		w.ext[user], w.mcp[user] = ext, mcp
		w.next(ext, `"authenticate"`)
		w.Send(ext, `{"id":"proxy:1","result":{"name":"Chrome 141","accessToken":%q,"client_id":"chrome"}}`, user)
		id, _ := rawjson.String(rawjson.Get(w.next(ext, `"authenticated"`), "params", "extension_id"))
		w.Send(mcp, `{"id":1,"method":"mcp_handshake","params":{"accessToken":%q,"client_id":"project"}}`, user)
		w.Send(mcp, `{"id":2,"method":"connect","params":{"extension_id":%q}}`, id)
		w.next(mcp, `"id":2,"result"`)
	}
	return w
}

func (w *relayRig) Send(ws *wstest.Peer, format string, args ...any) {
	w.t.Helper()
	if err := ws.Send(fmt.Appendf(nil, format, args...)); err != nil {
		w.t.Fatal(err)
	}
}

// next returns the next frame in which a text is.
func (w *relayRig) next(ws *wstest.Peer, text string) []byte {
	w.t.Helper()
	for {
		frame, err := ws.Receive()
		if err != nil {
			w.t.Fatalf("waiting for %s: %v", text, err)
		}
		if strings.Contains(string(frame), text) {
			return frame
		}
	}
}

// What a client has forwarded must be seen by its owner, and nobody else, while it is under way,
// and ends for the client when that owner stops or pauses it.
func TestForwardedRequestIsUnderWay(t *testing.T) {
	w := newRelayRig(t, "ann", "bob")
	ann, bob := w.hubs["ann"], w.hubs["bob"]
	var ids []json.RawMessage
	for n := 3; n <= 5; n++ {
		w.Send(w.mcp["ann"], `{"id":%d,"method":"forwardCDPCommand","params":{"method":"Page.navigate"}}`, n)
		ids = append(ids, rawjson.Get(w.next(w.ext["ann"], "Page.navigate"), "id"))
	}
	w.Send(w.mcp["bob"], `{"id":3,"method":"getTabs"}`)
	w.next(w.ext["bob"], "getTabs")

	running, n := ann.Owner.Running()
	if n != 3 {
		t.Fatalf("under way: %+v", running)
	}
	first := running[0]
	if first.Client != "c1" || first.Name != "Claude" || first.Said != "project" || first.Tool != "forwardCDPCommand Page.navigate" ||
		first.Browser != "Chrome 141" || first.Phase != call.PhaseRunning || first.Decision != "allow" || first.Kind != "" || first.Domain != "" {
		t.Errorf("%+v", first)
	}
	if bob.Owner.Stop(first.ID) || !ann.Owner.Stop(first.ID) {
		t.Error("a request is another owner's to stop")
	}
	stopped := string(w.next(w.mcp["ann"], `"id":3`))
	if !strings.Contains(stopped, `"code":"STOPPED"`) || !strings.Contains(stopped, "it may have taken effect") {
		t.Error(stopped)
	}
	w.Send(w.ext["ann"], `{"jsonrpc":"2.0","id":%s,"result":{}}`, ids[1])
	w.next(w.mcp["ann"], `"id":4,"result"`)
	if err := ann.Rules.Pause("test", true); err != nil {
		t.Fatal(err)
	}
	paused := string(w.next(w.mcp["ann"], `"id":5`))
	if !strings.Contains(paused, `"code":"PAUSED"`) || !strings.Contains(paused, "it may have taken effect") {
		t.Error(paused)
	}
	if running, n := ann.Owner.Running(); n != 0 {
		t.Errorf("under way at the end: %+v", running)
	}
	if _, n := bob.Owner.Running(); n != 1 {
		t.Errorf("%d of another user are under way", n)
	}
	for _, e := range ann.Recorded.Entries(record.Query{}) {
		if e.Event == record.Relay && (e.Outcome != "ok" || e.Call == "") {
			t.Errorf("recorded %+v", e)
		}
	}
}

// What a client may do with an extension goes by what it would do there, and a command of the Chrome DevTools Protocol by its name.
func TestRelayAction(t *testing.T) {
	by := &consent.Caller{Principal: policy.Owner, Said: "test"}
	for _, c := range []struct {
		method, params, name string
		class                policy.Class
	}{
		{"connect", `{}`, "connect", policy.Read},
		{"getTabs", `{}`, "getTabs", policy.Read},
		{"click", `{}`, "click", policy.Write},
		{"getTabs2", `{}`, "getTabs2", policy.Write},
		{"forwardCDPCommand", `{"method":"Page.captureScreenshot"}`, "forwardCDPCommand Page.captureScreenshot", policy.Write},
		{"forwardCDPCommand", `{"method":"Runtime.evaluate"}`, "forwardCDPCommand Runtime.evaluate", policy.Write},
		{"forwardCDPCommand", `{"method":"Browser.getVersion"}`, "forwardCDPCommand Browser.getVersion", policy.Destructive},
		{"forwardCDPCommand", `{"method":"Target.createTarget"}`, "forwardCDPCommand Target.createTarget", policy.Destructive},
		{"forwardCDPCommand", `{"method":"Network.getAllCookies"}`, "forwardCDPCommand Network.getAllCookies", policy.Destructive},
		{"forwardCDPCommand", `{"method":"DOM.setFileInputFiles"}`, "forwardCDPCommand DOM.setFileInputFiles", policy.Destructive},
		// What a browser takes of an object that has a member twice.
		{"forwardCDPCommand", `{"method":"Page.captureScreenshot","method":"Browser.close"}`, "forwardCDPCommand Browser.close", policy.Destructive},
		{"forwardCDPCommand", `{"method":"Page.captureScreenshot","\u006dethod":"Browser.close"}`, "forwardCDPCommand Browser.close", policy.Destructive},
		{"forwardCDPCommand", `{"method":7}`, "forwardCDPCommand", policy.Write},
		{"forwardCDPCommand", `["Page.captureScreenshot"]`, "forwardCDPCommand", policy.Write},
		{"forwardCDPCommand", ``, "forwardCDPCommand", policy.Write},
	} {
		a := relayAction(by, c.method, json.RawMessage(c.params))
		if a.Name != c.name || a.Class != c.class || a.Of != policy.OfRelay || !a.Site.Any || a.Principal != policy.Owner {
			t.Errorf("%s %s: %+v", c.method, c.params, a)
		}
	}
}
