package hub

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/hub/record"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest"
)

const shopTools = `"_meta":{"ui":{"resourceUri":"ui://cart"}}`

// A host finds an app by what its tool says, whether or not the page lists it, whenever
// it was registered, and from the tab that it is of.
func TestAppIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		read := func(from tabtest.End, uri string) {
			t.Helper()
			answering(from, `{"contents":[{"uri":"ui://cart","text":"<p>"}]}`)
			got, err := w.hub.ReadResource(t.Context(), tester, uri)
			if want := `{"contents":[{"uri":"` + uri + `","text":"<p>"}]}`; err != nil || said(t, got) != want {
				t.Errorf("%s: %s, %v; want %s", uri, got, err, want)
			}
		}
		apps := func() string {
			var all []string
			for _, it := range w.hub.List(ListTools).Items {
				var tool struct {
					Meta struct {
						UI struct{ ResourceURI string }
					} `json:"_meta"`
				}
				if err := json.Unmarshal(it.JSON, &tool); err != nil {
					t.Fatal(err)
				}
				all = append(all, tool.Meta.UI.ResourceURI)
			}
			return strings.Join(all, " ")
		}
		w.register(a, 0, tools("https://e.com/a", "show:"+shopTools, "plain"))
		if got := apps(); got != " ui://e.com/cart" {
			t.Errorf("apps %q", got)
		}
		read(a, "ui://e.com/cart")
		read(a, "ui://e.com/tab1/cart")
		w.register(b, 0, tools("https://e.com/b", "show:"+shopTools, "plain"))
		if got := apps(); got != "   ui://e.com/cart ui://e.com/tab1/cart ui://e.com/tab2/cart" {
			t.Errorf("apps %q", got)
		}
		read(a, "ui://e.com/tab1/cart")
		read(b, "ui://e.com/tab2/cart")
		read(b, "ui://e.com/cart") // registered last

		// Listed, it has the same URI.
		w.register(b, 0, register(spec.KindResource, "https://e.com/b", `{"uri":"ui://cart","name":"cart","mimeType":"text/html;profile=mcp-app","_meta":{"ui":{"prefersBorder":true}}}`))
		w.wantListed(ListResources, "ui://e.com/cart")
		if got := string(w.hub.List(ListResources).JSON); !strings.Contains(got, `"mimeType":"text/html;profile=mcp-app"`) || !strings.Contains(got, `"_meta":{"ui":{"prefersBorder":true}}`) {
			t.Errorf("listed %s", got)
		}
		read(b, "ui://e.com/cart")

		for _, uri := range []string{"ui://e.com/other", "ui://f.com/cart", "ui://e.com/tab3/cart", "ui://cart"} {
			if _, err := w.hub.ReadResource(t.Context(), tester, uri); !errors.As(err, new(*UnknownError)) {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
}

// An app calls its page's tools by their own names, and no other page's.
func TestFromApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, tools("https://e.com/a", "show:"+shopTools, "pay"))
		w.register(b, 0, tools("https://e.com/b", "show:"+shopTools, "extra"))
		w.register(w.page("https://f.com", "c"), 0, tools("https://f.com/", "other"))
		w.register(a, 0, register(spec.KindResource, "https://e.com/a", `{"uri":"shop://cart","name":"cart"}`))
		for _, c := range []struct {
			app  string
			kind spec.Kind
			name string
			want string
		}{
			{"ui://e.com/cart", spec.KindTool, "pay", "website_tool_e_com_pay"},
			{"ui://e.com/tab1/cart", spec.KindTool, "pay", "website_tool_e_com_tab1_pay"},
			{"ui://e.com/tab2/cart", spec.KindTool, "pay", ""},
			{"ui://e.com/tab2/cart", spec.KindTool, "extra", "website_tool_e_com_tab2_extra"},
			{"ui://e.com/cart", spec.KindTool, "other", ""},
			{"ui://f.com/cart", spec.KindTool, "other", ""},
			{"ui://e.com/cart", spec.KindResource, "shop://cart", "tabhub://e.com/shop://cart"},
			{"ui://e.com/tab1/cart", spec.KindResource, "shop://cart", "tabhub://e.com/tab1/shop://cart"},
			{"ui://e.com/tab1/cart", spec.KindResource, "shop://card", ""},
		} {
			if got, ok := w.hub.FromApp(nil, c.app, c.kind, c.name); ok != (c.want != "") || ok && got != c.want {
				t.Errorf("%s of %s: %q, %t; want %q", c.name, c.app, got, ok, c.want)
			}
		}
	})
}

// A cached tool's app is read from a page that is opened for it.
func TestAppOfACachedTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", `show:"annotations":{"cache":true},`+shopTools))
		b.Notify(1, &spec.TabClosed{})
		synctest.Wait()
		c := &call{done: make(chan struct{})}
		go func() {
			defer close(c.done)
			c.result, c.err = w.hub.ReadResource(t.Context(), tester, "ui://e.com/cart")
		}()
		open := b.Next()
		b.Answer(open, spec.Response{Result: json.RawMessage(`{"tabId":2}`)}, nil)
		w.register(b, 2, tools("https://e.com/", `show:"annotations":{"cache":true},`+shopTools))
		r := b.Next()
		if r.Tab != 2 {
			t.Errorf("read from %+v", r)
		}
		b.Answer(r, spec.Response{Result: json.RawMessage(`{"contents":[{"uri":"ui://cart","text":"opened"}]}`)}, nil)
		c.want(t, "opened")
	})
}

// While a tool's page has gone, so has its app.
func TestAppWaitsForTheNextDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "show:"+shopTools))
		w.register(b, 1, tools("https://e.com/", "show:"+shopTools+`,"departed":true`))
		c := &call{done: make(chan struct{})}
		go func() {
			defer close(c.done)
			c.result, c.err = w.hub.ReadResource(t.Context(), tester, "ui://e.com/cart")
		}()
		synctest.Wait()
		if n := w.peers.InFlight(); n != 0 {
			t.Errorf("%d reads were sent to a page that has gone", n)
		}
		w.register(b, 1, tools("https://e.com/", "show:"+shopTools))
		b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`{"contents":[{"uri":"ui://cart","text":"the next page's"}]}`)}, nil)
		c.want(t, "the next page's")
	})
}

// What a page keeps for its app no model calls, whichever tab the call goes to.
func TestToolsOfAppsAreNotForModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		const forApp = `:"_meta":{"ui":{"visibility":["app"]}}`
		w.register(a, 0, tools("https://e.com/a", "pay"+forApp))
		w.register(b, 0, tools("https://e.com/b", "pay"+forApp))
		call := func(name string) (json.RawMessage, error) {
			return w.hub.Call(t.Context(), Call{By: tester, Name: "website_tool_" + name, ForModel: true})
		}
		wantUnknown := func(name string) {
			t.Helper()
			if r, err := call(name); !errors.As(err, new(*UnknownError)) {
				t.Errorf("%s: %s, %v", name, r, err)
			}
		}
		wantUnknown("e_com_pay")
		wantUnknown("e_com_tab1_pay")
		w.register(b, 0, tools("https://e.com/b", "pay")) // the name is the newest's
		a.Notify(0, &spec.TabState{Active: new(true), WindowFocused: new(true)})
		synctest.Wait()
		wantUnknown("e_com_pay")
		go func() { answer(b, b.Next(), "paid") }()
		if r, err := call("e_com_tab2_pay"); err != nil || !strings.Contains(string(r), "paid") {
			t.Errorf("%s, %v", r, err)
		}
		if es := w.record.Entries(record.Query{Event: record.Call}); len(es) != 1 {
			t.Errorf("recorded %+v", es)
		}
	})
}
