package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/relay/relaytest"
)

// joined is the hub as its peers see it.
type joined struct {
	hub   *tabtransport.Peers
	conns chan tabtransport.Conn
	last  tabtransport.Conn
	gone  chan spec.PeerID
}

// newHub returns a hub that is not open yet, which the user's extensions join.
func newHub(r *rig) *joined {
	j := &joined{hub: tabtransport.NewPeers(), conns: make(chan tabtransport.Conn, 10), gone: make(chan spec.PeerID, 10)}
	r.relay.hub = func(spec.UserID) tabtransport.Attacher { return j.hub }
	return j
}

func openHub(r *rig) *joined {
	j := newHub(r)
	j.hub.Handle(j)
	return j
}

func (j *joined) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	j.conns <- c
	return tabtransport.Accepted{Peer: spec.PeerID(c.Hello.BrowserID)}, nil
}
func (j *joined) Message(spec.TabAddr, json.RawMessage, spec.Inbound) {}
func (j *joined) Disconnected(p spec.PeerID, _ error)                 { j.gone <- p }

// driven is a browser of the relay, and the hub that it has joined.
type driven struct {
	t *testing.T
	*relaytest.Browser
	hub  *joined
	addr spec.TabAddr // of the browser
}

// drive connects a browser, whose hub is open.
func (r *rig) drive(t *testing.T, b *relaytest.Browser) *driven {
	t.Helper()
	j := openHub(r)
	b.Name, b.Token, b.ClientID = "Chrome 141", "token of ann", "chrome"
	path := "/extension"
	if b.Predecessor {
		path = "/relay"
	}
	ws, _, err := r.dial.DialContext(t.Context(), r.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		b.Serve(func() ([]byte, error) {
			_, frame, err := ws.ReadMessage()
			return frame, err
		}, func(frame []byte) error { return ws.WriteMessage(1, frame) })
	}()
	t.Cleanup(func() {
		ws.Close()
		<-served
	})
	conn := <-j.conns
	return &driven{t: t, Browser: b, hub: j, addr: spec.TabAddr{Peer: spec.PeerID(conn.Hello.BrowserID)}}
}

// ask sends a request of the hub and returns the answer, or why there is none.
func (d *driven) ask(tab int64, req spec.Request) string {
	d.t.Helper()
	to := d.addr
	to.Tab = tab
	resp, err := d.hub.hub.SendRequest(d.t.Context(), to, req, tabtransport.Wait{Timeout: spec.ControlTimeout})
	if resp.Failed {
		d.t.Errorf("%s is answered as a call: %s", req.Method(), resp.Result)
	}
	if err != nil {
		return err.Error()
	}
	return string(resp.Result)
}

// expect asks and compares.
func (d *driven) expect(tab int64, req spec.Request, want string) {
	d.t.Helper()
	if got := d.ask(tab, req); got != want {
		d.t.Errorf("%T: %s, want %s", req, got, want)
	}
}

func (d *driven) shows(want ...string) {
	d.t.Helper()
	if got := d.URLs(); !slices.Equal(got, want) {
		d.t.Errorf("the browser shows %q, want %q", got, want)
	}
}

// A browser with an extension of either protocol is as good as one with the hub's own.
func TestBrowser(t *testing.T) {
	for _, b := range []*relaytest.Browser{{}, {Predecessor: true}, {Plain: true}} {
		t.Run(fmt.Sprintf("predecessor %v plain %v", b.Predecessor, b.Plain), func(t *testing.T) {
			bubble(t, Limits{}, func(t *testing.T, r *rig) {
				d := r.drive(t, b)
				a := d.Add("https://a.example/")
				d.Add("chrome://settings/")
				d.expect(0, &spec.Ping{}, "{}")
				d.expect(0, &spec.ListTabs{}, `{"tabs":[{"tabId":7,"windowId":1,"index":0,"url":"https://a.example/","title":"Title of https://a.example/","active":false},`+
					`{"tabId":14,"windowId":1,"index":1,"url":"chrome://settings/","title":"Title of chrome://settings/","active":true}]}`)

				// What is meant for another site than the tab shows is not done.
				for _, req := range []spec.Request{
					&spec.ActivateTab{IfOrigin: "https://b.example"}, &spec.CloseTab{IfOrigin: "https://b.example"}, &spec.Text{IfOrigin: "https://b.example"},
					&spec.Screenshot{IfOrigin: "http://a.example"}, &spec.Navigate{Reload: true, IfOrigin: "https://a.example:8443"},
				} {
					if got := d.ask(a.ID, req); !strings.Contains(got, "another site") {
						t.Errorf("%T: %s", req, got)
					}
				}
				d.expect(0, &spec.OpenTab{URL: "https://b.example/"}, `{"tabId":21}`)
				d.shows("https://a.example/", "chrome://settings/*", "https://b.example/")
				d.expect(0, &spec.OpenTab{URL: "https://c.example/", Active: true}, `{"tabId":28}`)
				d.expect(a.ID, &spec.ActivateTab{IfOrigin: "https://a.example"}, "{}")
				d.shows("https://a.example/*", "chrome://settings/", "https://b.example/", "https://c.example/")
				d.expect(21, &spec.CloseTab{}, "{}")
				d.shows("https://a.example/*", "chrome://settings/", "https://c.example/")

				d.expect(28, &spec.Navigate{URL: "https://d.example/"}, "{}")
				d.shows("https://a.example/*", "chrome://settings/", "https://d.example/")
				d.expect(28, &spec.Navigate{Back: true}, "{}")
				d.shows("https://a.example/*", "chrome://settings/", "https://c.example/")
				d.expect(28, &spec.Navigate{Forward: true}, "{}")
				d.shows("https://a.example/*", "chrome://settings/", "https://d.example/")
				if got := d.ask(28, &spec.Navigate{Forward: true}); !strings.Contains(strings.ToLower(got), "no page to go to") {
					t.Error(got)
				}
				d.expect(a.ID, &spec.Screenshot{}, `{"mimeType":"image/png","data":"iVBORw0KGgo="}`)
				if b.Plain {
					d.expect(a.ID, &spec.Text{}, "the browser's extension cannot do this: Unknown command: forwardCDPCommand (-32004)")
				} else {
					d.expect(a.ID, &spec.Text{}, `{"text":"Hello https://a.example/"}`)
					d.expect(a.ID, &spec.Navigate{URL: "https://nowhere.example/"}, "the page cannot be loaded: net::ERR_NAME_NOT_RESOLVED (-32603)")
				}

				// What cannot be done says so.
				d.expect(99, &spec.CloseTab{}, "the tab is not open (-32001)")
				d.expect(0, &spec.CloseTab{}, "the tab is not open (-32001)") // not the one that is chosen
				d.expect(0, &spec.Navigate{URL: "https://x.example/"}, "the tab is not open (-32001)")
				if got := d.ask(14, &spec.CloseTab{}); !strings.Contains(got, "Cannot automate tab 1") {
					t.Error(got)
				}
				d.Add("https://form.example/").StaysOpen = true
				d.expect(35, &spec.CloseTab{}, "the tab is still open; its page may be asking the user whether to leave (-32603)")
				d.expect(0, &spec.Ask{}, "an extension of the relay cannot do browser/ask (-32004)")
				d.shows("https://a.example/", "chrome://settings/", "https://d.example/", "https://form.example/*")
			})
		})
	}
}

// An extension knows tabs by their place. The one that is meant is used, or none.
func TestBrowserWhoseTabsMove(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		b := &relaytest.Browser{}
		d := r.drive(t, b)
		d.Add("https://c.example/")
		a := d.Add("https://a.example/")
		d.Add("https://b.example/")
		b.Before = func(method string, _ json.RawMessage) error {
			if method == "selectTab" {
				b.Move()
			}
			return nil
		}
		const moved = "the browser's tabs were just moved: nothing was done; try again (-32603)"
		for _, req := range []spec.Request{&spec.CloseTab{}, &spec.ActivateTab{}, &spec.Navigate{URL: "https://d.example/"}, &spec.Text{}, &spec.Screenshot{}} {
			d.expect(a.ID, req, moved)
		}
		got := d.URLs()
		slices.Sort(got)
		if !slices.Equal(got, []string{"https://a.example/", "https://b.example/*", "https://c.example/"}) {
			t.Errorf("%q", got)
		}
	})
}

// With a shipped extension all who use it have one tab. The hub does not take it from a
// client for good, and a client's command does not go to the hub's.
func TestBrowserThatAClientUses(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		b := &relaytest.Browser{}
		d := r.drive(t, b)
		d.Add("https://a.example/")
		mcp, _ := r.connected(t, "token of ann", string(d.addr.Peer))
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"createTab","params":{"url":"https://client.example/"}}`)
		mcp.next()
		d.expect(7, &spec.Text{}, `{"text":"Hello https://a.example/"}`)
		if got := d.Chosen(); got != 14 {
			t.Errorf("the client's commands go to tab %d", got)
		}
		d.expect(0, &spec.OpenTab{URL: "https://b.example/"}, `{"tabId":21}`)
		if got := d.Chosen(); got != 14 {
			t.Errorf("the client's commands go to tab %d", got)
		}

		// What the client sends while the hub is about its tab waits for that.
		asked, proceed := make(chan struct{}), make(chan struct{})
		b.Before = func(method string, params json.RawMessage) error {
			if strings.Contains(string(params), "innerText") {
				close(asked)
				<-proceed
			}
			return nil
		}
		done := make(chan string, 1)
		go func() { done <- d.ask(7, &spec.Text{}) }()
		<-asked
		mcp.send(`{"jsonrpc":"2.0","id":4,"method":"forwardCDPCommand","params":{"method":"Page.navigate","params":{"url":"https://next.example/"}}}`)
		mcp.quiet(time.Second)
		close(proceed)
		if got := <-done; got != `{"text":"Hello https://a.example/"}` {
			t.Error(got)
		}
		mcp.next()
		if got := d.URLs(); !slices.Contains(got, "https://a.example/") {
			t.Errorf("%q", got)
		}
	})
}

// A tab that a client has asked for is chosen when that is done, which may be late. The hub
// closes none in its place.
func TestBrowserThatChoosesLate(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		j := openHub(r)
		ext, id := r.extension(t, "token of ann", "chrome")
		<-j.conns // it has joined
		mcp, _ := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"createTab","params":{"url":"https://client.example/"}}`)
		create := ext.message()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		ask := func(req spec.Request) {
			_, err := j.hub.SendRequest(ctx, spec.TabAddr{Peer: spec.PeerID(id), Tab: 7}, req, tabtransport.Wait{Timeout: spec.ControlTimeout})
			done <- err
		}
		go ask(&spec.CloseTab{})
		ext.quiet(spec.ControlTimeout - time.Second)
		if err := <-done; !errors.Is(err, tabtransport.ErrTimeout) {
			t.Error(err)
		}
		go ask(&spec.Text{})
		ext.quiet(time.Second)
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tabId":14}}`, create.ID))
		mcp.next()
		if m := ext.message(); m.Method != "getTabs" {
			t.Errorf("%+v", m)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A command is sent once, and who asked is told what may have happened.
func TestBrowserFails(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		b := &relaytest.Browser{}
		d := r.drive(t, b)
		d.Add("https://a.example/")
		mute := make(chan struct{})
		b.Before = func(method string, _ json.RawMessage) error {
			if method == "createTab" {
				<-mute
			}
			return nil
		}
		d.expect(0, &spec.OpenTab{URL: "https://b.example/"}, tabtransport.ErrTimeout.Error())
		close(mute)
		synctest.Wait()
		d.shows("https://a.example/*", "https://b.example/")
		if got := b.Asked(); !slices.Equal(got, []string{`createTab {"url":"https://b.example/","activate":false}`}) {
			t.Errorf("%q", got)
		}
		// A turn that was given up keeps nobody from theirs.
		d.expect(7, &spec.Text{}, `{"text":"Hello https://a.example/"}`)

		// A page that loads for long is left to load; one that does not answer is not.
		mute = make(chan struct{})
		b.Before = func(_ string, params json.RawMessage) error {
			if strings.Contains(string(params), "readyState") || strings.Contains(string(params), "innerText") {
				<-mute
			}
			return nil
		}
		d.expect(7, &spec.Navigate{URL: "https://slow.example/"}, "{}")
		mcp, _ := r.connected(t, "token of ann", string(d.addr.Peer))
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"selectTab","params":{"tabIndex":1}}`)
		mcp.next()
		d.expect(7, &spec.Text{}, tabtransport.ErrTimeout.Error())
		synctest.Wait()
		if got := d.Chosen(); got != 14 {
			t.Errorf("the client's commands go to tab %d", got)
		}
		close(mute)

		b.Before = func(string, json.RawMessage) error { return errors.New("No window") }
		d.expect(0, &spec.OpenTab{URL: "https://b.example/"}, "No window (-32000)")
		d.expect(0, &spec.ListTabs{}, "No window (-32000)")
		b.Before = nil
	})
}

// The hub is opened when its user first needs it; an extension may be there before.
func TestExtensionServesTheHub(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		j := newHub(r)
		r.relay.hub = func(user spec.UserID) tabtransport.Attacher {
			if user != "ann" {
				t.Errorf("%s joins", user)
			}
			return j.hub
		}
		ext, id := r.extension(t, "token of ann", "chrome")
		time.Sleep(time.Minute)
		j.hub.Handle(j)
		conn := <-j.conns
		if conn.Attested || !conn.Known || conn.Hello.BrowserName != "Chrome 141" || conn.Hello.BrowserID != spec.BrowserID(id) {
			t.Errorf("%+v, %+v", conn, conn.Hello)
		}
		browser := spec.TabAddr{Peer: spec.PeerID(id)}
		type outcome struct {
			resp spec.Response
			err  error
		}
		send := func(req spec.Request) <-chan outcome {
			done := make(chan outcome, 1)
			go func() {
				resp, err := j.hub.SendRequest(t.Context(), browser, req, tabtransport.Wait{})
				done <- outcome{resp, err}
			}()
			return done
		}
		// Answers that shipped extensions do not give.
		for _, c := range []struct {
			req     spec.Request
			answers []string // to what the extension is asked
			result  string
		}{
			{&spec.OpenTab{URL: "x"}, []string{`{"tabId":42}`, `{}`}, `{"tabId":42}`},
			{&spec.OpenTab{URL: "x"}, []string{`{}`, `{}`, `{"tabs":[{"id":3},{"id":9},{"id":5}]}`}, `{"tabId":9}`},
			{&spec.ListTabs{}, []string{`{"tabs":[{"id":3,"index":5},{"id":4}]}`}, `{"tabs":[{"tabId":3,"windowId":0,"index":5,"url":"","title":"","active":false},{"tabId":4,"windowId":0,"index":1,"url":"","title":"","active":false}]}`},
			{&spec.ListTabs{}, []string{`{"tabs":7}`}, ""},
			{&spec.ListTabs{}, []string{`{}`}, ""},
		} {
			done := send(c.req)
			for _, answer := range c.answers {
				ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, ext.message().ID, answer))
			}
			if o := <-done; c.result != "" && (o.err != nil || string(o.resp.Result) != c.result) || c.result == "" && o.err == nil {
				t.Errorf("%T: %s, %+v", c.req, o.resp.Result, o)
			}
		}
		ext.ws.NetConn().Close()
		if p := <-j.gone; p != browser.Peer {
			t.Errorf("%s", p)
		}
		if o := <-send(&spec.ListTabs{}); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("%+v", o)
		}
	})
}
