package browsertool

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"tabhub/hub/builtin/instance"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

var instanceActions = actions{
	"list":     {class: always(policy.Read), run: listInstances},
	"new":      {takes: []string{"url", "mode", "headless", "profile", "closeOtherTabs"}, class: classOfNew, run: newInstance},
	"close":    {needs: []string{"instanceId"}, class: always(policy.Write), run: closeInstance},
	"profiles": {class: always(policy.Read), run: listProfiles},
}

// classOfNew is what a browser may do that is started with a call's arguments: in a profile that
// a model has named, and in which somebody may be logged in, anything.
func classOfNew(a *args) policy.Class {
	if a.Profile != "" && a.Profile != instance.DefaultProfile {
		return policy.Destructive
	}
	return policy.Write
}

func always(class policy.Class) func(*args) policy.Class {
	return func(*args) policy.Class { return class }
}

// instanceEntry is an instance as list shows it; times are in milliseconds since 1970.
type instanceEntry struct {
	ID           string `json:"id"`
	BrowserType  string `json:"browserType"`
	Profile      string `json:"profile"`
	Port         int    `json:"port"` // where it is connected to the hub
	UserAgent    string `json:"userAgent"`
	WindowID     int64  `json:"windowId,omitempty"` // of the tab in front
	ConnectedAt  int64  `json:"connectedAt,omitempty"`
	LastActivity int64  `json:"lastActivity,omitempty"`

	BrowserID string `json:"browserId,omitempty"`
	Connected bool   `json:"connected"`
	Headless  bool   `json:"headless"`
	PID       int    `json:"pid"`
}

// instanceIDs returns the instances of the browsers that are connected.
func (k *kit) instanceIDs() map[spec.PeerID]string {
	ids := map[spec.PeerID]string{}
	if k.instances == nil {
		return ids
	}
	for _, i := range k.instances.List() {
		if i.Browser != nil {
			ids[i.Browser.Peer] = i.ID
		}
	}
	return ids
}

// has reports whether there is an instance for the client: for one that is bound to browsers only
// if it is one of them.
func (c *call) has(i instance.Info) bool {
	return !c.hub.Lists.IsBound(c.by) || i.Browser != nil && slices.ContainsFunc(c.browsers(), func(b browser) bool { return b.Peer == i.Browser.Peer })
}

func listInstances(c *call) (any, error) {
	list := slices.DeleteFunc(c.instances.List(), func(i instance.Info) bool { return !c.has(i) })
	entries := make([]instanceEntry, len(list))
	var wg sync.WaitGroup
	for i, info := range list {
		wg.Go(func() { entries[i] = c.instanceEntry(info) })
	}
	wg.Wait()
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	return map[string]any{"instances": entries}, nil
}

func (c *call) instanceEntry(info instance.Info) instanceEntry {
	e := instanceEntry{
		ID: info.ID, BrowserType: info.Mode.String(), Profile: info.Profile, Port: c.port(),
		Headless: info.Headless, PID: info.PID,
	}
	if info.Browser == nil {
		return e
	}
	b := browser{*info.Browser, info.Browser.Peer.Short()}
	e.UserAgent, e.BrowserID, e.Connected = b.Name, b.short, true
	e.ConnectedAt, e.LastActivity = b.ConnectedAt.UnixMilli(), b.LastSeen.UnixMilli()
	// A browser that does not answer is listed without its window.
	tabs, _ := c.tabsOf(b)
	if i := slices.IndexFunc(tabs, func(t tab) bool { return t.Active }); i >= 0 {
		e.WindowID = tabs[i].WindowID
	}
	return e
}

func (c *call) port() int {
	u, err := url.Parse(c.instances.HubURL())
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

// started says what new has started.
type started struct {
	InstanceID          string `json:"instanceId"`
	BrowserType         string `json:"browserType"`
	Profile             string `json:"profile"`
	DownloadDirectory   string `json:"downloadDirectory,omitempty"`
	ExtensionAutoLoaded bool   `json:"extensionAutoLoaded"`
	BrowserID           string `json:"browserId,omitempty"`
	Headless            bool   `json:"headless"`
	Message             string `json:"message"`
	Warning             string `json:"warning,omitempty"`
}

func newInstance(c *call) (any, error) {
	if c.hub.Lists.IsBound(c.by) {
		return nil, failure(spec.FailDenied, "a browser that is started has no name yet, and would be none of yours%s", c.hub.Lists.BoundWords(c.by))
	}
	c.by.Report(spec.Progress{Message: "Starting the browser and waiting until it is connected"})
	info, err := c.instances.Start(c.ctx, instance.Config{
		Mode: c.args.Mode, Profile: c.args.Profile, URL: c.args.URL, Headless: c.args.Headless,
	})
	if err != nil {
		return nil, err
	}
	s := started{
		InstanceID: info.ID, BrowserType: info.Mode.String(), Profile: info.Profile, DownloadDirectory: info.Downloads,
		ExtensionAutoLoaded: info.Loaded, Headless: info.Headless, Message: "The browser runs and is connected.",
	}
	if info.Browser == nil {
		s.Message = "The browser runs, but is not connected yet."
		s.Warning = fmt.Sprintf("Google Chrome loads no extension from the command line. The user loads it once by hand: open chrome://extensions, switch on Developer mode, press Load unpacked and choose %s. It then connects by itself, also at later starts of this profile.", info.Extension)
		return s, nil
	}
	b := browser{*info.Browser, info.Browser.Peer.Short()}
	s.BrowserID = b.short
	if c.args.CloseOtherTabs {
		if err := c.closeBehind(b); err != nil {
			s.Warning = "Its other tabs could not all be closed: " + failureOf(err).Message
		}
	}
	return s, nil
}

// closeBehind closes the tabs that are not in front.
func (c *call) closeBehind(b browser) error {
	tabs, err := c.tabsOf(b)
	if err != nil {
		return err
	}
	_, _, err = c.closeTabs(slices.DeleteFunc(tabs, func(t tab) bool { return t.Active }))
	return err
}

func closeInstance(c *call) (any, error) {
	for _, i := range c.instances.List() {
		switch {
		case i.ID != c.args.InstanceID:
			continue
		case !c.has(i):
			return nil, failure(spec.FailNoInstance, "Instance not found: %.80q; action list shows those that run", c.args.InstanceID)
		case i.Browser != nil:
			if err := c.hub.Agents.FreeBrowser(c.by, i.Browser.Peer); err != nil {
				return nil, err
			}
		}
	}
	if err := c.instances.Stop(c.args.InstanceID); err != nil {
		return nil, err
	}
	return map[string]any{"success": true, "message": "Browser closed"}, nil
}

func listProfiles(c *call) (any, error) {
	profiles, err := c.instances.Profiles()
	if err != nil {
		return nil, err
	}
	return map[string]any{"profiles": append([]instance.Profile{}, profiles...)}, nil
}
