package relay

import (
	"context"
	"encoding/json"
	"slices"

	"tabhub/spec"
)

// Tools is an extension as the relay's tools use it: commands go to the tab that they have
// chosen. All methods are safe for concurrent use. An *spec.Error is the extension's answer;
// the other errors are those that Failure tells apart.
type Tools struct{ d driver }

// Tools returns one of a user's extensions.
func (r *Relay) Tools(user spec.UserID, extensionID string) Tools {
	return Tools{driver{relay: r, user: user, id: extensionID, own: ofTools}}
}

// Request sends a request and returns the answer.
func (t Tools) Request(ctx context.Context, method string, params any) (result json.RawMessage, err error) {
	t.d.waits = true
	return t.d.request(ctx, method, params)
}

// Close closes the tab at an index, or, if that is nil, the one that is chosen, and returns
// the tab that is no more.
func (t Tools) Close(ctx context.Context, index *int) (closed spec.BrowserTab, err error) {
	err = t.d.inTurn(ctx, func() error {
		var tab int64
		if index != nil {
			tabs, err := t.d.tabs(ctx)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(tabs, func(t spec.BrowserTab) bool { return t.Index == *index })
			if i < 0 {
				return spec.Errorf(spec.CodeTabNotFound, "no tab has the index %d", *index)
			}
			tab = tabs[i].TabID
		}
		var err error
		closed, err = t.d.closeTab(ctx, tab)
		return err
	})
	return closed, err
}

// Navigate moves the tab that is chosen, and returns where it is then, as far as it is known.
func (t Tools) Navigate(ctx context.Context, to spec.Navigate) (page json.RawMessage, err error) {
	err = t.d.inTurn(ctx, func() error {
		page, err = t.d.navigate(ctx, to)
		return err
	})
	return page, err
}

// Screenshot pictures the tab that is chosen.
func (t Tools) Screenshot(ctx context.Context) (shot spec.ScreenshotResult, err error) {
	err = t.d.inTurn(ctx, func() error {
		shot, err = t.d.screenshot(ctx)
		return err
	})
	return shot, err
}

// Click clicks.
func (t Tools) Click(ctx context.Context, at Point) error {
	return t.act(ctx, "click", at, func() error { return t.d.mouse(ctx, at, "mousePressed", "mouseReleased") })
}

// Hover moves the mouse.
func (t Tools) Hover(ctx context.Context, at Point) error {
	return t.act(ctx, "hover", at, func() error { return t.d.mouse(ctx, at, "mouseMoved") })
}

// Type types a text, into the element of a selector if that is not "".
func (t Tools) Type(ctx context.Context, selector, text string) error {
	params := struct {
		Selector string `json:"selector,omitempty"`
		Text     string `json:"text"`
	}{selector, text}
	return t.act(ctx, "type", params, func() error { return t.d.typeText(ctx, selector, text) })
}

// act does something in the tab that is chosen; with an extension that does not know how,
// by the protocol's own method for it.
func (t Tools) act(ctx context.Context, method string, params any, do func() error) error {
	return t.d.inTurn(ctx, func() error {
		err := do()
		if unsupported(err) {
			_, err = t.d.request(ctx, method, params)
		}
		return err
	})
}
