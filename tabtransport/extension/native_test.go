package extension_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// The hub learns which browser it is, and where a tool comes from.
func TestHello(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": shop})
	p := b.Open(url)
	tab := h.tabWith(shopTools...)
	h.mu.Lock()
	hello, origin := h.hello, h.origin
	h.mu.Unlock()
	if origin != extension.Origin || b.ExtensionID != extension.ID {
		t.Errorf("the extension comes from %q with the id %q", origin, b.ExtensionID)
	}
	if hello.BrowserID == "" || hello.Session == "" || hello.BrowserSecret+hello.Token != "" || len(hello.Capabilities) != 13 || !strings.Contains(hello.BrowserName, "Chrom") {
		t.Errorf("hello: %+v", hello)
	}
	if echo := h.tool(tab, "echo"); echo.Origin != url || echo.FrameID != 0 {
		t.Errorf("echo: %+v", echo)
	}
	const want = `{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}],"structuredContent":{"n":1},"isError":false}`
	if got, err := h.call(tab, "rich", "{}"); err != nil || got != want {
		t.Errorf("rich: %s, %v; want %s", got, err, want)
	}
	if got, err := h.call(tab, "big", `{"n":5242880}`); err != nil || len(got) < 5<<20 {
		t.Errorf("a result of 5 MiB: %d bytes, %v", len(got), err)
	}
	p.Navigate("about:blank")
	h.tabWith()
}

// A call of a tool that has gone was not delivered, and the hub may say so.
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
