package chromium

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/webmcp"
	"github.com/chromedp/chromedp"
)

// Invoke calls a tool that the page, or a frame of it in the same process, has registered
// with the browser, as an agent of the browser's own does. It returns once the tool is there
// and the call has begun; wait returns what the agent would be given: the output, of which all
// but a text is JSON, or an error. The call goes on when it takes the page to another document.
func (p *Page) Invoke(tool, input string) (wait func() (output string, err error)) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	session := chromedp.FromContext(p.ctx).Target
	fail := func(what string, err error) {
		p.t.Helper()
		cancel()
		p.t.Fatalf("%s %s: %v", what, tool, err)
	}
	added := cdp.Events(ctx, session, webmcp.ToolsAdded)
	responded := cdp.Events(ctx, session, webmcp.ToolResponded)
	if _, err := cdp.Call(ctx, session, webmcp.Enable, cdp.Empty{}); err != nil {
		fail("looking for", err)
	}
	frame, err := frameWith(tool, added)
	if err != nil {
		fail("looking for", err)
	}
	call, err := cdp.Call(ctx, session, webmcp.InvokeTool, webmcp.InvokeToolParams{FrameID: frame, ToolName: tool, Input: jsonv2.Value(input)})
	if err != nil {
		fail("calling", err)
	}
	return func() (string, error) {
		p.t.Helper()
		defer cancel()
		for got, err := range responded {
			if err != nil {
				fail("the answer of", err)
			}
			if got.InvocationID != call.InvocationID {
				continue
			}
			// What is enabled again names the tools again.
			if _, err := cdp.Call(ctx, session, webmcp.Disable, cdp.Empty{}); err != nil {
				fail("calling", err)
			}
			if got.Status != webmcp.InvocationStatusCompleted {
				return "", errors.New(cmp.Or(got.ErrorText, got.Status.String()))
			}
			var text string
			if err := json.Unmarshal(got.Output, &text); err != nil {
				return string(got.Output), nil
			}
			return text, nil
		}
		return "", context.Cause(ctx)
	}
}

// frameWith returns the frame that has a tool.
func frameWith(tool string, added func(yield func(webmcp.EventToolsAdded, error) bool)) (cdp.FrameID, error) {
	for got, err := range added {
		if err != nil {
			return "", err
		}
		for _, t := range got.Tools {
			if t.Name == tool {
				return t.FrameID, nil
			}
		}
	}
	return "", errors.New("the page has gone")
}
