package browsertool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/relay/relaytest"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver/wstest"
)

// relay returns where extensions of the MCP Proxy Protocol, and of its predecessor, join the
// hub as browsers, and their relay.
func (w *rig) relay() (current, predecessor string, r *relay.Relay) {
	w.t.Helper()
	r = relay.New(relay.Options{
		Verify: func(h relay.Handshake) (a relay.Admission, err error) {
			if h.Token != "token" {
				return a, errors.New("no token")
			}
			a.User = spec.LocalUser
			return a, nil
		},
		Hub: func(spec.UserID) tabtransport.Attacher { return w.peers },
	})
	url := func(h http.Handler) string {
		server := httptest.NewServer(h)
		w.t.Cleanup(server.Close)
		return "ws" + strings.TrimPrefix(server.URL, "http")
	}
	current, predecessor = url(r.Extension()), url(r.Legacy())
	w.t.Cleanup(r.Close)
	return current, predecessor, r
}

// relayed connects browsers with such an extension.
func (w *rig) relayed(browsers ...*relaytest.Browser) {
	w.t.Helper()
	current, predecessor, _ := w.relay()
	for _, b := range browsers {
		url := current
		if b.Predecessor {
			url = predecessor
		}
		ws, _, err := wstest.Connect(w.t.Context(), url, nil)
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
		w.awaitBrowser(b.Name)
	}
}

func (w *rig) awaitBrowser(name string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), chromium.Timeout)
	defer cancel()
	if _, err := w.hub.AwaitPeer(ctx, func(info state.BrowserInfo) bool { return info.Name == name }); err != nil {
		w.t.Fatal(err)
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
	ids := map[string]string{}
	for _, b := range l.Browsers {
		if ids[b.Browser] = b.BrowserID; b.SinglePage || b.Error != "" {
			t.Errorf("%+v", b)
		}
	}
	if len(ids) != 2 || len(l.Tabs) != 3 || w.hub.Status().Browsers != 2 {
		t.Fatalf("%+v", l)
	}
	for _, tab := range l.Tabs {
		if tab.Active != (tab.URL != "https://a.example/") || tab.Focused || tab.Attested || tab.Domain != "unverified_"+strings.Trim(tab.URL[6:], "/") || !strings.HasSuffix(tab.TabID, ":7") && tab.URL != "https://b.example/" {
			t.Errorf("%+v", tab)
		}
	}

	// Which browser is meant has to be said, as with any two.
	w.call("browser_tab", `{"action":"new","url":"https://new.example/"}`).fails(spec.FailInvalidArguments, ids["Edge 140"]+" (Edge 140)")
	w.call("browser_page", `{"action":"text"}`).fails(spec.FailInvalidArguments, ids["Chrome 141"]+" (Chrome 141)")
	for name, b := range map[string]*relaytest.Browser{"Chrome 141": current, "Edge 140": old} {
		var opened, state struct{ TabID, URL, Title string }
		w.call("browser_tab", `{"action":"open","url":"https://new.example/","browserId":"`+ids[name]+`"}`).into(&opened)
		w.call("browser_page", `{"action":"goto","url":"https://d.example/","tabId":"`+opened.TabID+`"}`).into(&state)
		if state.URL != "https://d.example/" || state.TabID != opened.TabID {
			t.Errorf("%s: %+v", name, state)
		}
		w.call("browser_page", `{"action":"back","tabId":"`+opened.TabID+`"}`).into(&state)
		if state.URL != "https://new.example/" {
			t.Errorf("%s: %+v", name, state)
		}
		w.call("browser_page", `{"action":"back","tabId":"`+opened.TabID+`"}`).fails(spec.FailInvalidArguments, "no page to go to")
		var read struct{ Text string }
		w.call("browser_page", `{"action":"text","tabId":"`+opened.TabID+`"}`).into(&read)
		if read.Text != "Hello https://new.example/" {
			t.Errorf("%s: %+v", name, read)
		}
		if shot := w.call("browser_page", `{"action":"screenshot","tabId":"`+opened.TabID+`"}`); len(shot.Content) != 1 || shot.Content[0].MimeType != "image/png" {
			t.Errorf("%s: %s", name, shot.raw)
		}
		w.call("browser_tab", `{"action":"activate","tabId":"`+opened.TabID+`"}`).into(&state)
		if urls := b.URLs(); !slices.Contains(urls, "https://new.example/*") {
			t.Errorf("%s: %q", name, urls)
		}
		w.call("browser_page", `{"action":"text","browserId":"`+ids[name]+`"}`).into(&read) // of the tab in front
		if read.Text != "Hello https://new.example/" {
			t.Errorf("%s: %+v", name, read)
		}
		before := b.URLs()
		w.call("browser_tab", `{"action":"close","tabId":"`+opened.TabID+`"}`).into(&state)
		if after := b.URLs(); len(after) != len(before)-1 || slices.Contains(after, "https://new.example/*") {
			t.Errorf("%s: %q", name, after)
		}
		w.call("browser_tab", `{"action":"close","tabId":"`+opened.TabID+`"}`).fails(spec.FailTabNotFound, "not open")
		stays := b.Add("https://form.example/")
		stays.StaysOpen = true
		w.call("browser_tab", `{"action":"close","tabId":"`+ids[name]+":"+strconv.FormatInt(stays.ID, 10)+`"}`).fails(spec.FailToolError, "still open")
	}

	// Beside a browser of the hub's own that has the focus, that one is meant.
	own := w.browser("b1", everything, "https://own.example/")
	own.register(1, "https://own.example/", "buy")
	own.local.Send(1, &spec.TabState{Active: new(true), WindowID: new(int64(1)), WindowFocused: new(true)})
	var read struct{ Text string }
	w.call("browser_page", `{"action":"text"}`).into(&read)
	if !strings.Contains(read.Text, "https://own.example/") {
		t.Errorf("%.60s", read.Text)
	}
	if l := w.list(); len(l.Browsers) != 3 {
		t.Errorf("%+v", l.Browsers)
	}
}

// The tools of a page that has joined by itself are those of the tab that shows it.
func TestToolsInARelayedBrowser(t *testing.T) {
	w := newRig(t)
	b := &relaytest.Browser{Name: "Chrome 141"}
	w.relayed(b)
	b.Add("https://shop.example/cart#top")
	w.page("https://shop.example", "/cart", "buy")
	var state struct {
		Domain    spec.Domain
		ToolNames []string
	}
	w.call("browser_page", `{"action":"wait"}`).into(&state)
	if state.Domain != "shop.example" || !slices.Equal(state.ToolNames, []string{"website_tool_shop_example__buy"}) {
		t.Errorf("%+v", state)
	}
}

// The same in a real browser, whose extension has what shipped ones have: what is done by
// scripts in the page does what it says.
func TestRelayedChromium(t *testing.T) {
	for _, raw := range []bool{false, true} {
		t.Run(fmt.Sprintf("raw %v", raw), func(t *testing.T) {
			t.Parallel()
			w := newRig(t)
			current, predecessor, _ := w.relay()
			url := current
			if raw {
				url = predecessor
			}
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<!doctype html><title>Title of %[1]s</title><p>Hello from %[1]s`, r.URL.Path)
			}))
			t.Cleanup(site.Close)
			chromium.Start(t, chromium.Options{Extension: relaytest.Unpacked(t, relaytest.Config{URL: url, Name: "Chromium", Token: "token", Raw: raw})})
			w.awaitBrowser("Chromium")

			var tab struct{ TabID, URL, Title string }
			var read struct{ Text string }
			do := func(action, more string) {
				t.Helper()
				w.call("browser_page", `{"action":"`+action+`","tabId":"`+tab.TabID+`"`+more+`}`).into(&tab)
			}
			at := func(path string) {
				t.Helper()
				if tab.URL != site.URL+path {
					t.Errorf("the tab is at %s, not %s", tab.URL, path)
				}
			}
			w.call("browser_tab", `{"action":"new","url":"`+site.URL+`/other"}`).into(&tab)
			other := tab.TabID
			w.call("browser_tab", `{"action":"new","active":true,"url":"`+site.URL+`/one"}`).into(&tab)
			do("goto", `,"url":"`+site.URL+`/two"`)
			at("/two")
			if tab.Title != "Title of /two" {
				t.Errorf("%+v", tab)
			}
			do("goto", `,"url":"`+site.URL+`/two#part"`)
			at("/two#part")
			do("back", ``) // within the document
			at("/two")
			do("back", ``)
			at("/one")
			do("forward", ``)
			at("/two")
			do("reload", ``)
			at("/two")
			w.call("browser_page", `{"action":"back","tabId":"`+other+`"}`).fails(spec.FailInvalidArguments, "no page to go to")
			w.call("browser_page", `{"action":"text","tabId":"`+other+`"}`).into(&read)
			if !strings.Contains(read.Text, "Hello from /other") {
				t.Errorf("%q", read.Text)
			}
			shot := w.call("browser_page", `{"action":"screenshot","tabId":"`+tab.TabID+`"}`)
			if len(shot.Content) != 1 || !bytes.HasPrefix(shot.Content[0].Data, []byte("\x89PNG")) {
				t.Errorf("%.200s", shot.raw)
			}
			w.call("browser_page", `{"action":"goto","tabId":"`+other+`","url":"http://127.0.0.1:1/"}`).fails(spec.FailToolError, "cannot be loaded")

			w.call("browser_tab", `{"action":"activate","tabId":"`+tab.TabID+`"}`).into(&tab)
			for _, listed := range w.list().Tabs {
				if listed.Active != (listed.TabID == tab.TabID) {
					t.Errorf("%+v", listed)
				}
			}
			w.call("browser_tab", `{"action":"close","tabId":"`+tab.TabID+`"}`).into(&tab)
			for _, listed := range w.list().Tabs {
				if listed.URL == site.URL+"/two" {
					t.Errorf("%+v is still open", listed)
				}
			}
		})
	}
}
