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
	return Tools{driver{relay: r, user: user, id: extensionID, own: ofTools, waits: true}}
}

// Request sends a request and returns the answer.
func (t Tools) Request(ctx context.Context, method string, params any) (result json.RawMessage, err error) {
	return t.d.request(ctx, method, params)
}

// Activate brings the tab at an index to the front, or, if that is nil, the one that is
// chosen, and returns the extension's answer. Shipped extensions can do it only as they
// choose a tab.
func (t Tools) Activate(ctx context.Context, index *int) (result json.RawMessage, err error) {
	if index == nil {
		return t.Request(ctx, "activateTab", struct{}{})
	}
	result, err = t.Request(ctx, "activateTab", tabIndex{Index: *index})
	if unsupported(err) {
		result, err = t.Request(ctx, "selectTab", tabIndex{*index, true})
	}
	return result, err
}

// Close closes the tab at an index, or, if that is nil, the one that is chosen, and returns
// the tab that is no more.
func (t Tools) Close(ctx context.Context, index *int) (closed spec.BrowserTab, err error) {
	d := t.d
	d.waits = false // for its own turn
	err = d.inTurn(ctx, func() (err error) {
		var id *int64
		if index != nil {
			tabs, err := d.tabs(ctx)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(tabs, func(t spec.BrowserTab) bool { return t.Index == *index })
			if i < 0 {
				return spec.Errorf(spec.CodeTabNotFound, "no tab has the index %d", *index)
			}
			id = &tabs[i].TabID
		}
		closed, err = d.closeTab(ctx, id)
		return err
	})
	return closed, err
}

// Navigate moves the tab that is chosen, and returns where it is then, as far as it is known.
func (t Tools) Navigate(ctx context.Context, to spec.Navigate) (page json.RawMessage, err error) {
	return t.d.navigate(ctx, to)
}

// Screenshot pictures the tab that is chosen.
func (t Tools) Screenshot(ctx context.Context) (spec.ScreenshotResult, error) {
	return t.d.screenshot(ctx)
}

// Click clicks in the tab that is chosen.
func (t Tools) Click(ctx context.Context, at Point) error {
	return t.d.or(ctx, "click", at, t.d.mouse(ctx, at, "mousePressed", "mouseReleased"))
}

// Hover moves the mouse in the tab that is chosen.
func (t Tools) Hover(ctx context.Context, at Point) error {
	return t.d.or(ctx, "hover", at, t.d.mouse(ctx, at, "mouseMoved"))
}

// Type types a text in the tab that is chosen, into the element of a selector if that is
// not "".
func (t Tools) Type(ctx context.Context, selector, text string) error {
	params := struct {
		Selector string `json:"selector,omitempty"`
		Text     string `json:"text"`
	}{selector, text}
	return t.d.or(ctx, "type", params, t.d.typeText(ctx, selector, text))
}
