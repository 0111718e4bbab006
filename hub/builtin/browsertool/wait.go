package browsertool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/spec"
)

const (
	defaultWait = 10 * time.Second
	// navigationPoll is how often a tab is asked whether it is still on its way to another page.
	navigationPoll = 250 * time.Millisecond
	// tabPoll is how often it is asked whether a tab is still there, and where.
	tabPoll = 2 * time.Second
	// progressEvery is the time between reports of progress to a waiting client.
	progressEvery = 5 * time.Second
)

// wait blocks until what the arguments say has come about.
func wait(c *call) (any, error) {
	a := &c.args
	if a.For == "" && a.Tool != "" {
		a.For = "tool"
	}
	if (a.For == "tool") != (a.Tool != "") {
		return nil, invalid("to wait for a tool, pass its name as tool, and nothing else as for")
	}
	limit := defaultWait
	if a.TimeoutMs > 0 {
		limit = time.Duration(a.TimeoutMs) * time.Millisecond
	}
	defer c.tellProgress(limit)()
	b, addr, err := c.meant()
	switch {
	case err != nil:
		return nil, err
	case a.For == "rest":
		return waitForRest(c, b, addr, limit)
	}
	return waitForTools(c, b, addr, limit)
}

// tellProgress tells the client now and then that it waits, until stop is called.
func (c *call) tellProgress(limit time.Duration) (stop func()) {
	if c.by.Progress == nil || limit < progressEvery {
		return func() {}
	}
	began, over, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		every := time.NewTicker(progressEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				c.by.Progress(spec.Progress{Progress: time.Since(began).Round(time.Second).Seconds(), Total: new(limit.Seconds()), Message: "waiting"})
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// waitForTools blocks until the page that a tab shows, or is on its way to, has registered
// tools, or the one that the client wants.
func waitForTools(c *call, b browser, addr spec.TabAddr, limit time.Duration) (any, error) {
	late := failure(spec.FailToolTimeout, "the page in tab %s registered no tools within %s; it may have none", addr.Public(), limit)
	if c.args.Tool != "" {
		late = failure(spec.FailToolTimeout, "no tool %.100q can be called in tab %s after %s; browser_page wait without tool names those that can", c.args.Tool, addr.Public(), limit)
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, limit, late)
	defer cancel()
	for {
		if err := c.awaitBrowser(ctx, b); err != nil {
			return nil, err
		}
		at, err := c.page(b, addr)
		if err != nil && !c.isConnected(b) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if tool, ready := c.offered(addr, at.URL); ready && !at.navigating {
			url := at.URL
			// Read again: its tools may have come after the page was read.
			if at, err = c.page(b, addr); err == nil && at.URL == url && !at.navigating {
				at.Tool = tool
				return at, nil
			}
			continue
		}
		if err := c.awaitTools(ctx, b, addr, at); err != nil {
			if at, failed := c.page(b, addr); errors.Is(err, late) && failed == nil {
				err = at.because(late)
			}
			return nil, err
		}
	}
}

// awaitTools blocks until a tab may show a page with what is waited for, or may be elsewhere:
// no event says that a navigation has ended without another page, or that a tab without tools has.
func (c *call) awaitTools(ctx context.Context, b browser, addr spec.TabAddr, at page) error {
	poll := tabPoll
	if at.navigating {
		poll = navigationPoll
	}
	again, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	err := c.hub.Core.Await(again, func() bool {
		_, ready := c.offered(addr, at.URL)
		return ready && !at.navigating || !c.isConnected(b)
	})
	if again.Err() != nil {
		return context.Cause(ctx) // nil: look again
	}
	return err
}

// offered reports whether a tab has the tools that are waited for, or a page at its address
// that has joined the hub by itself. If that is one, it returns its public name.
func (c *call) offered(addr spec.TabAddr, url string) (tool string, ready bool) {
	for _, t := range c.hub.Tabs(c.by) {
		switch {
		case t.Addr != addr && !(byItself(t) && document(t.URL) == document(url)), toolsOf(t) == 0:
		case c.args.Tool == "":
			return "", true
		default:
			if tool = c.hub.Lists.ToolIn(c.by, t.Addr, c.args.Tool); tool != "" {
				return tool, true
			}
		}
	}
	return "", false
}

// waitForRest blocks until the page that a tab shows, or goes to meanwhile, rests.
func waitForRest(c *call, b browser, addr spec.TabAddr, limit time.Duration) (any, error) {
	ctx, cancel := context.WithTimeoutCause(c.ctx, limit+spec.ControlTimeout, failure(spec.FailToolTimeout,
		"browser %s was away until %s were over", b.label(), limit))
	defer cancel()
	end := time.Now().Add(limit)
	for {
		if err := c.awaitBrowser(ctx, b); err != nil {
			return nil, err
		}
		var got spec.RestResult
		left := max(time.Until(end), 0)
		err := c.control(addr, &spec.Rest{WaitMs: left.Milliseconds() + 1}, &got)
		switch {
		case err != nil && !c.isConnected(b) && c.ctx.Err() == nil: // it may be looked at twice
			continue
		case err != nil:
			return nil, err
		case !got.Rested:
			late := failure(spec.FailToolTimeout, "the page in tab %s did not come to rest within %s: %s. It can be used as it is", addr.Public(), limit, whatWentOn(&got))
			if at, err := c.page(b, addr); err == nil {
				late = at.because(late)
			}
			return nil, late
		}
		return c.page(b, addr)
	}
}

// because adds to why a wait has failed the dialog that blocks the page.
func (p *page) because(late error) error {
	f, ok := errors.AsType[*core.Failure](late)
	if !ok || p.Dialog == nil {
		return late
	}
	return failure(spec.FailDialogOpen, "%s; %s", f.Message, core.DialogWords(p.addr, p.Dialog))
}

// isConnected reports whether a browser is there, and not away for a while.
func (c *call) isConnected(b browser) bool {
	return slices.ContainsFunc(c.hub.Browsers(c.by), func(other state.BrowserInfo) bool { return other.Peer == b.Peer && other.Connected })
}

// awaitBrowser blocks until a browser that may be away is connected.
func (c *call) awaitBrowser(ctx context.Context, b browser) error {
	gone := false
	err := c.hub.Core.Await(ctx, func() bool {
		gone = !slices.ContainsFunc(c.hub.Browsers(c.by), func(other state.BrowserInfo) bool { return other.Peer == b.Peer })
		return gone || c.isConnected(b)
	})
	if gone && err == nil {
		return failure(spec.FailNotConnected, "browser %s went away", b.label())
	}
	return err
}

// whatWentOn says why a page did not rest.
func whatWentOn(got *spec.RestResult) string {
	var why []string
	if got.Busy {
		why = append(why, "it was too busy to answer")
	} else if got.Loading {
		why = append(why, "it had not loaded")
	}
	if got.Changes > 0 {
		why = append(why, fmt.Sprintf("its document changed %d times", got.Changes))
	}
	if why == nil {
		return "something has happened all the time"
	}
	return strings.Join(why, ", ")
}
