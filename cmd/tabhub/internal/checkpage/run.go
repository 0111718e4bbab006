package checkpage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
)

// checkRun is a page with a separate browser and hub. Its Close ends all three.
type checkRun struct {
	*CheckOptions
	dir  string // of the hub and of the browser's profile; temporary
	hub  *daemon.Process
	of   *hub.Hub
	page *checkedPage
	busy string // why more tools may still come; "": the page is idle
}

// startCheck starts the hub and the browser. The caller calls close.
func startCheck(ctx context.Context, a *command.App, o *CheckOptions) (c *checkRun, err error) {
	c = &checkRun{CheckOptions: o}
	defer func() {
		if err != nil {
			c.Close()
			c = nil
		}
	}()
	if c.dir, err = os.MkdirTemp("", "tabhub-check-"); err != nil {
		return c, err
	}
	// The settings of the machine's hub do not apply.
	config := settings.New()
	config.Listen, config.Policy, config.Browser = []string{"127.0.0.1:0"}, string(policy.ModeOpen), o.Browser
	config.AllowOrigins = []string{"*"} // only the checked page connects
	name, _, _ := net.SplitHostPort(o.Hub)
	config.AllowHosts = []string{name}
	config.CallTimeout, config.CallTimeoutMax, config.PersonTimeout = o.Timeout, o.Timeout, o.Timeout
	if c.hub, err = daemon.Start(ctx, daemon.Options{App: a.Alone(), Config: config, Dir: home.Dir(c.dir), Log: slog.New(slog.DiscardHandler)}); err != nil {
		return c, err
	}
	t, err := c.hub.Tenants.Get(ctx, spec.LocalUser)
	if err != nil {
		return c, err
	}
	c.of = t.Hub
	info, err := t.Instances.Start(ctx, instance.Config{Headless: new(!o.window), DevTools: true, Hosts: hostRules(o.Hub, c.hub.Info.Addrs[0])})
	if err != nil {
		if f, ok := errors.AsType[*core.Failure](err); ok {
			err = errors.New(f.Message)
		}
		return c, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, joinWait, fmt.Errorf("the browser was started, but its extension did not join the hub within %s", joinWait))
	defer cancel()
	if c.page, err = openCheckedPage(limited, info); err != nil {
		return c, err
	}
	_, err = c.of.AwaitPeer(limited, func(state.BrowserInfo) bool { return true })
	return c, err
}

// joinWait is how long a running browser may take to load the extension and to connect.
const joinWait = 30 * time.Second

// hostRules are the browser's rules that map a hub's address to the check's hub, by each name of
// this machine.
func hostRules(of, to string) string {
	host, port, _ := net.SplitHostPort(of)
	names := []string{host}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		names = []string{"127.0.0.1", "localhost", "[::1]"}
	}
	var rules []string
	for _, name := range names {
		rules = append(rules, fmt.Sprintf("MAP %s:%s %s", name, port, to))
	}
	return strings.Join(rules, ", ")
}

// Close ends the browser and the hub, and removes their files.
func (c *checkRun) Close() {
	if c.page != nil {
		c.page.Close()
	}
	if c.hub != nil {
		_ = c.hub.Close("stop") // its files are removed
	}
	_ = os.RemoveAll(c.dir)
}

// open opens the page, and waits until it has registered what it offers.
func (c *checkRun) open(ctx context.Context) error {
	defer c.of.Lists.Watch(func(lists.Change) { c.page.touch() })()
	late := fmt.Errorf("it does not answer within %s; --timeout gives it more", c.Timeout)
	limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, late)
	defer cancel()
	if err := c.page.open(limited, c.url); err != nil {
		return err
	}
	err := c.page.settle(limited, c.quiet)
	if err == late {
		c.busy = fmt.Sprintf("after %s the page still loads, or changes what it offers", c.Timeout)
		return nil
	}
	return err
}

// settled is how long a loaded page must offer nothing new before the check looks at it.
const settled = time.Second

// quiet returns how long nothing must change: longer while the page offers nothing, as it may load
// its content first.
func (c *checkRun) quiet() time.Duration {
	if p, _ := c.look(); len(p.Items)+len(p.Rejected) > 0 {
		return settled
	}
	return max(settled, min(5*settled, c.Timeout/2))
}

// look returns what the page offers, and its title.
func (c *checkRun) look() (p *pagecheck.Page, title string) {
	at := c.page.at()
	p = &pagecheck.Page{Busy: c.busy}
	page := naming.DomainOfURL(at, true)
	var offers []func(lists.ListKind) func(*lists.Item) bool
	// A page that loads /tab.js, too, is two tabs.
	for _, t := range c.of.Tabs(nil) {
		if withoutFragment(t.URL) == withoutFragment(at) {
			title = cmp.Or(title, t.Title)
			p.Rejected, p.Warnings = append(p.Rejected, t.Rejected...), append(p.Warnings, t.Warnings...)
			offers = append(offers, func(list lists.ListKind) func(*lists.Item) bool { return c.of.Lists.OfTab(t.Addr, list) })
		}
	}
	p.Rejected, p.Warnings = once(p.Rejected), once(p.Warnings)
	for _, list := range []struct {
		of   lists.ListKind
		kind spec.Kind
	}{{lists.ListTools, spec.KindTool}, {lists.ListResources, spec.KindResource}, {lists.ListTemplates, spec.KindResource}, {lists.ListPrompts, spec.KindPrompt}} {
		items := c.of.Lists.List(list.of).Items
		for i := range items {
			it := &items[i]
			if it.Tab != 0 || !slices.ContainsFunc(offers, func(of func(lists.ListKind) func(*lists.Item) bool) bool { return of(list.of)(it) }) {
				continue
			}
			p.Items = append(p.Items, pagecheck.Item{
				Kind: list.kind, Template: list.of == lists.ListTemplates, Name: it.Source, Site: siteOf(it.Domain, page), Public: it.Name,
				Registered: it.Registered(), Definition: it.JSON, Class: it.Class,
			})
		}
	}
	slices.SortStableFunc(p.Items, func(a, b pagecheck.Item) int {
		return cmp.Or(cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(a.Name, b.Name))
	})
	return p, title
}

// siteOf returns the site of an item, "" if it is the page's.
func siteOf(of, page spec.Domain) spec.Domain {
	if of == page {
		return ""
	}
	return of
}

// once removes duplicates.
func once(all []spec.Rejection) (out []spec.Rejection) {
	for _, one := range all {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// order sorts kinds as MCP's documents do.
func order(k spec.Kind) int {
	return slices.Index([]spec.Kind{spec.KindTool, spec.KindResource, spec.KindPrompt}, k)
}

// isLocal reports whether an address is localhost or an IP address, which users will not see.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil
}

// checkCaller is the caller of the tools.
var checkCaller = &consent.Caller{Principal: policy.Owner, Said: "tabhub check"}

// Call calls a tool, or reads a resource if args is nil. The error is ctx's, or that the browser
// has ended.
func (c *checkRun) Call(ctx context.Context, it *pagecheck.Item, args json.RawMessage) (pagecheck.Call, error) {
	made := pagecheck.Call{Item: it, Arguments: args}
	before := c.page.at()
	c.page.whyFailed() // forget that of an earlier call
	start := time.Now()
	var err error
	if args == nil {
		made.Result, err = c.of.Calls.ReadResource(ctx, checkCaller, it.Public)
	} else {
		made.Result, err = c.of.Calls.Call(ctx, call.Request{Name: it.Public, Args: args, By: checkCaller})
	}
	made.Took = time.Since(start)
	made.Why = c.page.whyFailed()
	if ctx.Err() != nil {
		return made, context.Cause(ctx)
	}
	select {
	case <-c.page.browser.Done():
		return made, fmt.Errorf("the browser has ended during a call of %s", it.Name)
	default:
	}
	noteFailure(&made, err)
	made.Hung = made.Failed != "" && !c.page.runs(ctx)
	if after := c.page.at(); withoutFragment(after) != withoutFragment(before) {
		made.Navigated = after
	}
	return made, nil
}

// noteFailure says why there is no answer: err, or a failure of the hub's and not the tool's.
func noteFailure(call *pagecheck.Call, err error) {
	if f, ok := command.FailureOf(call.Result); ok && f.Code != spec.FailToolError {
		err, call.Result = f, nil
	}
	if err != nil {
		call.Failed = err.Error()
	}
}

func withoutFragment(address string) string {
	before, _, _ := strings.Cut(address, "#")
	return before
}
