package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
	"tabhub/hub/instance"
	"tabhub/hub/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// checkOptions are what `tabhub check` is told.
type checkOptions struct {
	url      string
	browser  string
	window   bool
	attach   bool
	hub      string
	timeout  time.Duration
	wait     time.Duration
	noCall   bool
	call     []string
	calls    map[string]json.RawMessage // by the page's own name
	baseline string
	update   bool
	strict   bool
	ignore   []string
}

func (a *app) checkCommand() *cobra.Command {
	o := new(checkOptions)
	cmd := &cobra.Command{
		Use:   "check URL",
		Short: "Check what a page offers, as a model and clients will see it",
		Long: `Check what a page offers, as a model and clients will see it: for page authors, and
their CI.

It opens the page in a browser of its own, with an empty profile and a hub of its own;
lists what the page offers; calls the tools that only read (readOnlyHint), with arguments
made from their schemas; and says what does not work, what a model will stumble over, and
what looks like text that is to steer the model.

The exit code is 0 if nothing is worse than a warning, 1 if there is an error, and 2 if the
page cannot be opened.`,
		Example: `  tabhub check http://localhost:5173/
  tabhub check https://shop.example.com/ --call 'search={"query":"tea"}'
  tabhub check http://localhost:5173/ --baseline tools.json --strict`,
		Args: args(cobra.ExactArgs(1)),
	}
	f := cmd.Flags()
	f.SortFlags = false
	asJSON := jsonFlag(cmd)
	f.BoolVar(&o.strict, "strict", false, "let warnings fail the check, too")
	f.StringSliceVar(&o.ignore, "ignore", nil, "do not report findings of these codes: `CODE[:ITEM]`, such as injection:search; may be repeated")
	f.StringVar(&o.baseline, "baseline", "", "`file` with what the page offered before; a difference is an error")
	f.BoolVar(&o.update, "update", false, "write the file of --baseline anew, with what the page offers now")
	f.BoolVar(&o.noCall, "no-call", false, "call no tool and read no resource by itself")
	f.StringArrayVar(&o.call, "call", nil, "call a tool with these arguments, also if it changes something: `NAME=JSON`; may be repeated")
	f.StringVar(&o.browser, "browser-program", "", "program `file` of the Chromium or Chrome to start (default: the first that is found)")
	f.BoolVar(&o.attach, "attach", false, "check the page where a tab of the hub that runs has it open, with your login")
	f.BoolVar(&o.window, "window", false, "show the browser's window")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long the page may take to load, and each call to end")
	f.DurationVar(&o.wait, "wait", time.Second, "how long the page must offer nothing new, once it has loaded, before it is looked at")
	f.StringVar(&o.hub, "hub", defaultListen, "`address` of the hub whose /tab.js the page loads, if it does; the check's own hub takes its place")
	groupFlags(f, "What fails the check", "strict", "ignore", "baseline", "update")
	groupFlags(f, "What is called", "no-call", "call")
	groupFlags(f, "The browser", "browser-program", "window", "attach", "timeout", "wait", "hub")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if err := o.read(pos[0]); err != nil {
			return err
		}
		r, err := a.check(cmd.Context(), o)
		if err != nil {
			return err
		}
		if *asJSON {
			err = a.printValue(r)
		} else {
			err = a.printCheck(r)
		}
		return cmp.Or(err, r.verdict(o.strict))
	}
	return cmd
}

// hostPort is an address that rules for a browser can name.
var hostPort = regexp.MustCompile(`^[A-Za-z0-9.-]+:[0-9]+$`)

// read checks what was said, before anything is started.
func (o *checkOptions) read(address string) (err error) {
	if o.url, err = pageURL(address); err != nil {
		return err
	}
	o.calls = make(map[string]json.RawMessage)
	for _, one := range o.call {
		name, arguments, ok := strings.Cut(one, "=")
		if !ok || name == "" || rawjson.Object([]byte(arguments), spec.MaxDepth, func(string, json.RawMessage) error { return nil }) != nil {
			return usagef("--call %q is not NAME=JSON, such as 'search={\"query\":\"tea\"}'", one)
		}
		o.calls[name] = json.RawMessage(arguments)
	}
	for _, one := range o.ignore {
		code, _, _ := strings.Cut(one, ":")
		if !slices.Contains(pagecheck.Codes, pagecheck.Code(code)) {
			return usagef("--ignore %q names no code of a finding; the report has them, and so has spec/docs/CHECK.md", one)
		}
	}
	switch {
	case o.update && o.baseline == "":
		return usagef("--update writes the file of --baseline; name one")
	case !hostPort.MatchString(o.hub):
		return usagef("--hub %q is not an address; write it as %s", o.hub, defaultListen)
	case o.attach && (o.browser != "" || o.window):
		return usagef("--attach checks a tab that is open; --browser-program and --window are for a browser that is started")
	case o.timeout <= 0:
		return usagef("--timeout is %s; it must be above 0", o.timeout)
	case o.wait < 0 || o.wait >= o.timeout:
		return usagef("--wait is %s; it must be below --timeout (%s)", o.wait, o.timeout)
	}
	if o.baseline != "" {
		if _, err := o.readBaseline(); err != nil && (!o.update || errors.Is(err, pagecheck.ErrNoBaseline)) {
			return err
		}
	}
	if err := instance.Available(o.browser); err != nil && !o.attach {
		if o.browser == "" {
			err = errors.New("no Chromium or Chrome is installed where it is looked for (PATH and the usual places); install one, or name it with --browser-program FILE")
		}
		return &usageError{err}
	}
	return nil
}

// readBaseline reads the file of --baseline.
func (o *checkOptions) readBaseline() (*pagecheck.Baseline, error) {
	file, err := os.ReadFile(o.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no baseline %s yet; --update writes it", o.baseline)
	}
	if err != nil {
		return nil, usagef("the baseline cannot be read: %w", err)
	}
	b, err := pagecheck.ReadBaseline(file)
	if errors.Is(err, pagecheck.ErrNoBaseline) {
		return nil, usagef("%s: %w; it is left as it is: remove it, or name another file", o.baseline, err)
	}
	if err != nil {
		return nil, usagef("%s: %w; --update writes it anew", o.baseline, err)
	}
	return b, nil
}

// pageURL reads the address of a page; the scheme may be left out.
func pageURL(address string) (string, error) {
	if !strings.Contains(address, "://") {
		scheme := "https://"
		if isLocal("http://" + address) {
			scheme = "http://"
		}
		if file, err := os.Stat(address); err == nil && file.Mode().IsRegular() {
			return "", usagef("%s is a file; serve it over http, as with `python3 -m http.server`, and check that address", address)
		}
		address = scheme + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", usagef("%.100q is no address of a page, such as http://localhost:5173/", address)
	case u.Scheme == "file":
		return "", usagef("extensions do not see pages from files; serve it over http, as with `python3 -m http.server`, and check that address")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", usagef("%.100q is no address of a page, such as http://localhost:5173/", address)
	}
	return u.String(), nil
}

// withoutPassword is an address as it may stand in a log.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// check opens the page, and returns what is to be said of it.
func (a *app) check(ctx context.Context, o *checkOptions) (*checkReport, error) {
	status := a.status()
	defer status.Clear()
	tab, err := a.openChecked(ctx, o, status)
	if tab != nil {
		defer tab.close()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &usageError{err}
	}
	p, title, err := tab.look(ctx)
	if err != nil {
		return nil, err
	}
	for name := range o.calls {
		if !slices.ContainsFunc(p.Items, func(it pagecheck.Item) bool { return it.Kind == spec.KindTool && it.Name == name }) {
			return nil, usagef("--call names %q, which the page does not offer; it offers %s", name, cmp.Or(toolNames(p), "no tool"))
		}
	}
	status.Show("calling what only reads")
	calls, found, err := o.callAll(ctx, tab, p)
	if err != nil {
		return nil, err
	}
	messages, refused := tab.said() // calls have added to them
	p.Errors, p.Rejected = messages, append(refused, p.Rejected...)
	r := &checkReport{Version: checkVersion, URL: withoutPassword(o.url), Opened: tab.at(), Title: title, Budget: p.Budget, Findings: append(pagecheck.Examine(p), found...)}
	if err := o.compare(p, r); err != nil {
		return nil, err
	}
	r.Ignored = len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f pagecheck.Finding) bool {
		return slices.Contains(o.ignore, string(f.Code)) || slices.Contains(o.ignore, string(f.Code)+":"+f.Item)
	})
	r.Ignored -= len(r.Findings)
	pagecheck.Sort(r.Findings)
	r.count(p, calls)
	return r, nil
}

// checkedTab is an open page. The errors of its methods are those of ctx, or that the page
// cannot be reached any more.
type checkedTab interface {
	// open opens the page again.
	open(ctx context.Context) error
	at() string
	// look returns what the page offers, and its title.
	look(ctx context.Context) (p *pagecheck.Page, title string, err error)
	// call calls a tool, or reads a resource if args is nil.
	call(ctx context.Context, it *pagecheck.Item, args json.RawMessage) (pagecheck.Call, error)
	// said returns what scripts have said, and which tools the browser has refused.
	said() ([]pagecheck.ScriptMessage, []spec.Rejection)
	close()
}

// openChecked opens the page, or finds the tab that has it open. The caller closes the tab,
// unless it is nil.
func (a *app) openChecked(ctx context.Context, o *checkOptions, status *terminal.Status) (checkedTab, error) {
	if o.attach {
		return a.attach(ctx, o)
	}
	status.Show("starting a browser")
	c, err := a.startCheck(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("no page can be opened: %w", err)
	}
	status.Show("opening " + oneLine(withoutPassword(o.url)))
	if err := c.open(ctx); err != nil {
		return c, fmt.Errorf("%s cannot be opened: %w", withoutPassword(o.url), err)
	}
	return c, nil
}

// maxCalling is how many times --timeout all calls together may take.
const maxCalling = 10

// callAll calls the tools that only read, and those that are to be called with given
// arguments, and reads the resources.
func (o *checkOptions) callAll(ctx context.Context, tab checkedTab, p *pagecheck.Page) (calls []pagecheck.Call, found []pagecheck.Finding, err error) {
	add := func(all ...pagecheck.Finding) {
		for _, f := range all {
			if !slices.Contains(found, f) { // other arguments may find the same
				found = append(found, f)
			}
		}
	}
	start, stopped, left := time.Now(), "", 0
	for i := range p.Items {
		it := &p.Items[i]
		samples, given, why := o.samples(it)
		if why != nil {
			add(*why)
		}
		for _, args := range samples {
			if stopped == "" && time.Since(start) > maxCalling*o.timeout {
				stopped = fmt.Sprintf("calls have taken more than %s", maxCalling*o.timeout)
			}
			if stopped != "" {
				left++
				continue
			}
			call, err := tab.call(ctx, it, args)
			if err != nil {
				return nil, nil, err
			}
			call.Given = given
			calls = append(calls, call)
			add(pagecheck.Judge(&call, p.Tokens)...)
			switch {
			case call.Hung:
				stopped = "the page runs no script any more since the call of " + it.Label()
			case call.Navigated != "":
				if err := tab.open(ctx); err != nil { // the others are of the page that was left
					return nil, nil, err
				}
			}
		}
	}
	if left > 0 {
		add(pagecheck.Finding{Severity: pagecheck.Warning, Code: pagecheck.NotCalled, Text: fmt.Sprintf("%s left out: %s", plural(left, "call"), stopped), Hint: "see what is slow, or raise --timeout"})
	}
	return calls, found, nil
}

// samples returns the arguments to call an item with: nil as the only ones of a resource.
// given says that they are the author's. why says what cannot be made.
func (o *checkOptions) samples(it *pagecheck.Item) (all []json.RawMessage, given bool, why *pagecheck.Finding) {
	args, given := o.calls[it.Name]
	switch {
	case it.Kind == spec.KindTool && given:
		return []json.RawMessage{args}, true, nil
	case o.noCall || it.Template || it.Kind == spec.KindPrompt || it.Class != policy.Read || it.Doubtful():
		return nil, false, nil
	case it.Kind == spec.KindResource:
		return []json.RawMessage{nil}, false, nil
	}
	all, why = it.Samples()
	return all, false, why
}

// compare compares what the page offers with the baseline, or writes that.
func (o *checkOptions) compare(p *pagecheck.Page, r *checkReport) error {
	now := pagecheck.BaselineOf(p)
	switch {
	case o.baseline == "":
		return nil
	case !o.update:
		b, err := o.readBaseline()
		if err != nil {
			return err
		}
		r.Findings = append(r.Findings, b.Changes(now)...)
		return nil
	}
	file, err := now.Encode()
	if err != nil {
		return err
	}
	file = describe.VisibleJSON(file) // it is read in reviews
	if old, err := os.ReadFile(o.baseline); err == nil && bytes.Equal(old, file) {
		return nil
	}
	if err := os.WriteFile(o.baseline, file, 0o644); err != nil {
		return fmt.Errorf("the baseline is not written: %w", err)
	}
	r.written = o.baseline
	return nil
}

// toolNames are the names of a page's tools.
func toolNames(p *pagecheck.Page) string {
	var names []string
	for _, it := range p.Items {
		if it.Kind == spec.KindTool {
			names = append(names, it.Name)
		}
	}
	return terminal.OneLine(strings.Join(names, ", "), 300)
}
