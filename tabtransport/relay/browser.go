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

// Browser is the browser of an extension, as the hub uses it. Its methods are safe for
// concurrent use; their errors are those of Request, or *spec.Error.
//
// The protocol has commands go to the tab that was chosen last, by its place in the list.
// So what is about one tab chooses it first, and makes sure that the extension has chosen
// that one; nobody else chooses meanwhile (turn.go).
type Browser struct {
	relay *Relay
	user  spec.UserID
	id    string // of the extension
}

// Browser returns the browser of one of a user's extensions.
func (r *Relay) Browser(user spec.UserID, extensionID string) Browser {
	return Browser{r, user, extensionID}
}

// Tabs returns the tabs that are open, in the extension's order and with its numbers.
func (b Browser) Tabs(ctx context.Context) ([]spec.BrowserTab, error) {
	result, err := b.request(ctx, "getTabs", struct{}{})
	if err != nil {
		return nil, err
	}
	var got struct {
		Tabs *[]struct {
			ID       int64  `json:"id"`
			WindowID int64  `json:"windowId"`
			Index    int    `json:"index"`
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
		tabs[i] = spec.BrowserTab{TabID: t.ID, WindowID: t.WindowID, Index: t.Index, URL: t.URL, Title: t.Title, Active: t.Active}
	}
	return tabs, nil
}

// Open opens a tab and returns its id. An extension that does not tell it has made the
// newest tab, which has the highest id.
func (b Browser) Open(ctx context.Context, url string, active bool) (id int64, err error) {
	err = b.inTurn(ctx, func() error {
		result, err := b.request(ctx, "createTab", struct {
			URL      string `json:"url"`
			Activate bool   `json:"activate"`
		}{url, active})
		if err != nil {
			return err
		}
		if id, err = strconv.ParseInt(tabOfResult(result), 10, 64); err == nil {
			return nil
		}
		tabs, err := b.Tabs(ctx)
		for _, t := range tabs {
			id = max(id, t.TabID)
		}
		return err
	})
	return id, err
}

// Activate brings a tab and its window to the front.
func (b Browser) Activate(ctx context.Context, tab int64) error {
	return b.inTurn(ctx, func() error {
		at, err := b.choose(ctx, tab)
		if err != nil {
			return err
		}
		// Shipped extensions know one of the two.
		if err = b.selectTab(ctx, tabIndex{at.Index, true}, tab); err != nil {
			return err
		}
		if at, err = b.find(ctx, tab); err != nil || at.Active {
			return err
		}
		if _, err = b.request(ctx, "activateTab", tabIndex{Index: at.Index}); err != nil {
			return err
		}
		if at, err = b.find(ctx, tab); err == nil && !at.Active {
			err = spec.Errorf(spec.CodeInternal, "the browser's extension did not bring the tab to the front")
		}
		return err
	})
}

// Close closes a tab. An extension may say that it has and be wrong, as the page may ask
// its user first.
func (b Browser) Close(ctx context.Context, tab int64) error {
	return b.inTurn(ctx, func() error {
		if _, err := b.choose(ctx, tab); err != nil {
			return err
		}
		// Without an index: some shipped extensions overlook it, and close the chosen tab.
		if _, err := b.request(ctx, "closeTab", struct{}{}); err != nil {
			return err
		}
		tabs, err := b.Tabs(ctx)
		if err == nil && indexOf(tabs, tab) >= 0 {
			err = spec.Errorf(spec.CodeInternal, "the tab is still open; its page may be asking the user whether to leave")
		}
		return err
	})
}

// on runs use while commands go to a tab.
func (b Browser) on(ctx context.Context, tab int64, use func() error) error {
	return b.inTurn(ctx, func() error {
		if _, err := b.choose(ctx, tab); err != nil {
			return err
		}
		return use()
	})
}

// tabIndex is the parameters of selectTab and activateTab.
type tabIndex struct {
	Index    int  `json:"tabIndex"`
	Activate bool `json:"activate,omitempty"`
}

// choose has the commands that follow go to a tab, in the caller's turn.
func (b Browser) choose(ctx context.Context, tab int64) (at spec.BrowserTab, err error) {
	if at, err = b.find(ctx, tab); err != nil {
		return at, err
	}
	return at, b.selectTab(ctx, tabIndex{Index: at.Index}, tab)
}

// selectTab chooses the tab at an index, which must be that of the id.
func (b Browser) selectTab(ctx context.Context, index tabIndex, tab int64) error {
	result, err := b.request(ctx, "selectTab", index)
	// An extension that has its debugger at the tab already has chosen it all the same.
	if err != nil && !strings.Contains(err.Error(), "already attached") {
		return err
	}
	if chosen := tabOfResult(result); chosen != "" && chosen != strconv.FormatInt(tab, 10) {
		return spec.Errorf(spec.CodeInternal, "the browser's tabs were just moved: nothing was done; try again")
	}
	return nil
}

// find returns the tab of an id.
func (b Browser) find(ctx context.Context, tab int64) (at spec.BrowserTab, err error) {
	tabs, err := b.Tabs(ctx)
	if err != nil {
		return at, err
	}
	i := indexOf(tabs, tab)
	if i < 0 {
		return at, spec.Errorf(spec.CodeTabNotFound, "the tab is not open")
	}
	return tabs[i], nil
}

func indexOf(tabs []spec.BrowserTab, id int64) int {
	return slices.IndexFunc(tabs, func(t spec.BrowserTab) bool { return t.TabID == id })
}

// request sends a request whatever turn it is.
func (b Browser) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	result, err := b.relay.request(ctx, b.user, b.id, method, marshal(params), true)
	if e, ok := errors.AsType[*spec.Error](err); ok && unknown(e) {
		return nil, spec.Errorf(spec.CodeUnsupported, "the browser's extension cannot do this: it knows no %s", method)
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

// serveHub lets the extension serve its user's hub as a browser until ctx ends. It waits
// for a hub that is not open yet.
func (b Browser) serveHub(ctx context.Context, hub tabtransport.Attacher, name, remote string) {
	conn := tabtransport.Conn{
		Dialect: "mcp-proxy",
		Remote:  remote,
		Known:   true,
		Hello: &spec.Hello{
			ProtocolVersion: spec.ProtocolVersion,
			BrowserID:       spec.BrowserID(b.id),
			BrowserName:     name,
			Capabilities: []spec.Capability{
				spec.CapOpenTab, spec.CapActivateTab, spec.CapCloseTab, spec.CapListTabs,
				spec.CapNavigate, spec.CapScreenshot, spec.CapText,
			},
		},
	}
	local, err := tabtransport.Join(ctx, hub, conn, func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		result, err := b.do(ctx, in.Tab, in.Request)
		if err != nil {
			return spec.Response{}, asError(err)
		}
		return spec.Response{Result: marshal(result)}, nil
	})
	if err != nil {
		if ctx.Err() == nil {
			b.relay.log.Warn("an extension cannot serve the hub", "user", b.user, "extension", b.id, "err", err)
		}
		return
	}
	defer local.Close()
	select {
	case <-ctx.Done():
	case <-local.Done():
	}
}

// do does what the hub asks of a browser, or of one of its tabs.
func (b Browser) do(ctx context.Context, tab int64, req spec.Request) (result any, err error) {
	result = struct{}{}
	switch q := req.(type) {
	case *spec.Ping:
	case *spec.ListTabs:
		var tabs []spec.BrowserTab
		tabs, err = b.Tabs(ctx)
		result = spec.ListTabsResult{Tabs: tabs}
	case *spec.OpenTab:
		var id int64
		id, err = b.Open(ctx, q.URL, q.Active)
		result = spec.OpenTabResult{TabID: id}
	case *spec.ActivateTab:
		err = b.Activate(ctx, tab)
	case *spec.CloseTab:
		err = b.Close(ctx, tab)
	case *spec.Navigate:
		err = b.on(ctx, tab, func() error { return b.navigate(ctx, *q) })
	case *spec.Screenshot:
		err = b.on(ctx, tab, func() (err error) {
			result, err = b.screenshot(ctx)
			return err
		})
	case *spec.Text:
		err = b.on(ctx, tab, func() (err error) {
			result, err = b.text(ctx)
			return err
		})
	default:
		err = spec.Errorf(spec.CodeUnsupported, "an extension of the relay cannot do %s", req.Method())
	}
	return result, err
}

// asError returns an error of Request as one of the tab protocol.
func asError(err error) *spec.Error {
	if e, ok := errors.AsType[*spec.Error](err); ok {
		return e
	}
	_, words := Failure(err)
	return spec.Errorf(spec.CodeInternal, "%s", words)
}

// Failure says why Request got no answer, and whether the request may have taken effect.
func Failure(err error) (spec.FailureCode, string) {
	switch {
	case errors.Is(err, tabtransport.ErrNotConnected):
		return spec.FailNotConnected, "The browser is not connected: nothing was sent"
	case errors.Is(err, tabtransport.ErrBusy):
		return spec.FailQueueFull, "The browser has too much to do: nothing was sent; try again later"
	case errors.Is(err, tabtransport.ErrLost):
		return spec.FailTabClosed, "The browser disconnected before it answered: the command may have taken effect"
	case errors.Is(err, tabtransport.ErrTimeout):
		return spec.FailToolTimeout, "The browser did not answer in time: the command may have taken effect"
	}
	return spec.FailToolError, fmt.Sprintf("The browser could not be asked: %v", err)
}
