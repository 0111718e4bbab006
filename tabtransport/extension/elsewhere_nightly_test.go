//go:build nightly

package extension_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// TestFormOfABusyPage with the browser's own WebMCP. By day, beside other tests' browsers, Chromium
// 156 ends now and then as the busy page is left.
func TestFormOfABusyPageWithOwnWebMCP(t *testing.T) { testFormOfABusyPage(t, true) }

// The tools of a library lead elsewhere as the browser's do.
func TestLibrarysCallsThatNavigate(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url, _ := world(t)
	for _, tool := range []string{"goes", "says", "submits", "never"} {
		p := b.Open(url + "/library")
		tab := h.tabWith("goes", "says", "submits", "never")
		want := answerData + " at " + url + `/answer`
		if tool == "says" {
			want = `{"content":[{"type":"text","text":"{\"said\":1}"}],"structuredContent":{"said":1}} at ` + url + `/answer`
		}
		if got, err := h.call(tab, tool, "{}"); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, %v; want %s", tool, got, err, want)
		}
		h.closeTab(p)
	}
}

// Frames lead elsewhere by themselves, and what is replaced there is not called.
func TestCallsInFramesThatNavigate(t *testing.T) {
	t.Parallel()
	bothWays(t, testCallsInFramesThatNavigate)
}

// What a form leads to is its result also if the page has no time left to say that it was
// submitted.
func TestFormOfABusyPage(t *testing.T) {
	t.Parallel()
	testFormOfABusyPage(t, false)
}

// Tabs with tools of one name answer for themselves, also when one is back from the
// back/forward cache after a call has led it elsewhere.
func TestOneNameInTwoTabs(t *testing.T) {
	t.Parallel()
	bothWays(t, testOneNameInTwoTabs)
}

func testCallsInFramesThatNavigate(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, other := world(t)
	outer := site(t, map[string]string{"/": `<!doctype html><title>Outer</title><iframe src="` + url + `/" allow="tools *"></iframe>`})
	for _, c := range []struct{ tool, then, want string }{
		{"form", "", answerData + " at " + url + `/answer?q=x "Answer"`},
		{"abroad", "", `{"content":[]} at ` + other + `/answer?q=x "Answer"`},
		{"hangs", "frame.src = frame.src", leftUnanswered + " at " + url + `/ "Start"`},
		{"hangs", "frame.src = '" + other + "/mute'", leftUnanswered + " at " + other + `/mute "Mute"`},
		{"hangs", "frame.remove()", "the page went away after the call was sent; it may have taken effect"},
	} {
		p := b.Open(outer)
		tab := h.tabWith(travelTools...)
		frame := h.tool(tab, c.tool).FrameID
		p.Eval(`void (window.started = new Promise(done => onmessage = ({data}) => data === 'started' && done()))`)
		done := h.begin(tab, frame, c.tool, `{"q":"x"}`)
		if c.then != "" {
			p.Eval("started")
			p.Eval("void (frame => { " + c.then + " })(document.querySelector('iframe'))")
		}
		if got := <-done; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %s; want %s", c.tool, c.then, got, c.want)
		}
		h.closeTab(p)
	}

	// A call for what was there before is not for the document of another site.
	p := b.Open(outer)
	tab := h.tabWith(travelTools...)
	frame := h.tool(tab, "hangs").FrameID
	p.Eval("document.querySelector('iframe').src = '" + other + "/'")
	h.wait("the other site's tools", func() bool {
		return slices.ContainsFunc(h.tabs[tab].tools, func(it item) bool { return it.Origin == other })
	})
	_, err := h.ask(tab, &spec.ExecuteTool{ToolName: "hangs", Args: json.RawMessage("{}"), FrameID: &frame, Origin: url})
	if rpc, ok := errors.AsType[*spec.Error](err); !ok || rpc.Code != spec.CodeTabNotFound || string(rpc.Data) != string(spec.NotDelivered) {
		t.Errorf("a call for the document before: %v", err)
	}
}

func testFormOfABusyPage(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, other := world(t)
	for _, tool := range []string{"abroad", "mute"} {
		p := b.Open(url)
		tab := h.tabWith(travelTools...)
		p.Eval(`void navigation.addEventListener('navigate', () => {
			const busy = () => { for (const until = Date.now() + 1500; Date.now() < until;); };
			scheduler.postTask(busy, {priority: 'user-blocking'});
		})`)
		at := url + `/mute?q=x "Mute"`
		if tool == "abroad" {
			at = other + `/answer?q=x "Answer"`
		}
		if got, err := h.call(tab, tool, `{"q":"x"}`); err != nil || got != `{"content":[]} at `+at {
			t.Errorf("%s: %s, %v", tool, got, err)
		}
		h.closeTab(p)
	}
}

func testOneNameInTwoTabs(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, _ := world(t)
	pages := map[int64]*chromium.Page{}
	for _, query := range []string{"/?one", "/?two"} {
		p := b.Open(url + query)
		h.wait("the tab's tools", func() bool {
			for id, tab := range h.tabs {
				if pages[id] == nil && len(tab.tools) == len(travelTools) {
					pages[id] = p
					return true
				}
			}
			return false
		})
	}
	for id, p := range pages {
		query := strings.Trim(p.Eval("location.search"), `"`)
		if got, err := h.call(id, "where", "{}"); err != nil || got != `{"content":[{"type":"text","text":"`+query+`"}]}` {
			t.Errorf("tab %d at %s: %s, %v", id, query, got, err)
		}
		if got, err := h.call(id, "goes", "{}"); err != nil || !strings.Contains(got, "/answer") {
			t.Errorf("tab %d at %s: %s, %v", id, query, got, err)
		}
	}
	for id, p := range pages {
		p.Back()
		h.wait("the tools are back", func() bool { return equal(h.tabs[id].here(), travelTools) })
		query := strings.Trim(p.Eval("location.search"), `"`)
		if got, err := h.call(id, "where", "{}"); err != nil || got != `{"content":[{"type":"text","text":"`+query+`"}]}` {
			t.Errorf("tab %d back at %s: %s, %v", id, query, got, err)
		}
	}
}
