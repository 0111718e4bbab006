package hub

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// A client whose call has led to another page is told where that is and what can be
// called there.
func TestCallThatLeadsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/1", "go", "x"))
		w.register(b, 2, tools("https://e.com/2", "x"))
		lead := func(page spec.Page, failed bool, names ...string) *pendingCall {
			t.Helper()
			c := w.call(t.Context(), "e_com_go")
			r := b.Next()
			if len(names) > 0 {
				w.register(b, 1, tools(page.URL, append(names, "go")...))
			}
			result := `{"content":[{"type":"text","text":"found"}]}`
			if failed {
				result = `"it went away"`
			}
			b.Answer(r, spec.Response{Result: json.RawMessage(result), Failed: failed, Page: &page}, nil)
			return c
		}
		lead(spec.Page{URL: "https://e.com/next", Title: "Ne\u202ext"}, false, "y", "x").want(t,
			`,"content":[{"type":"text","text":"found"},{"type":"text","text":"The page is now at https://e.com/next (“Next”). Tools there: website_tool_e_com_y, website_tool_e_com_tab1_x, website_tool_e_com_go."}]}`)
		c := lead(spec.Page{URL: "https://e.com/next"}, true)
		c.want(t, "it went away")
		c.want(t, `"isError":true`)
		c.want(t, "The page is now at https://e.com/next. Tools there: website_tool_e_com_y,")
		c = lead(spec.Page{URL: "https://e.com/order", Error: "ERR_CONNECTION_REFUSED"}, true)
		c.want(t, `"isError":true`)
		c.want(t, "The page at https://e.com/order cannot be loaded: ERR_CONNECTION_REFUSED. The request may not have reached a server.")
		lead(spec.Page{URL: "https://e.com/list", Error: spec.PageAborted}, false).want(t, "No new page was shown: what came was a download or had no content")
		lead(spec.Page{}, false).want(t, "another page, of which the hub is told nothing")
		var many []string
		for i := range 40 {
			many = append(many, fmt.Sprint("t", i))
		}
		c = lead(spec.Page{URL: "https://e.com/many"}, false, many...)
		c.want(t, "website_tool_e_com_t19 and 21 more.")
		if n := strings.Count(string(c.result), "website_tool_"); n != 20 {
			t.Errorf("%d tools are named", n)
		}
	})
}

// No page can make the hub say that its tab is at another site.
func TestPageOfAnotherSiteIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "go"))
		c := w.call(t.Context(), "e_com_go")
		p.Answer(p.Next(), spec.Response{Result: json.RawMessage(`{"content":[]}`), Page: &spec.Page{URL: "https://bank.example/"}}, nil)
		c.want(t, "of which the hub is told nothing")
	})
}

// A page that joins by itself and goes away under a call comes back as the next document.
func TestCallLostToTheNextDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		join := func(session string) {
			p := w.dial(tabtransport.Conn{Origin: "https://e.com", Dialect: spec.Subprotocol, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: "k", Session: session}})
			m := tools("https://e.com/"+session, "pay", session)
			m.Title = "Page " + session
			w.register(p, 0, m)
		}
		join("one")
		c := w.call(t.Context(), "e_com_pay")
		synctest.Wait()
		join("two")
		c.want(t, "TAB_CLOSED")
		c.want(t, "may have taken effect")
		c.want(t, "The page is now at https://e.com/two (“Page two”). Tools there: website_tool_e_com_pay, website_tool_e_com_two.")
	})
}
