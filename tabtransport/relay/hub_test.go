package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// The hub opens tabs for cached tools through an extension, next to its clients.
func TestHubRequests(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ctx := t.Context()
		if _, err := r.relay.Request(ctx, "ann", "ext-1", "createTab", nil); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Errorf("without an extension: %v", err)
		}
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"getTabs"}`)

		type outcome struct {
			result json.RawMessage
			err    error
		}
		request := func(ctx context.Context, user spec.UserID) <-chan outcome {
			done := make(chan outcome, 1)
			go func() {
				b, err := r.relay.Request(ctx, user, id, "createTab", json.RawMessage(`{"url":"https://example.com"}`))
				done <- outcome{b, err}
			}()
			return done
		}
		done := request(ctx, "ann")
		m := ext.message()
		if m.Method != "createTab" || string(m.Params) != `{"url":"https://example.com"}` || strings.HasPrefix(string(m.ID), `"`+conn) || !strings.HasPrefix(string(m.ID), `"conn-`) {
			t.Fatalf("%+v", m)
		}
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tabId":7}}`, m.ID))
		if o := <-done; o.err != nil || string(o.result) != `{"tabId":7}` {
			t.Fatalf("%+v", o)
		}
		mcp.quiet(time.Second)

		done = request(ctx, "ann")
		m = ext.message()
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"message":"No window","stack":"secret path"}}`, m.ID))
		if o := <-done; o.err == nil || o.err.Error() != "No window (-32000)" {
			t.Errorf("%+v", o)
		}

		if o := <-request(ctx, "eve"); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("another user: %+v", o)
		}

		cancelled, cancel := context.WithCancel(ctx)
		done = request(cancelled, "ann")
		m = ext.message()
		cancel()
		if o := <-done; !errors.Is(o.err, context.Canceled) {
			t.Errorf("%+v", o)
		}
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"late"}`, m.ID))

		done = request(ctx, "ann")
		ext.message()
		time.Sleep(151 * time.Second)
		if o := <-done; !errors.Is(o.err, tabtransport.ErrTimeout) {
			t.Errorf("%+v", o)
		}

		done = request(ctx, "ann")
		ext.message()
		ext.ws.NetConn().Close()
		if o := <-done; !errors.Is(o.err, tabtransport.ErrLost) {
			t.Errorf("%+v", o)
		}
		if o := <-request(ctx, "ann"); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("%+v", o)
		}
		if s := r.relay.Stats(); s.InFlight != 0 || s.Connections != 1 {
			t.Errorf("%+v", s)
		}
		if all := r.relay.Extensions("ann"); len(all) != 1 || all[0].Connected || all[0].Clients != 1 {
			t.Errorf("%+v", all)
		}
	})
}

// joined is the hub as its peers see it.
type joined struct {
	hub   *tabtransport.Peers
	conns chan tabtransport.Conn
	gone  chan spec.PeerID
}

func (j *joined) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	j.conns <- c
	return tabtransport.Accepted{Peer: spec.PeerID(c.Hello.TabKey)}, nil
}
func (j *joined) Message(spec.TabAddr, json.RawMessage, spec.Inbound) {}
func (j *joined) Disconnected(p spec.PeerID, _ error)                 { j.gone <- p }

// A hub whose only browser has an extension of the relay can still open the page of a
// cached tool.
func TestExtensionServesTheHub(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		hub := &joined{hub: tabtransport.NewPeers(), conns: make(chan tabtransport.Conn, 10), gone: make(chan spec.PeerID, 10)}
		r.relay.hub = func(user spec.UserID) tabtransport.Attacher {
			if user != "ann" {
				t.Errorf("%s joins", user)
			}
			return hub.hub
		}
		ext, id := r.extension(t, "token of ann", "chrome")
		time.Sleep(time.Minute) // the hub is opened when its user first needs it
		hub.hub.Handle(hub)
		conn := <-hub.conns
		if conn.Attested || conn.Hello.BrowserName != "Chrome 141" || fmt.Sprint(conn.Hello.Capabilities) != "[openTab listTabs]" {
			t.Errorf("%+v, %+v", conn, conn.Hello)
		}
		browser := spec.TabAddr{Peer: spec.PeerID("relay:" + id)}
		type outcome struct {
			resp spec.Response
			err  error
		}
		send := func(req spec.Request) <-chan outcome {
			done := make(chan outcome, 1)
			go func() {
				resp, err := hub.hub.SendRequest(t.Context(), browser, req, tabtransport.Wait{})
				done <- outcome{resp, err}
			}()
			return done
		}
		for _, c := range []struct {
			req                            spec.Request
			method, params, answer, result string
		}{
			{&spec.OpenTab{URL: "https://example.com/?a=1"}, "createTab", `{"url":"https://example.com/?a=1","activate":false}`, `"result":{"tabId":42}`, `{"tabId":42}`},
			{&spec.ListTabs{}, "getTabs", `{}`, `"result":{"tabs":[{"id":7,"windowId":1,"title":"Example","url":"https://example.com","active":true,"index":2,"automatable":true}]}`,
				`{"tabs":[{"tabId":7,"windowId":1,"index":2,"url":"https://example.com","title":"Example","active":true}]}`},
			{&spec.OpenTab{URL: "x"}, "createTab", `{"url":"x","activate":false}`, `"error":{"message":"No window"}`, ""},
			{&spec.ListTabs{}, "getTabs", `{}`, `"result":{"tabs":7}`, ""},
		} {
			done := send(c.req)
			m := ext.message()
			if m.Method != c.method || string(m.Params) != c.params {
				t.Errorf("%+v %s", m, m.Params)
			}
			ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, c.answer))
			if o := <-done; c.result != "" && (o.err != nil || o.resp.Failed || string(o.resp.Result) != c.result) || c.result == "" && o.err == nil && !o.resp.Failed {
				t.Errorf("%T: %s, %+v", c.req, o.resp.Result, o)
			}
		}
		if o := <-send(&spec.Screenshot{}); o.err == nil {
			t.Error("a screenshot")
		}
		ext.ws.NetConn().Close()
		if p := <-hub.gone; p != browser.Peer {
			t.Errorf("%s", p)
		}
		if o := <-send(&spec.ListTabs{}); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("%+v", o)
		}
	})
}
