package extension_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// The tools of a page that is written to the standard are those of the browser's WebMCP, or of
// the extension's where the browser has none: nothing of them differs.
func TestNativeTools(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{true, false} {
		t.Run(fmt.Sprintf("native=%v", native), func(t *testing.T) {
			t.Parallel()
			testNativeTools(t, native)
		})
	}
}

func testNativeTools(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url := site(t, map[string]string{"/": shop, "/next": "<title>Found</title>"})
	p := b.Open(url)
	tab := h.tabWith(shopTools...)

	h.mu.Lock()
	hello, origin := h.hello, h.origin
	h.mu.Unlock()
	if origin != extension.Origin || b.ExtensionID != extension.ID {
		t.Errorf("the extension comes from %q with the id %q", origin, b.ExtensionID)
	}
	if hello.BrowserID == "" || hello.Session == "" || hello.BrowserSecret+hello.Token != "" || len(hello.Capabilities) != 11 || !strings.Contains(hello.BrowserName, "Chrom") {
		t.Errorf("hello: %+v", hello)
	}
	if echo := h.tool(tab, "echo"); echo.Origin != url || echo.FrameID != 0 || !strings.Contains(string(echo.InputSchema), "Said back") || !strings.Contains(string(echo.Annotations), `"readOnlyHint":true`) {
		t.Errorf("echo: %+v", echo)
	}
	// A form may be offered before the browser has read its fields; they follow.
	h.wait("the form's fields", func() bool {
		return slices.ContainsFunc(h.tabs[tab].tools, func(it item) bool {
			return it.Name == "search" && strings.Contains(string(it.InputSchema), "What to look for")
		})
	})
	for _, c := range []struct{ tool, args, want string }{
		{"words", "{}", `{"content":[{"type":"text","text":"plain words"}]}`},
		{"rich", "{}", `{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}],"structuredContent":{"n":1},"isError":false}`},
		{"echo", `{"text":"grüß"}`, `{"content":[{"type":"text","text":"{\"text\":\"grüß\"}"}],"structuredContent":{"text":"grüß"}}`},
		{"throws", "{}", `failed: "the cart is empty"`},
	} {
		got, err := h.call(tab, c.tool, c.args)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.tool, got, err, c.want)
		}
	}
	got, err := h.call(tab, "big", `{"n":5242880}`)
	if err != nil || len(got) < 5<<20 {
		t.Errorf("a result of 5 MiB: %d bytes, %v", len(got), err)
	}
	p.WaitFor("document.title === 'Shop'")
	got, err = h.call(tab, "search", `{"q":"shoes"}`)
	if want := `{"content":[]} at ` + url + `/?q=shoes "Shop"`; err != nil || got != want {
		t.Errorf("a form that leads elsewhere: %s, %v; want %s", got, err, want)
	}
	p.Navigate("about:blank")
	h.tabWith()
}

// A tool that is gone was never run: the hub may say so and nothing is lost.
func TestCallOfVanishedTool(t *testing.T) {
	t.Parallel()
	bothWays(t, testCallOfVanishedTool)
}

func testCallOfVanishedTool(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	_, err := h.wireCall(tab, 0, "nobody")
	var rpc *spec.Error
	if !errors.As(err, &rpc) || rpc.Code != spec.CodeTabNotFound || string(rpc.Data) != string(spec.NotDelivered) {
		t.Errorf("a tool that the page does not have: %v, %s", err, rpc.Data)
	}
	_, err = h.wireCall(tab, 4711, "echo")
	if !errors.As(err, &rpc) || rpc.Code != spec.CodeTabNotFound || string(rpc.Data) != string(spec.NotDelivered) {
		t.Errorf("a frame that is not there: %v, %s", err, rpc.Data)
	}
	// A call that was meant for another site must not run in this one.
	_, err = h.ask(tab, &spec.ExecuteTool{ToolName: "echo", Args: json.RawMessage("{}"), FrameID: new(int64), Origin: "https://bank.example"})
	if !errors.As(err, &rpc) || rpc.Code != spec.CodeTabNotFound || string(rpc.Data) != string(spec.NotDelivered) {
		t.Errorf("a call for another site: %v, %s", err, rpc.Data)
	}
}
