package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/tabtransport/tabtest/chromium"
)

// host is a third party's MCP client, on `tabhub stdio`.
type host struct {
	t       testing.TB
	session *mcp.ClientSession
	place   *place
	notices atomic.Int32
	changed chan struct{} // gets a value after a notice, if it is empty
}

// host starts a client and connects it.
func (p *place) host() *host {
	p.t.Helper()
	return p.hostAs("e2e")
}

// hostAs is host for a client that calls itself something.
func (p *place) hostAs(name string) *host {
	p.t.Helper()
	h := &host{t: p.t, place: p, changed: make(chan struct{}, 1)}
	stderr := rig.NewOutput()
	cmd := p.command("stdio", "--listen", p.listen)
	cmd.Stderr = stderr
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(_ context.Context, _ *mcp.ToolListChangedRequest) {
			h.notices.Add(1)
			select {
			case h.changed <- struct{}{}:
			default:
			}
		},
	})
	session, err := client.Connect(p.within(), &mcp.CommandTransport{Command: cmd, TerminateDuration: timeout}, nil)
	if err != nil {
		p.t.Fatalf("connecting the client: %v: %s", err, stderr)
	}
	h.session = session
	p.t.Cleanup(func() {
		if err := session.Close(); err != nil {
			p.t.Errorf("closing the client: %v", err)
		}
		rig.CheckLog(p.t, stderr.String())
	})
	return h
}

// tools lists the tools of pages, by name.
func (h *host) tools() map[string]*mcp.Tool {
	h.t.Helper()
	list, err := h.session.ListTools(h.place.within(), &mcp.ListToolsParams{})
	if err != nil {
		h.t.Fatalf("tools/list: %v", err)
	}
	out := make(map[string]*mcp.Tool)
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, "website_tool_") {
			out[tool.Name] = tool
		}
	}
	return out
}

// awaitNames lists the tools after each notice until exactly these are listed.
func (h *host) awaitNames(what string, want []string) {
	h.t.Helper()
	late := time.After(timeout)
	for {
		got := h.tools()
		if len(got) == len(want) && !slices.ContainsFunc(want, func(name string) bool { return got[name] == nil }) {
			return
		}
		select {
		case <-h.changed:
		case <-late:
			var names []string
			for name := range got {
				names = append(names, name)
			}
			slices.Sort(names)
			h.t.Fatalf("%s: the client lists %q, want %q", what, names, want)
		}
	}
}

// call calls a tool and returns how it ended, as answer.outcome does, and its
// structured content.
func (h *host) call(name string, args map[string]any) (outcome string, structured json.RawMessage) {
	h.t.Helper()
	result, err := h.session.CallTool(h.place.within(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), nil
	}
	raw, err := json.Marshal(result)
	if err != nil {
		h.t.Fatal(err)
	}
	structured, err = json.Marshal(result.StructuredContent)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{result: raw}.outcome(), structured
}

// do is call for a call that must go well.
func (h *host) do(name string, args map[string]any) json.RawMessage {
	h.t.Helper()
	outcome, structured := h.call(name, args)
	if outcome != "ok" {
		h.t.Fatalf("%s %v: %s", name, args, outcome)
	}
	return structured
}

// awaitUntold waits for something that clients get no notice of, such as a description
// that changes: it looks again and again, in the time of a page.
func awaitUntold(t testing.TB, what string, pace *chromium.Page, is func() bool) {
	t.Helper()
	late := time.After(timeout)
	for !is() {
		select {
		case <-late:
			t.Fatalf("%s: not after %v", what, timeout)
		default:
			pace.Eval("new Promise(done => setTimeout(done, 20))")
		}
	}
}

// awaitActive waits until the hub knows that the user looks at the tab of that number.
func (h *host) awaitActive(number int, pace *chromium.Page) {
	h.t.Helper()
	awaitUntold(h.t, fmt.Sprintf("tab %d is the active one", number), pace, func() bool {
		return h.place.tabNumbers(func(x tabInfo) bool { return x.Focused })[number] != ""
	})
}

// tabInfo is what the admin API tells of a tab.
type tabInfo struct {
	Key                string
	Connected, Focused bool
	Domains            []struct{ Number int }
}

// tabNumbers returns the numbers of the tabs that match, with the tabs' keys.
func (p *place) tabNumbers(match func(tabInfo) bool) map[int]string {
	p.t.Helper()
	var tabs []tabInfo
	p.api("/api/tabs", &tabs)
	out := map[int]string{}
	for _, x := range tabs {
		if x.Connected && len(x.Domains) == 1 && (match == nil || match(x)) {
			out[x.Domains[0].Number] = x.Key
		}
	}
	return out
}

// What a user does with tabs all day, seen from an LLM host: names stay what they
// are, calls go where the user looks first and stay there, and nothing flickers.
func TestDemoInTwoTabs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := chromium.Shared(t, chromium.Options{})
	open := func() *chromium.Page {
		t.Helper()
		page := b.Open("http://" + p.tabsAt() + "/demo")
		page.WaitFor(`tabhub.status.state === "open"`)
		return page
	}
	prefix := "website_tool_" + strings.NewReplacer(".", "_", ":", "_").Replace(p.tabsAt()) + "_"
	sources := []string{"search_products", "view_cart", "add_to_cart", "remove_from_cart", "checkout", "wrap_gift", "product_picture"}
	names := func(tabs ...int) (out []string) {
		for _, source := range sources {
			out = append(out, prefix+source)
			for _, n := range tabs {
				out = append(out, fmt.Sprintf("%stab%d_%s", prefix, n, source))
			}
		}
		return out
	}
	cart := func(page *chromium.Page) string { return page.Eval(`document.querySelector("#cart").textContent`) }

	first := open()
	h.awaitNames("one tab", names())
	second := open()
	h.awaitNames("two tabs", names(1, 2))

	// Calls go to the tab that the user looks at.
	h.awaitActive(2, second)
	h.do(prefix+"add_to_cart", map[string]any{"productId": 1})
	if in1, in2 := cart(first), cart(second); !strings.Contains(in2, "mug") || strings.Contains(in1, "mug") {
		t.Errorf("with the second tab in front the carts hold %s and %s", in1, in2)
	}
	// They stay there, wherever the user looks meanwhile. Those of another client go there.
	first.Front()
	h.awaitActive(1, first)
	h.do(prefix+"add_to_cart", map[string]any{"productId": 6})
	if in1, in2 := cart(first), cart(second); strings.Contains(in1, "pen") || !strings.Contains(in2, "pen") {
		t.Errorf("with the first tab in front the carts hold %s and %s", in1, in2)
	}
	p.host().do(prefix+"add_to_cart", map[string]any{"productId": 2})
	if in1, in2 := cart(first), cart(second); !strings.Contains(in1, "bowl") || strings.Contains(in2, "bowl") {
		t.Errorf("after another client's call the carts hold %s and %s", in1, in2)
	}
	if d := h.tools()[prefix+"checkout"].Description; !strings.Contains(d, "2 tabs") || !strings.Contains(d, "Tab 1 Active") {
		t.Errorf("the description says %q, want which of two tabs is active", d)
	}
	// A tool name with a tab number goes to that tab, whichever tab is active.
	if got := h.do(prefix+"tab2_view_cart", nil); !strings.Contains(string(got), "mug") {
		t.Errorf("the second tab's cart by its name: %s", got)
	}

	// A reload changes nothing. The call takes a second, in which a notice would come.
	was, notices := p.tabNumbers(nil), h.notices.Load()
	first.Reload()
	first.WaitFor(`tabhub.status.state === "open" && tabhub.status.tools === 7`)
	h.do(prefix+"tab1_wrap_gift", map[string]any{"productId": 2, "seconds": 1})
	first.WaitFor(`document.querySelector("[data-count=wrap_gift]").textContent === "1"`)
	if now := p.tabNumbers(nil); len(now) != 2 || now[1] != was[1] || now[2] != was[2] {
		t.Errorf("the tabs were %v, and are %v after a reload", was, now)
	}
	if n := h.notices.Load() - notices; n != 0 {
		t.Errorf("a reload sent the client %d notices of changed tools", n)
	}
	h.awaitNames("after a reload", names(1, 2))

	second.Close()
	h.awaitNames("one of two tabs was closed", names())
	third := open()
	h.awaitNames("a new tab, which gets a number that no other had", names(1, 3))
	if outcome, _ := h.call(prefix+"tab2_checkout", nil); outcome != "TAB_NOT_FOUND" {
		t.Errorf("a call of the closed tab's name: %s", outcome)
	}

	first.Close()
	third.Close()
	h.awaitNames("the last tab was closed", []string{prefix + "search_products"})
	if d := h.tools()[prefix+"search_products"].Description; !strings.Contains(d, "Cached") {
		t.Errorf("the description of what is cached: %q", d)
	}
	if outcome, _ := h.call(prefix+"search_products", map[string]any{"query": "pen"}); outcome != "TAB_NOT_FOUND" {
		t.Errorf("a call of what is cached, without a browser that could open a tab: %s", outcome)
	}
	fourth := open()
	h.awaitNames("a tab again", names())
	if now := p.tabNumbers(nil); len(now) != 1 || now[4] == "" {
		t.Errorf("the tabs are %v, want one with the number 4", now)
	}
	h.awaitActive(4, fourth)
}
