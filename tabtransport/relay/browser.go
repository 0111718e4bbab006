package relay

import (
	"context"
	"encoding/json"
	"fmt"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// serveHub lets an extension serve its user's hub as a browser that has no tools but
// opens and lists tabs, until ctx ends. It waits for a hub that is not open yet.
func (r *Relay) serveHub(ctx context.Context, hub tabtransport.Attacher, user spec.UserID, ext ExtensionInfo, remote string) {
	conn := tabtransport.Conn{
		Dialect: tabtransport.DialectRelay,
		Remote:  remote,
		Hello: &spec.Hello{
			ProtocolVersion: spec.ProtocolVersion,
			BrowserName:     ext.Name,
			// A browserId would need a secret that outlasts the relay. The extension has
			// no tabs in the hub that it could have to find again.
			TabKey:       "relay:" + ext.ID,
			Capabilities: []spec.Capability{spec.CapOpenTab, spec.CapListTabs},
		},
	}
	local, err := tabtransport.Join(ctx, hub, conn, func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		return r.serveRequest(ctx, user, ext.ID, in.Request)
	})
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("an extension cannot serve the hub", "user", user, "extension", ext.ID, "err", err)
		}
		return
	}
	defer local.Close()
	select {
	case <-ctx.Done():
	case <-local.Done():
	}
}

// serveRequest does what the hub asks of an extension.
func (r *Relay) serveRequest(ctx context.Context, user spec.UserID, extensionID string, req spec.Request) (spec.Response, error) {
	switch q := req.(type) {
	case *spec.Ping:
		return spec.Response{Result: json.RawMessage("{}")}, nil
	case *spec.OpenTab:
		result, err := r.Request(ctx, user, extensionID, "createTab", createTab(q.URL, q.Active))
		if err != nil {
			return spec.Response{}, fmt.Errorf("createTab: %w", err)
		}
		var opened spec.OpenTabResult
		if tab := tabOfResult(result); tab != "" {
			if err := json.Unmarshal([]byte(tab), &opened.TabID); err != nil {
				return spec.Response{}, fmt.Errorf("createTab answered with a tabId that is none: %w", err)
			}
		}
		return spec.Response{Result: marshal(opened)}, nil
	case *spec.ListTabs:
		result, err := r.Request(ctx, user, extensionID, "getTabs", nil)
		if err != nil {
			return spec.Response{}, fmt.Errorf("getTabs: %w", err)
		}
		tabs, err := tabList(result)
		return spec.Response{Result: tabs}, err
	default:
		return spec.Response{}, spec.Errorf(spec.CodeUnsupported, "an extension of the relay cannot do %s", req.Method())
	}
}

// createTab returns the parameters of createTab.
func createTab(url string, active bool) json.RawMessage {
	return marshal(struct {
		URL      string `json:"url"`
		Activate bool   `json:"activate"`
	}{url, active})
}

// tabList makes the answer to browser/listTabs of that to getTabs.
func tabList(result json.RawMessage) (json.RawMessage, error) {
	var got struct {
		Tabs []struct {
			ID       int64  `json:"id"`
			WindowID int64  `json:"windowId"`
			Index    int    `json:"index"`
			URL      string `json:"url"`
			Title    string `json:"title"`
			Active   bool   `json:"active"`
		} `json:"tabs"`
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return nil, fmt.Errorf("getTabs answered with what is no list of tabs: %w", err)
	}
	list := spec.ListTabsResult{Tabs: make([]spec.BrowserTab, len(got.Tabs))}
	for i, t := range got.Tabs {
		list.Tabs[i] = spec.BrowserTab{TabID: t.ID, WindowID: t.WindowID, Index: t.Index, URL: t.URL, Title: t.Title, Active: t.Active}
	}
	return marshal(list), nil
}
