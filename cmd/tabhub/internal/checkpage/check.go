package checkpage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// CheckOptions are the flags of `tabhub check`.
type CheckOptions struct {
	url     string
	Browser string
	window  bool
	Hub     string // whose /tab.js the page may load; the check's hub takes its place
	Timeout time.Duration
	Call    []string
	calls   map[string]json.RawMessage // by the page's own name
}

func Command(a *command.App) *cobra.Command {
	o := &CheckOptions{Hub: settings.DefaultListen}
	cmd := &cobra.Command{
		Use:   "check URL",
		Short: "Open a page and report what does not work of its tools",
		Long: `Open a page and report what does not work of its tools: for page authors, and their CI.

It opens the page in a separate browser, with an empty profile and a separate hub;
lists what the page offers; reads its resources and calls the tools that only read
(readOnlyHint) and need no arguments, and those of --call; and reports what the hub
rejects, calls that fail, and what the page's scripts throw.

The exit code is 0 if nothing is worse than a warning, 1 if there is an error, and 2 if the
page cannot be opened.`,
		Example: `  tabhub check http://localhost:5173/
  tabhub check https://shop.example.com/ --call 'search={"query":"tea"}'`,
		Args: command.Args(cobra.ExactArgs(1)),
	}
	f := cmd.Flags()
	f.SortFlags = false
	asJSON := command.JSONFlag(cmd)
	f.StringArrayVar(&o.Call, "call", nil, "call a tool with these arguments, also if it changes something: `NAME=JSON`; may be repeated")
	f.StringVar(&o.Browser, "browser-program", "", "program `file` of the Chromium or Chrome to start (default: the first that is found)")
	f.BoolVar(&o.window, "window", false, "show the browser's window")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "how long the page may take to load, and each call to end")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if err := o.Read(pos[0]); err != nil {
			return err
		}
		r, err := Check(cmd.Context(), a, o)
		if err != nil {
			return err
		}
		if *asJSON {
			err = a.PrintValue(r)
		} else {
			err = PrintCheck(a, r)
		}
		return cmp.Or(err, r.verdict())
	}
	return cmd
}

// Read checks the flags and the address of the page. It starts nothing.
func (o *CheckOptions) Read(address string) (err error) {
	if o.url, err = pageURL(address); err != nil {
		return err
	}
	o.calls = make(map[string]json.RawMessage)
	for _, one := range o.Call {
		name, arguments, ok := strings.Cut(one, "=")
		if !ok || name == "" || rawjson.Object([]byte(arguments), spec.MaxDepth, func(string, json.RawMessage) error { return nil }) != nil {
			return command.Usagef("--call %q is not NAME=JSON, such as 'search={\"query\":\"tea\"}'", one)
		}
		o.calls[name] = json.RawMessage(arguments)
	}
	if o.Timeout <= 0 {
		return command.Usagef("--timeout is %s; it must be above 0", o.Timeout)
	}
	if err := instance.Available(o.Browser); err != nil {
		if o.Browser == "" {
			err = errors.New("no Chromium or Chrome is installed where it is looked for (PATH and the usual places); install one, or name it with --browser-program FILE")
		}
		return command.Usage(err)
	}
	return nil
}

// pageURL reads the address of a page; the scheme may be left out.
func pageURL(address string) (string, error) {
	if !strings.Contains(address, "://") {
		scheme := "https://"
		if isLocal("http://" + address) {
			scheme = "http://"
		}
		if file, err := os.Stat(address); err == nil && file.Mode().IsRegular() {
			return "", command.Usagef("%s is a file; serve it over http, as with `python3 -m http.server`, and check that address", address)
		}
		address = scheme + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", command.Usagef("%.100q is no address of a page, such as http://localhost:5173/", address)
	case u.Scheme == "file":
		return "", command.Usagef("extensions do not see pages from files; serve it over http, as with `python3 -m http.server`, and check that address")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", command.Usagef("%.100q is no address of a page, such as http://localhost:5173/", address)
	}
	return u.String(), nil
}

// WithoutPassword returns an address as a log may have it.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// Check opens the page, and reports on it.
func Check(ctx context.Context, a *command.App, o *CheckOptions) (*CheckReport, error) {
	status := a.Status()
	defer status.Clear()
	tab, err := openChecked(ctx, a, o, status)
	if tab != nil {
		defer tab.Close()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, command.Usage(err)
	}
	p, title := tab.look()
	for name := range o.calls {
		if !slices.ContainsFunc(p.Items, func(it pagecheck.Item) bool { return it.Kind == spec.KindTool && it.Name == name }) {
			return nil, command.Usagef("--call names %q, which the page does not offer; it offers %s", name, cmp.Or(toolNames(p), "no tool"))
		}
	}
	status.Show("calling the tools that only read")
	calls, found, err := o.callAll(ctx, tab, p)
	if err != nil {
		return nil, err
	}
	messages, refused := tab.page.said() // with those from calls
	p.Errors, p.Rejected = messages, append(refused, p.Rejected...)
	r := &CheckReport{Version: checkVersion, URL: WithoutPassword(o.url), Opened: tab.page.at(), Title: title, Budget: settings.DefaultBudget, Findings: append(pagecheck.Examine(p), found...)}
	pagecheck.Sort(r.Findings)
	r.count(p, calls)
	return r, nil
}

// openChecked opens the page. The caller closes it, unless it is nil.
func openChecked(ctx context.Context, a *command.App, o *CheckOptions, status *terminal.Status) (*checkRun, error) {
	status.Show("starting a browser")
	c, err := startCheck(ctx, a, o)
	if err != nil {
		return nil, fmt.Errorf("no page can be opened: %w", err)
	}
	status.Show("opening " + command.OneLine(WithoutPassword(o.url)))
	if err := c.open(ctx); err != nil {
		return c, fmt.Errorf("%s cannot be opened: %w", WithoutPassword(o.url), err)
	}
	return c, nil
}

// maxCalling is how many times --timeout all calls together may take.
const maxCalling = 10

// callAll calls the tools that only read and need no arguments, and those of --call, and reads
// the resources.
func (o *CheckOptions) callAll(ctx context.Context, tab *checkRun, p *pagecheck.Page) (calls []pagecheck.Call, found []pagecheck.Finding, err error) {
	start, stopped, left := time.Now(), "", 0
	for i := range p.Items {
		it := &p.Items[i]
		args, wanted := o.arguments(it)
		if !wanted {
			continue
		}
		if stopped == "" && time.Since(start) > maxCalling*o.Timeout {
			stopped = fmt.Sprintf("calls have taken more than %s", maxCalling*o.Timeout)
		}
		if stopped != "" {
			left++
			continue
		}
		call, err := tab.Call(ctx, it, args)
		if err != nil {
			return nil, nil, err
		}
		calls = append(calls, call)
		found = append(found, pagecheck.Judge(&call)...)
		switch {
		case call.Hung:
			stopped = "the page runs no script any more since the call of " + it.Label()
		case call.Navigated != "":
			if err := tab.open(ctx); err != nil { // the call left the page that offers the others
				return nil, nil, err
			}
		}
	}
	if left > 0 {
		found = append(found, pagecheck.Finding{Severity: pagecheck.Warning, Code: pagecheck.NotCalled, Text: fmt.Sprintf("%s left out: %s", command.Plural(left, "call"), stopped), Hint: "see what is slow, or raise --timeout"})
	}
	return calls, found, nil
}

// arguments returns the arguments for a call of an item, nil for a resource, and whether to call it
// at all.
func (o *CheckOptions) arguments(it *pagecheck.Item) (args json.RawMessage, wanted bool) {
	switch args, given := o.calls[it.Name]; {
	case it.Kind == spec.KindTool && given:
		return args, true
	case it.Template || it.Kind == spec.KindPrompt || it.Class != policy.Read:
		return nil, false
	case it.Kind == spec.KindResource:
		return nil, true
	}
	for range rawjson.Elements(rawjson.Get(it.Registered, "inputSchema", "required")) {
		return nil, false
	}
	return json.RawMessage("{}"), true
}

// toolNames returns the names of a page's tools.
func toolNames(p *pagecheck.Page) string {
	var names []string
	for _, it := range p.Items {
		if it.Kind == spec.KindTool {
			names = append(names, it.Name)
		}
	}
	return terminal.OneLine(strings.Join(names, ", "), 300)
}
