package browsertool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/describe"
	"tabhub/hub/agents"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/naming"
	"tabhub/spec"
)

var opens = action{needs: []string{"url"}, takes: []string{"browserId", "active"}, run: newTab}

var tabActions = actions{
	"list":         {takes: []string{"browserId"}, run: listTabs},
	"new":          opens,
	"open":         opens,
	"activate":     {needs: []string{"tabId"}, takes: []string{"browserId"}, run: activateTab},
	"close":        {needs: []string{"tabId"}, takes: []string{"browserId"}, run: closeTab},
	"close_others": {needs: []string{"tabId"}, takes: []string{"browserId"}, run: closeOtherTabs},
	"claim":        {takes: []string{"tabId", "url", "browserId", "active", "name", "minutes", "reads"}, run: claimTab},
	"release":      {takes: []string{"tabId", "browserId"}, class: releaseClass, run: releaseTab},
	"use":          {needs: []string{"tabId"}, takes: []string{"browserId"}, run: useTab},
}

// browserEntry is a browser as list shows it.
type browserEntry struct {
	BrowserID string            `json:"browserId"`
	Browser   string            `json:"browser"`
	Name      string            `json:"name,omitempty"` // that its owner has given it
	Instance  string            `json:"instanceId,omitempty"`
	Focused   bool              `json:"focused"`
	Page      bool              `json:"singlePage,omitempty"` // a page that has joined by itself
	Can       []spec.Capability `json:"can"`
	Error     string            `json:"error,omitempty"` // why its tabs are not listed
}

// tab is a tab as list shows it.
type tab struct {
	TabID     string       `json:"tabId"`
	BrowserID string       `json:"browserId"`
	Browser   string       `json:"browser"`
	WindowID  int64        `json:"windowId"`
	Index     int          `json:"index"`
	URL       string       `json:"url"`
	Title     string       `json:"title"`
	Domain    spec.Domain  `json:"domain,omitempty"`
	Active    bool         `json:"active"`            // in front of its window
	Focused   bool         `json:"focused"`           // what calls by domain go to first
	Asleep    bool         `json:"asleep,omitempty"`  // its page is not loaded; a call loads it
	Waiting   bool         `json:"waiting,omitempty"` // a call waits for the person in front of it, or until the owner no longer uses it
	Dialog    *spec.Dialog `json:"dialog,omitempty"`  // that blocks its page
	HeldBy    string       `json:"heldBy,omitempty"`  // whose calls alone may go there
	Until     string       `json:"until,omitempty"`   // when that ends
	Mine      bool         `json:"mine,omitempty"`    // the calling client leases it
	Agent     string       `json:"agent,omitempty"`   // the client that has opened it
	Tools     int          `json:"tools"`
	Attested  bool         `json:"attested"` // the browser vouches for its address

	addr       spec.TabAddr
	navigating bool // on its way to another page
	// sources is where its tools are: the tab as the hub knows it and, in a browser,
	// the pages at its address that have joined the hub by themselves.
	sources []state.TabInfo
}

// listTabs lists the tabs of all browsers, which are asked side by side: one that
// does not answer costs only its own tabs.
func listTabs(c *call) (any, error) {
	all := c.browsers()
	if c.args.BrowserID != "" {
		b, err := c.named(c.args.BrowserID)
		if err != nil {
			return nil, err
		}
		all = []browser{b}
	}
	instances := c.instanceIDs()
	browsers := make([]browserEntry, len(all))
	tabs := make([][]tab, len(all))
	var wg sync.WaitGroup
	for i, b := range all {
		browsers[i] = browserEntry{
			BrowserID: b.short, Browser: b.Name, Name: b.Label, Instance: instances[b.Peer], Focused: b.Focused, Page: b.Single,
			Can: append([]spec.Capability{}, b.Capabilities...),
		}
		wg.Go(func() {
			var err error
			if tabs[i], err = c.tabsOf(b); err != nil {
				browsers[i].Error = failureOf(err).Message
			}
		})
	}
	wg.Wait()
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	return struct {
		Browsers []browserEntry `json:"browsers"`
		Tabs     []tab          `json:"tabs"`
	}{browsers, append([]tab{}, slices.Concat(tabs...)...)}, nil
}

// tabsOf returns a browser's tabs: all of them where the browser lists them, else
// those that the hub knows.
func (c *call) tabsOf(b browser) ([]tab, error) {
	var tabs []tab
	if b.Single || !b.can(spec.CapListTabs) {
		for _, info := range c.hub.Tabs(c.by) {
			if info.Addr.Peer == b.Peer {
				t := spec.BrowserTab{TabID: info.Addr.Tab, URL: info.URL, Title: info.Title, Active: info.Active}
				tabs = append(tabs, c.entry(b, t, []state.TabInfo{info}))
			}
		}
		return tabs, nil
	}
	var listed spec.ListTabsResult
	if err := c.control(spec.TabAddr{Peer: b.Peer}, &spec.ListTabs{}, &listed); err != nil {
		return nil, err
	}
	known := map[spec.TabAddr]state.TabInfo{}
	joined := map[string][]state.TabInfo{} // pages by themselves, by address
	for _, info := range c.hub.Tabs(c.by) {
		switch {
		case info.Addr.Peer == b.Peer:
			known[info.Addr] = info
		case byItself(info):
			joined[document(info.URL)] = append(joined[document(info.URL)], info)
		}
	}
	for _, t := range listed.Tabs {
		sources := joined[document(t.URL)]
		if info, ok := known[spec.TabAddr{Peer: b.Peer, Tab: t.TabID}]; ok {
			sources = append([]state.TabInfo{info}, sources...)
		}
		tabs = append(tabs, c.entry(b, t, sources))
	}
	slices.SortStableFunc(tabs, func(x, y tab) int {
		return cmp.Or(cmp.Compare(x.WindowID, y.WindowID), cmp.Compare(x.Index, y.Index))
	})
	return tabs, nil
}

// toolsOf returns how many tools the page has that a tab shows, without those of the page before
// it that it may have, too.
func toolsOf(t state.TabInfo) (n int) {
	for _, d := range t.Domains {
		n += d.Tools - d.Departed
	}
	return n
}

// byItself reports whether a tab is a page that has joined the hub without its
// browser, and is where it says.
func byItself(t state.TabInfo) bool { return t.Browser == "" && t.Connected && t.Attested }

// document returns the address of a page without what names a place in it.
func document(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}

// entry describes a tab by what its browser says of it and by its tools. Of one whose site
// the client is not to know of it says no more than that it is there.
func (c *call) entry(b browser, t spec.BrowserTab, sources []state.TabInfo) tab {
	addr := spec.TabAddr{Peer: b.Peer, Tab: t.TabID}
	entry := tab{
		TabID: addr.Public(), BrowserID: b.short, Browser: b.Name, WindowID: t.WindowID, Index: t.Index,
		URL: describe.Clean(t.URL, spec.MaxURI), Title: describe.Clean(t.Title, spec.MaxTitle),
		Active: t.Active, Asleep: t.Discarded, Attested: b.Attested, addr: addr, navigating: t.Navigating, sources: sources,
	}
	if s := c.hub.Agents.Standing(c.by, addr); s != (agents.Seen{}) {
		entry.Agent, entry.Mine = s.OpenedBy, s.Mine
		if s.HeldBy != nil {
			entry.HeldBy, entry.Until = s.HeldBy.Name, s.HeldBy.Until.UTC().Format(time.RFC3339)
		}
	}
	for _, o := range sources {
		entry.Tools += toolsOf(o)
		if o.Addr == addr {
			entry.Focused, entry.Attested, entry.Waiting = o.Focused, o.Attested, o.Waiting
		}
		entry.Dialog = cmp.Or(entry.Dialog, o.Dialog)
	}
	// A page there that has joined by itself proves the domain.
	entry.Domain = naming.DomainOfURL(t.URL, entry.Attested || slices.ContainsFunc(sources, byItself))
	if !c.hub.Calls.ListsTab(c.by, entry.Domain) {
		entry.URL, entry.Title, entry.Domain, entry.Tools, entry.Dialog, entry.sources = "", "", "", 0, nil, nil
		if !entry.Mine { // a name may say what is done there
			entry.Agent = ""
			if entry.HeldBy != "" {
				entry.HeldBy = "another client"
			}
		}
	}
	return entry
}

func newTab(c *call) (any, error) {
	addr, err := c.open()
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"success": true, "tabId": addr.Public(), "browserId": addr.Peer.Short(), "url": c.args.URL,
	}, nil
}

func activateTab(c *call) (any, error) {
	_, addr, err := c.tab()
	if err == nil {
		err = c.control(addr, &spec.ActivateTab{}, nil)
	}
	return map[string]any{"success": true, "tabId": addr.Public()}, err
}

func closeTab(c *call) (any, error) {
	_, addr, err := c.tab()
	if err == nil {
		err = c.control(addr, &spec.CloseTab{}, nil)
	}
	return map[string]any{"success": true, "tabId": addr.Public(), "message": "Tab closed"}, err
}

func closeOtherTabs(c *call) (any, error) {
	b, addr, err := c.tab()
	if err != nil {
		return nil, err
	}
	if !b.can(spec.CapListTabs) {
		return nil, failure(spec.FailToolError, "browser %s does not list its tabs, so the others cannot be closed", b.label())
	}
	tabs, err := c.tabsOf(b)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(tabs, func(t tab) bool { return t.addr == addr }) {
		return nil, failure(spec.FailTabNotFound, "tab %s is not open, so none was closed; browser_tab list shows the tabs", addr.Public())
	}
	closed, held, err := c.closeTabs(slices.DeleteFunc(tabs, func(t tab) bool { return t.addr == addr }))
	message := fmt.Sprintf("%d tabs closed", closed)
	if held > 0 {
		message += fmt.Sprintf("; %d left open, which other clients lease", held)
	}
	return map[string]any{"success": true, "kept": addr.Public(), "closed": closed, "message": message}, err
}

// closeTabs closes tabs and returns how many, and how many it has left to other clients that
// hold them. One that is gone by itself is fine.
func (c *call) closeTabs(tabs []tab) (closed, held int, err error) {
	for _, t := range tabs {
		err := c.control(t.addr, &spec.CloseTab{}, nil)
		if remote, ok := errors.AsType[*spec.Error](err); ok && remote.Code == spec.CodeTabNotFound {
			continue
		}
		if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == spec.FailTabLeased {
			held++
			continue
		}
		if err != nil {
			f := failureOf(err)
			return closed, held, failure(f.Code, "%d tabs were closed, then closing %s failed: %s", closed, t.TabID, f.Message)
		}
		closed++
	}
	return closed, held, nil
}
