package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// driver is an extension as part of the hub uses it. The errors of its methods are those of
// send.
//
// The protocol has commands go to the tab that was chosen last, by its place in the list.
// Who means a certain tab chooses it, in a turn (turn.go), and makes sure that the extension
// has chosen that one.
type driver struct {
	relay *Relay
	user  spec.UserID
	id    string // of the extension
}

// tabs returns the tabs that are open, in the extension's order and with its numbers.
func (d driver) tabs(ctx context.Context) ([]spec.BrowserTab, error) {
	result, err := d.request(ctx, "getTabs", struct{}{})
	if err != nil {
		return nil, err
	}
	var got struct {
		Tabs *[]struct {
			ID       int64  `json:"id"`
			WindowID int64  `json:"windowId"`
			Index    *int   `json:"index"`
			URL      string `json:"url"`
			Title    string `json:"title"`
			Active   bool   `json:"active"`
		} `json:"tabs"`
	}
	if err := json.Unmarshal(result, &got); err != nil || got.Tabs == nil {
		return nil, spec.Errorf(spec.CodeInternal, "the browser's extension answered getTabs with what is no list of tabs")
	}
	tabs := make([]spec.BrowserTab, len(*got.Tabs))
	for i, t := range *got.Tabs {
		tabs[i] = spec.BrowserTab{TabID: t.ID, WindowID: t.WindowID, Index: i, URL: t.URL, Title: t.Title, Active: t.Active}
		if t.Index != nil {
			tabs[i].Index = *t.Index
		}
	}
	return tabs, nil
}

// tabIndex is the parameters of selectTab and activateTab.
type tabIndex struct {
	Index    int  `json:"tabIndex"`
	Activate bool `json:"activate,omitempty"`
}

// choose has the commands that follow go to a tab, in the caller's turn.
func (d driver) choose(ctx context.Context, tab int64) (at spec.BrowserTab, err error) {
	if at, err = d.find(ctx, tab); err != nil {
		return at, err
	}
	return at, d.selectTab(ctx, tabIndex{Index: at.Index}, tab)
}

// selectTab chooses the tab at an index, which must be that of the id.
func (d driver) selectTab(ctx context.Context, index tabIndex, tab int64) error {
	result, err := d.request(ctx, "selectTab", index)
	// In Chrome's words, the extension has its debugger there already: the tab is chosen.
	if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("already attached to the tab with id: %d.", tab)) {
		return err
	}
	if chosen := tabOfResult(result); chosen != "" && chosen != strconv.FormatInt(tab, 10) {
		return spec.Errorf(spec.CodeInternal, "the browser's tabs were just moved: nothing was done; try again")
	}
	return nil
}

// find returns the tab of an id.
func (d driver) find(ctx context.Context, tab int64) (at spec.BrowserTab, err error) {
	tabs, err := d.tabs(ctx)
	if err != nil {
		return at, err
	}
	i := indexOf(tabs, tab)
	if i < 0 {
		return at, spec.Errorf(spec.CodeTabNotFound, "the tab is not open")
	}
	return tabs[i], nil
}

// closeTab closes the tab of an id. An extension may say that it has closed a tab and be wrong: the
// page may ask its user first.
func (d driver) closeTab(ctx context.Context, id int64) error {
	if _, err := d.choose(ctx, id); err != nil {
		return err
	}
	// Without an index: some shipped extensions overlook it, and close the chosen tab.
	if _, err := d.request(ctx, "closeTab", struct{}{}); err != nil {
		return err
	}
	after, err := d.tabs(ctx)
	if err == nil && indexOf(after, id) >= 0 {
		err = spec.Errorf(spec.CodeInternal, "the tab is still open; its page may be asking the user whether to leave")
	}
	return err
}

func indexOf(tabs []spec.BrowserTab, id int64) int {
	return slices.IndexFunc(tabs, func(t spec.BrowserTab) bool { return t.TabID == id })
}

// request sends a request.
func (d driver) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	result, err := d.send(ctx, method, marshal(params))
	if e, ok := errors.AsType[*spec.Error](err); ok && unknown(e) {
		return nil, spec.Errorf(spec.CodeUnsupported, "the browser's extension cannot do this: %s", e.Message)
	}
	return result, err
}

// unknown reports whether an extension's error says that it does not know a method, by
// its code or in the words of shipped ones: nothing has been done then.
func unknown(e *spec.Error) bool {
	return e.Code == spec.CodeMethodNotFound || strings.HasPrefix(e.Message, "Unknown command") || strings.HasPrefix(e.Message, "Unsupported CDP method")
}

// refusal returns what a result says of a failure, nil if it tells of none: shipped
// extensions answer {"error":"…"} or {"success":false} to some of what they cannot do.
func refusal(result json.RawMessage) *spec.Error {
	words, failed := rawjson.String(rawjson.Get(result, "error"))
	if !failed && string(rawjson.Get(result, "success")) != "false" {
		return nil
	}
	if words == "" {
		words = "Extension failed without a message"
	}
	return spec.Errorf(codeServer, "%s", words)
}

// asError returns an error of send as one of the tab protocol.
func asError(err error) *spec.Error {
	if e, ok := errors.AsType[*spec.Error](err); ok {
		return e
	}
	return spec.Errorf(spec.CodeInternal, "%s", failure(err))
}

// failure says why a request got no answer, and whether the request may have taken effect.
func failure(err error) string {
	switch {
	case errors.Is(err, tabtransport.ErrNotConnected):
		return "The browser is not connected: nothing was sent"
	case errors.Is(err, tabtransport.ErrBusy):
		return "The browser has too much to do: nothing was sent; try again later"
	case errors.Is(err, tabtransport.ErrLost):
		return "The browser disconnected before it answered: the command may have taken effect"
	case errors.Is(err, tabtransport.ErrTimeout):
		return "The browser did not answer in time: the command may have taken effect"
	}
	return fmt.Sprintf("The browser could not be asked: %v", err)
}
