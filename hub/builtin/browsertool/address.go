package browsertool

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub/state"
	"tabhub/spec"
)

// browser is a browser that is connected, or the page of a single tab.
type browser struct {
	state.BrowserInfo
	// short is what a model calls it. It is made from the browser's identity, so it
	// stays the same over restarts.
	short string
}

func (b browser) can(c spec.Capability) bool { return slices.Contains(b.Capabilities, c) }

// is reports whether a client calls the browser id.
func (b browser) is(id string) bool { return b.short == id || b.Label == id }

// label names a browser in a message.
func (b browser) label() string {
	if name := cmp.Or(b.Label, b.Name); name != "" {
		return b.short + " (" + name + ")"
	}
	return b.short
}

// browsers returns what is connected.
func (c *call) browsers() []browser {
	var out []browser
	for _, info := range c.hub.Browsers(c.by) {
		if info.Connected {
			out = append(out, browser{info, info.Peer.Short()})
		}
	}
	return out
}

func labels(list []browser) string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.label()
	}
	return strings.Join(names, ", ")
}

// named returns the browser that is called id.
func (c *call) named(id string) (browser, error) {
	all := c.browsers()
	var found []browser
	for _, b := range all {
		if b.is(id) {
			found = append(found, b)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return browser{}, failure(spec.FailToolError, "two browsers are called %s; close one of them", id)
	}
	if len(all) == 0 {
		return browser{}, c.noBrowser()
	}
	return browser{}, failure(spec.FailNotConnected, "no browser %.64q is connected; connected are %s", id, labels(all))
}

// noBrowser says what to do.
func (c *call) noBrowser() error {
	if words := c.hub.Lists.BoundWords(c.by); words != "" {
		return failure(spec.FailNotConnected, "no browser is connected that there is for you%s", words)
	}
	return failure(spec.FailNotConnected, "no browser is connected: the user must open one with the companion extension, or browser_instance new starts one where it is offered")
}

// choose returns the browser that is meant: the named one, else the one in focus, else
// the only one of those that can do something.
func (c *call) choose(id string, can spec.Capability) (browser, error) {
	if id != "" {
		return c.named(id)
	}
	all := c.browsers()
	able := slices.DeleteFunc(slices.Clone(all), func(b browser) bool { return b.Single || !b.can(can) })
	if i := slices.IndexFunc(able, func(b browser) bool { return b.Focused }); i >= 0 {
		return able[i], nil
	}
	switch {
	case len(able) == 1:
		return able[0], nil
	case len(able) > 1:
		return browser{}, invalid("several browsers are connected and none has the focus; pass browserId, one of %s", labels(able))
	case len(all) == 0:
		return browser{}, c.noBrowser()
	}
	return browser{}, failure(spec.FailNotConnected, "no connected browser offers %s; the companion extension does (connected are %s)", can, labels(all))
}

// tab returns the tab that the arguments name.
func (c *call) tab() (browser, spec.TabAddr, error) {
	fail := func(err error) (browser, spec.TabAddr, error) { return browser{}, spec.TabAddr{}, err }
	id, number, ok := strings.Cut(c.args.TabID, ":")
	if !ok {
		id, number = c.args.BrowserID, c.args.TabID
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || number[0] == '+' {
		return fail(invalid("tabId %.64q is none; browser_tab list shows the tabs' ids, such as \"1a2b3c4d:7\"", c.args.TabID))
	}
	if c.args.BrowserID != "" && id != c.args.BrowserID {
		return fail(invalid("tabId %q is not of browser %q; leave browserId out", c.args.TabID, c.args.BrowserID))
	}
	if id == "" {
		return c.bareTab(n)
	}
	b, err := c.named(id)
	if err != nil {
		return fail(err)
	}
	return b, spec.TabAddr{Peer: b.Peer, Tab: n}, nil
}

// bareTab returns tab n of the only browser.
func (c *call) bareTab(n int64) (browser, spec.TabAddr, error) {
	all := slices.DeleteFunc(c.browsers(), func(b browser) bool { return b.Single })
	switch len(all) {
	case 0:
		return browser{}, spec.TabAddr{}, c.noBrowser()
	case 1:
		return all[0], spec.TabAddr{Peer: all[0].Peer, Tab: n}, nil
	}
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = spec.TabAddr{Peer: b.Peer, Tab: n}.Public()
	}
	return browser{}, spec.TabAddr{}, invalid("tabId \"%d\" is ambiguous, since several browsers are connected; pass one of %s", n, strings.Join(ids, ", "))
}

// meant is tab, or if none is named, the one that the client has called or chosen last, or if
// there is none, the one in front.
func (c *call) meant() (browser, spec.TabAddr, error) {
	if c.args.TabID != "" {
		return c.tab()
	}
	if own, ok := c.hub.Agents.Preferred(c.by); ok {
		all := c.browsers()
		i := slices.IndexFunc(all, func(b browser) bool { return b.Peer == own.Peer })
		if i >= 0 && (c.args.BrowserID == "" || all[i].is(c.args.BrowserID)) {
			return all[i], own, nil
		}
	}
	return c.inFront()
}

// inFront returns the tab in front of the browser that is meant.
func (c *call) inFront() (browser, spec.TabAddr, error) {
	b, err := c.choose(c.args.BrowserID, spec.CapListTabs)
	if err != nil || b.Single {
		return b, spec.TabAddr{Peer: b.Peer}, err
	}
	tabs, err := c.tabsOf(b)
	if err != nil {
		return b, spec.TabAddr{}, err
	}
	front := slices.DeleteFunc(slices.Clone(tabs), func(t tab) bool { return !t.Active })
	if i := slices.IndexFunc(front, func(t tab) bool { return t.Focused }); i >= 0 && len(front) > 1 {
		front = front[i : i+1]
	}
	switch len(front) {
	case 0:
		return b, spec.TabAddr{}, failure(spec.FailTabNotFound, "browser %s has no tab in front; browser_tab new opens one", b.label())
	case 1:
		return b, front[0].addr, nil
	}
	ids := make([]string, len(front))
	for i, t := range front {
		ids[i] = fmt.Sprintf("%s (%.60q)", t.TabID, t.Title)
	}
	return b, spec.TabAddr{}, invalid("browser %s has several windows; pass tabId, one of %s", b.label(), strings.Join(ids, ", "))
}

// control sends a control request to a browser or tab and decodes the answer into
// into, unless that is nil.
func (c *call) control(to spec.TabAddr, req spec.Request, into any) error {
	resp, err := c.hub.Calls.Control(c.ctx, c.by, to, req)
	if err != nil || into == nil {
		return err
	}
	return decode(resp, into)
}

// decode decodes what a browser has answered.
func decode(resp spec.Response, into any) error {
	if err := spec.Decode(resp.Result, into); err != nil {
		return failure(spec.FailToolError, "the browser's answer makes no sense: %s", err.Message)
	}
	return nil
}
