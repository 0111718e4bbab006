package extension_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

func TestBrowserControl(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{
		"/":      shop,
		"/plain": `<!doctype html><title>Plain</title><p>Visible <span hidden>hidden</span></p>`,
	})
	p := b.Open(url)
	shopTab := h.tabWith(shopTools...)

	answer, err := h.ask(0, &spec.OpenTab{URL: url + "/plain"})
	if err != nil {
		t.Fatal(err)
	}
	var opened spec.OpenTabResult
	if err := json.Unmarshal([]byte(answer), &opened); err != nil || opened.TabID == 0 {
		t.Fatalf("openTab: %s", answer)
	}
	if got := p.Eval("document.visibilityState"); got != `"visible"` {
		t.Errorf("a tab that was opened behind took the front: the page is %s", got)
	}
	if _, err := h.ask(opened.TabID, &spec.Navigate{Reload: true}); err != nil {
		t.Error(err)
	}
	if answer, err := h.ask(opened.TabID, &spec.Text{}); err != nil || !strings.Contains(answer, "Visible") || strings.Contains(answer, "hidden") {
		t.Errorf("text: %s, %v", answer, err)
	}
	var rpc *spec.Error
	if _, err := h.ask(opened.TabID, &spec.Screenshot{}); !errors.As(err, &rpc) || rpc.Code != spec.CodeUnsupported || !strings.Contains(rpc.Message, "in front") {
		t.Errorf("a picture of a tab that is not in front: %v", err)
	}
	for range 3 { // as a browser would refuse to, so fast
		if _, err := h.ask(shopTab, &spec.Screenshot{}); err != nil {
			t.Error(err)
		}
	}
	answer, err = h.ask(shopTab, &spec.Screenshot{})
	var shot spec.ScreenshotResult
	if err := errors.Join(err, json.Unmarshal([]byte(answer), &shot)); err != nil {
		t.Errorf("screenshot: %v", err)
	} else if data, err := base64.StdEncoding.DecodeString(shot.Data); err != nil {
		t.Error(err)
	} else if _, err := png.Decode(bytes.NewReader(data)); err != nil || shot.MimeType != "image/png" {
		t.Errorf("screenshot: %s, %v", shot.MimeType, err)
	}

	if _, err := h.ask(opened.TabID, &spec.ActivateTab{}); err != nil {
		t.Error(err)
	}
	h.wait("the shop is no longer in front", func() bool {
		s := h.tabs[shopTab].state
		return s.Active != nil && !*s.Active
	})
	if _, err := h.ask(opened.TabID, &spec.Navigate{URL: url + "/"}); err != nil {
		t.Error(err)
	}
	h.wait("the other tab has the shop's tools and is in front", func() bool {
		tab := h.tabs[opened.TabID]
		return tab != nil && equal(names(tab.tools), shopTools) && tab.state.Active != nil && *tab.state.Active && *tab.state.WindowFocused
	})
	if _, err := h.ask(opened.TabID, &spec.Navigate{Back: true}); err != nil {
		t.Error(err)
	}
	var list spec.ListTabsResult
	answer, err = h.ask(0, &spec.ListTabs{})
	if err := errors.Join(err, json.Unmarshal([]byte(answer), &list)); err != nil {
		t.Error(err)
	}
	titles := ""
	for _, tab := range list.Tabs {
		titles += tab.Title + " "
	}
	if !strings.Contains(titles, "Shop") || !strings.Contains(titles, "Plain") {
		t.Errorf("listTabs: %s", answer)
	}
	for _, bad := range []string{"file:///etc/passwd", "javascript:alert(1)", "chrome://settings", "no address"} {
		if _, err := h.ask(0, &spec.OpenTab{URL: bad}); !errors.As(err, &rpc) || rpc.Code != spec.CodeInvalidParams {
			t.Errorf("opening %s: %v", bad, err)
		}
		if _, err := h.ask(shopTab, &spec.Navigate{URL: bad}); !errors.As(err, &rpc) || rpc.Code != spec.CodeInvalidParams {
			t.Errorf("going to %s: %v", bad, err)
		}
	}
	if _, err := h.ask(opened.TabID, &spec.CloseTab{}); err != nil {
		t.Error(err)
	}
	h.wait("the tab is closed", func() bool { return len(h.closed) == 1 && h.closed[0] == opened.TabID })
	if _, err := h.ask(opened.TabID, &spec.CloseTab{}); !errors.As(err, &rpc) || rpc.Code != spec.CodeTabNotFound {
		t.Errorf("closing it again: %v", err)
	}
}

// Of a site that the user switched off the hub sees nothing, also in a tab that it knows.
func TestSiteSwitchedOff(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	hidden := site(t, map[string]string{"/": `<!doctype html><title>Hidden</title>Private`})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	switchSite(b, hidden, false)
	p.Front()
	p.Navigate(hidden)
	h.tabWith()
	for _, req := range []spec.Request{&spec.Text{}, &spec.Screenshot{}} {
		if _, err := h.ask(tab, req); err == nil || !strings.Contains(err.Error(), "does not share this site") {
			t.Errorf("%T: %v", req, err)
		}
	}
	if got, err := h.ask(0, &spec.ListTabs{}); err != nil || strings.Contains(got, hidden) || strings.Contains(got, "Hidden") || !strings.Contains(got, fmt.Sprint(tab)) {
		t.Errorf("the tabs: %s, %v", got, err)
	}
	p.Navigate(hidden + "/?again")
	if _, err := h.ask(tab, &spec.Navigate{Reload: true}); err != nil {
		t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	view := h.tabs[tab]
	state, err := json.Marshal(view.state)
	if err != nil || strings.Contains(string(state)+view.url, hidden) || strings.Contains(string(state), "Hidden") {
		t.Errorf("the hub knows %s, %s, %v", view.url, state, err)
	}
}

// What the hub has decided about one site is not done to another that the tab shows by then.
func TestTabShowsAnotherSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{"/": shop})
	b.Open(url)
	tab := h.tabWith(shopTools...)
	for origin, meant := range map[string]bool{url: true, "": true, "https://bank.example": false, strings.Replace(url, "http:", "https:", 1): false} {
		for _, req := range []spec.Request{
			&spec.ActivateTab{IfOrigin: origin}, &spec.Text{IfOrigin: origin}, &spec.Screenshot{IfOrigin: origin}, &spec.Navigate{URL: url + "/?again", IfOrigin: origin},
		} {
			_, err := h.ask(tab, req)
			rpc, refused := errors.AsType[*spec.Error](err)
			if meant && err != nil || !meant && !(refused && rpc.Code == spec.CodeTabNotFound && string(rpc.Data) == string(spec.NotDelivered)) {
				t.Errorf("%T for %q: %v", req, origin, err)
			}
		}
	}
	if _, err := h.ask(tab, &spec.CloseTab{IfOrigin: "https://bank.example"}); err == nil {
		t.Error("the tab was closed")
	}
	if _, err := h.ask(tab, &spec.CloseTab{IfOrigin: url}); err != nil {
		t.Error(err)
	}
}
