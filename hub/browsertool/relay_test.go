package browsertool_test

import (
	"errors"
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
		w.call("browser_tab", `{"action":"new","url":"https://new.example/","browserId":"`+ids[name]+`"}`).into(&opened)
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
