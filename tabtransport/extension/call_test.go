package extension_test

import (
	"context"
	"encoding/json"
	"fmt"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// call runs a tool of a tab.
func (h *hub) call(tab int64, name, args string) (string, error) {
	h.t.Helper()
	it := h.tool(tab, name)
	return h.callFrame(h.t.Context(), tab, it.FrameID, name, args, tabtransport.Wait{Timeout: chromium.Timeout})
}

func (h *hub) callFrame(ctx context.Context, tab, frame int64, name, args string, wait tabtransport.Wait) (string, error) {
	req := &spec.ExecuteTool{ToolName: name, Args: json.RawMessage(args), FrameID: &frame}
	resp, err := h.wire.SendRequest(ctx, spec.TabAddr{Peer: browserPeer, Tab: tab}, req, wait)
	if err != nil {
		return "", err
	}
	got := string(resp.Result)
	if resp.Failed {
		got = "failed: " + got
	}
	if resp.Page != nil {
		got += fmt.Sprintf(" at %s %q", resp.Page.URL, resp.Page.Title)
	}
	return got, nil
}

// ask sends any other request.
func (h *hub) ask(tab int64, req spec.Request) (string, error) {
	resp, err := h.wire.SendRequest(h.t.Context(), spec.TabAddr{Peer: browserPeer, Tab: tab}, req, tabtransport.Wait{Timeout: chromium.Timeout})
	return string(resp.Result), err
}

func (h *hub) wireCall(tab, frame int64, name string) (string, error) {
	resp, err := h.ask(tab, &spec.ExecuteTool{ToolName: name, Args: json.RawMessage("{}"), FrameID: &frame})
	return resp, err
}
