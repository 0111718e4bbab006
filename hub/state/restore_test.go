package state

import (
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
)

// What is to be cached of a site is there the next morning, too, whether its tab was
// closed or only never seen again.
func TestCachedToolsOutliveTheNight(t *testing.T) {
	f := newFixture(t)
	b := func(tab int64) spec.TabAddr { return spec.TabAddr{Peer: "browser:b1", Tab: tab} }
	f.chrome("b1", "s1", 1)
	f.tools(b(1), "https://e.com/closed", `first:"annotations":{"cache":true}`, "plain")
	f.tools(b(2), "https://e.com/open", `second:"annotations":{"cache":true}`, "plain")
	f.tools(b(3), "https://f.com/", "plain")
	f.closeTab(b(1))
	f.pass(time.Second)
	for range 2 {
		f.close()
		f.pass(10 * time.Hour)
		f.restart()
		f.wantTools("e_com_first e_com_second")
		if e, ok := f.Explain("website_tool_e_com_second", agents.By{}, f.now); !ok || !strings.HasSuffix(e.Reason, "no connected browser can open https://e.com/open") || e.OpenURL != "" {
			t.Errorf("%+v, %t", e, ok)
		}
	}
	if n := len(f.Tabs(agents.By{})); n != 0 {
		t.Errorf("%d tabs of yesterday", n)
	}
}

// What a page marks stays when its last tab is closed, of each kind.
func TestMarkedItemsAreCached(t *testing.T) {
	f := newFixture(t)
	p := f.page("https://e.com", "a")
	f.register(p, spec.KindResource, "https://e.com/",
		`{"uri":"shop://cart","name":"cart","annotations":{"cache":true,"priority":1}}`, `{"uri":"shop://help","name":"help"}`,
		`{"uriTemplate":"shop://order/{id}","name":"order","annotations":{"cache":true}}`)
	f.register(p, spec.KindPrompt, "https://e.com/", `{"name":"greet","annotations":{"cache":true}}`, `{"name":"part"}`)
	f.disconnect(p)
	f.pass(time.Minute)
	want := func() {
		t.Helper()
		for _, of := range []struct {
			kind     spec.Kind
			template bool
			want     string
		}{
			{spec.KindResource, false, "tabhub://e.com/shop://cart"},
			{spec.KindResource, true, "tabhub://e.com/shop://order/{id}"},
			{spec.KindPrompt, false, "website_prompt_e_com_greet"},
		} {
			if got := f.listed(of.kind, of.template); got != of.want {
				t.Errorf("listed %q, want %q", got, of.want)
			}
		}
	}
	want()
	f.close()
	f.restart()
	want()
}

// A restart of the hub in the middle of the day costs a tab neither its number nor its
// tools, and no list shows it before it is back.
func TestRestoredTabIsHidden(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 7)
	f.tools(b, "https://e.com/", "x")
	f.close()
	f.restart()
	f.wantTools("")
	if n := f.Count(); n.Tabs != 0 || n.Domains != 0 || len(f.Tabs(agents.By{})) != 0 || len(f.Browsers(agents.By{}, f.now)) != 0 {
		t.Errorf("counted %+v", n)
	}
	f.wantTarget("e_com_x", b, "x") // a call waits for it
	r, _ := f.Lookup(agents.By{}, spec.KindTool, "website_tool_e_com_x")
	if c := f.Snapshot(&r, agents.By{}, nil, "", nil).Candidates; c[0].Present {
		t.Error("a call would not wait")
	}
	f.chrome("b1", "s1", 7)
	f.tools(b, "https://e.com/", "x")
	f.wantTools("e_com_x")
	// One that does not come back in time is gone.
	f.close()
	f.restart()
	f.pass(spec.BrowserGrace)
	f.wantUnknown("e_com_x")
}
