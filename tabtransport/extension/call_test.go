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

// callFrame runs a tool of a frame, whether the hub knows it or not.
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
		got += fmt.Sprintf(" at %s %q%s", resp.Page.URL, resp.Page.Title, resp.Page.Error)
	}
	return got, nil
}

// begin begins a call. What it brings, or the error's text, is on the channel once it has ended.
func (h *hub) begin(tab, frame int64, name, args string) <-chan string {
	return h.beginWith(h.t.Context(), tab, frame, name, args, tabtransport.Wait{Timeout: chromium.Timeout})
}

func (h *hub) beginWith(ctx context.Context, tab, frame int64, name, args string, wait tabtransport.Wait) <-chan string {
	done := make(chan string, 1)
	go func() {
		got, err := h.callFrame(ctx, tab, frame, name, args, wait)
		if err != nil {
			got = err.Error()
		}
		done <- got
	}()
	return done
}

// ask sends any other request.
func (h *hub) ask(tab int64, req spec.Request) (string, error) {
	resp, err := h.wire.SendRequest(h.t.Context(), spec.TabAddr{Peer: browserPeer, Tab: tab}, req, tabtransport.Wait{Timeout: chromium.Timeout})
	return string(resp.Result), err
}

// wireCall runs a tool of a frame and returns the answer as the extension gave it.
func (h *hub) wireCall(tab, frame int64, name string) (string, error) {
	return h.ask(tab, &spec.ExecuteTool{ToolName: name, Args: json.RawMessage("{}"), FrameID: &frame})
}
