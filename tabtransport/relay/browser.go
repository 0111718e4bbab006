package relay

import (
	"context"
	"net/url"
	"strconv"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Dialect names both protocols, for people and for who looks which browsers there are.
const Dialect = "mcp-proxy"

// Peer returns the hub's id of the browser that an extension is.
func Peer(extensionID string) spec.PeerID { return spec.PeerID(tabtransport.KnownPeer + extensionID) }

// browser is an extension as the hub sees it: a browser whose tabs have ids. What is about
// one of them chooses it first.
type browser struct{ driver }

// serveHub lets the extension serve its user's hub as a browser until ctx ends. It waits
// for a hub that is not open yet.
func (b browser) serveHub(ctx context.Context, hub tabtransport.Attacher, name, remote string) {
	conn := tabtransport.Conn{
		Dialect: Dialect,
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
	select {
	case <-ctx.Done():
	case <-local.Done():
	}
	// What the extension has left unanswered has ended by now: the hub is told how.
	local.Finish()
}

// do does what the hub asks of a browser, or of one of its tabs.
func (b browser) do(ctx context.Context, tab int64, req spec.Request) (result any, err error) {
	result = struct{}{}
	switch q := req.(type) {
	case *spec.Ping:
	case *spec.ListTabs:
		var tabs []spec.BrowserTab
		tabs, err = b.tabs(ctx)
		result = spec.ListTabsResult{Tabs: tabs}
	case *spec.OpenTab:
		var id int64
		id, err = b.open(ctx, q.URL, q.Active)
		result = spec.OpenTabResult{TabID: id}
	case *spec.ActivateTab:
		err = b.activate(ctx, tab, q.IfOrigin)
	case *spec.CloseTab:
		err = b.close(ctx, tab, q.IfOrigin)
	case *spec.Navigate:
		err = b.on(ctx, tab, q.IfOrigin, func() error {
			_, err := b.navigate(ctx, *q)
			return err
		})
	case *spec.Screenshot:
		err = b.on(ctx, tab, q.IfOrigin, func() (err error) {
			result, err = b.screenshot(ctx)
			return err
		})
	case *spec.Text:
		err = b.on(ctx, tab, q.IfOrigin, func() (err error) {
			result, err = b.text(ctx)
			return err
		})
	default:
		err = spec.Errorf(spec.CodeUnsupported, "an extension of the relay cannot do %s", req.Method())
	}
	return result, err
}

// open opens a tab and returns its id. An extension that does not tell it has made the
// newest tab, which has the highest id.
func (b browser) open(ctx context.Context, url string, active bool) (id int64, err error) {
	err = b.inTurn(ctx, func() error {
		result, err := b.request(ctx, "createTab", struct {
			URL      string `json:"url"`
			Activate bool   `json:"activate"`
		}{url, active})
		if err != nil {
			return err
		}
		b.arrived(ctx)
		if id, err = strconv.ParseInt(tabOfResult(result), 10, 64); err == nil {
			return nil
		}
		tabs, err := b.tabs(ctx)
		for _, t := range tabs {
			id = max(id, t.TabID)
		}
		return err
	})
	return id, err
}

// activate brings a tab and its window to the front.
func (b browser) activate(ctx context.Context, tab int64, origin string) error {
	return b.inTurn(ctx, func() error {
		at, err := b.choose(ctx, tab)
		if err == nil {
			err = shows(at, origin)
		}
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

// close closes a tab.
func (b browser) close(ctx context.Context, tab int64, origin string) error {
	return b.inTurn(ctx, func() error {
		if origin != "" {
			at, err := b.find(ctx, tab)
			if err == nil {
				err = shows(at, origin)
			}
			if err != nil {
				return err
			}
		}
		err := b.closeTab(ctx, tab)
		return err
	})
}

// on runs use while commands go to a tab that shows an origin.
func (b browser) on(ctx context.Context, tab int64, origin string, use func() error) error {
	return b.inTurn(ctx, func() error {
		at, err := b.choose(ctx, tab)
		if err == nil {
			err = shows(at, origin)
		}
		if err != nil {
			return err
		}
		return use()
	})
}

// shows returns an error if a tab shows another origin, unless that is "". What it shows a
// moment later, when it is used, the protocol lets nobody say.
func shows(at spec.BrowserTab, origin string) error {
	if u, err := url.Parse(at.URL); origin == "" || err == nil && u.Scheme+"://"+u.Host == origin {
		return nil
	}
	return &spec.Error{Code: spec.CodeTabNotFound, Message: "the tab shows another site by now", Data: spec.NotDelivered}
}
