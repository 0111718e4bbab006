package packcli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/cli"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
	"tabhub/hub/face/admin"
	"tabhub/hub/offer/pack"
	"tabhub/hub/state"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

func packTestCommand(a *command.App) *cobra.Command {
	var t packTest
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Make the calls of a pack's examples, and compare what they give",
		Long: `Make the calls of a pack's examples in your browser, and compare what they give: each result
must have what the example gives, and fit the tool's schema. Where a page has changed it says
what was not found, and where.

An example is tried where it says, in a new tab that is closed afterwards, else in a tab that
is open. With --tab it is tried there, and with --at at another site.
Tools that act are left out; with --act you are asked about each of their examples, and what
they do is done.

The exit code is 1 if an example has failed, or if none was tried.`,
		Example: `  tabhub pack test shop-tools
  tabhub pack test shop-tools --at https://shop.example.com/search
  tabhub pack test shop-tools --tab 2 --act`,
		Args: command.Args(cobra.ExactArgs(1)),
	}
	cmd.Flags().IntVar(&t.tab, "tab", 0, "in the tab of that `number`, as `tabhub tabs` shows it")
	cmd.Flags().StringVar(&t.at, "at", "", "at the site of that `address`, and on that page if the example names none")
	cmd.Flags().BoolVar(&t.act, "act", false, "also what acts; you are asked about each example")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		switch {
		case t.tab != 0 && t.at != "":
			return command.Usagef("--tab and --at both say where; leave one out")
		case t.tab < 0:
			return command.Usagef("--tab is %d; `tabhub tabs` shows the numbers", t.tab)
		case t.act && !terminal.Is(a.In):
			return command.Usagef("--act asks you about each example, in a terminal")
		}
		t.App = a
		return t.run(cmd.Context(), pos[0])
	}
	return cmd
}

// packTest is one run of `tabhub pack test`.
type packTest struct {
	*command.App
	tab int
	at  string
	act bool

	pack   *pack.Pack
	opened map[string]string // the ids of the tabs that it has opened, by their addresses
}

func (t *packTest) run(ctx context.Context, name string) error {
	p, err := onePack(ctx, t.App, name)
	if err != nil {
		return err
	}
	if p.Active == nil {
		return fmt.Errorf("%s is not in use yet: %s", name, howToAccept(t.App, p))
	}
	if p.Waiting != nil {
		t.Note("a change of %s waits; this tests what is in use", name)
	}
	if t.pack, err = pack.Parse(p.Active.Document); err != nil {
		return err
	}
	t.opened = map[string]string{}
	defer t.closeTabs(context.WithoutCancel(ctx))
	tried, failed := 0, 0
	for _, tool := range t.pack.AllTools() {
		if len(tool.Examples) == 0 {
			t.say(terminal.Soft, "no example", tool.Name)
		}
		for j := range tool.Examples {
			e := &tool.Examples[j]
			may, err := t.mayTry(ctx, tool, e)
			if err != nil {
				return err
			}
			if !may {
				t.say(terminal.Soft, "left out", callWords(tool, e)+": it acts; --act asks you, and tries it")
				continue
			}
			tried++
			began := time.Now()
			why, err := t.try(ctx, tool, e)
			switch {
			case ctx.Err() != nil:
				return err
			case err != nil:
				why = err.Error()
			}
			if why == "" {
				t.say(terminal.Good, "ok", fmt.Sprintf("%s · %d ms", callWords(tool, e), time.Since(began).Milliseconds()))
				continue
			}
			failed++
			t.say(terminal.Bad, "failed", callWords(tool, e))
			for line := range strings.Lines(why) {
				fmt.Fprintln(t.Out, "    "+strings.TrimRight(line, "\n"))
			}
		}
	}
	switch {
	case tried == 0:
		return &command.Verdict{Code: command.ExitError, Text: "nothing was tested"}
	case failed > 0:
		return &command.Verdict{Code: command.ExitError, Text: fmt.Sprintf("%d of %s failed", failed, command.Plural(tried, "example"))}
	}
	return nil
}

// say prints a line about an example.
func (t *packTest) say(tone terminal.Tone, state, words string) {
	fmt.Fprintf(t.Stdout, "%s  %s\n", t.Screen().State(tone, state), describe.Visible(words))
}

func callWords(tool *pack.Tool, e *spec.PackExample) string {
	return strings.TrimSpace(tool.Name + " " + string(e.Input))
}

// mayTry reports whether an example is to be tried: one that acts only if the owner says so.
func (t *packTest) mayTry(ctx context.Context, tool *pack.Tool, e *spec.PackExample) (bool, error) {
	if tool.Class == policy.Read {
		return true, nil
	}
	if !t.act {
		return false, nil
	}
	fmt.Fprintf(t.Out, "%s would do this, for real:\n", callWords(tool, e))
	for _, step := range tool.Words(e.Input) {
		fmt.Fprintln(t.Out, t.Screen().Indented("- ", step))
	}
	return askYesNo(ctx, t.App, "Do it?")
}

// try makes the call of an example, and returns what is wrong with what it gives; "" for nothing.
func (t *packTest) try(ctx context.Context, tool *pack.Tool, e *spec.PackExample) (string, error) {
	name, err := t.toolFor(ctx, tool, e)
	if err != nil {
		return "", err
	}
	b, err := cli.CallTool(ctx, t.App, admin.CallRequest{Name: name, Arguments: e.Input})
	if err != nil {
		return "", err
	}
	var result struct {
		Content           []command.Content
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := command.Decode(b, &result); err != nil {
		return "", err
	}
	var text []string
	for _, c := range result.Content {
		text = append(text, c.Text)
	}
	switch {
	case result.IsError:
		if f, ok := command.FailureOf(b); ok {
			return f.Message, nil
		}
		return cmp.Or(strings.Join(text, "\n"), "it has failed"), nil
	case len(e.Gives) == 0:
		return "", nil
	}
	if result.StructuredContent == nil {
		result.StructuredContent = json.RawMessage(strings.Join(text, "\n"))
	}
	return missing(e.Gives, result.StructuredContent), nil
}

// toolFor returns the name of the tool for the call of an example, in the tab that it is for.
func (t *packTest) toolFor(ctx context.Context, tool *pack.Tool, e *spec.PackExample) (string, error) {
	query := url.Values{}
	address, err := t.exampleURL(e.At)
	if err != nil && t.tab == 0 {
		return "", err
	}
	if address != "" && t.tab == 0 {
		tab, err := t.open(ctx, address, tool.Name)
		if err != nil {
			return "", err
		}
		query.Set("tab", tab)
	}
	var tools []admin.ToolReport
	if err := command.Ask(ctx, t.App, "/api/tools?"+query.Encode(), &tools); err != nil {
		return "", err
	}
	tools = slices.DeleteFunc(tools, func(r admin.ToolReport) bool {
		return r.Pack != t.pack.Name || r.Source != tool.Name || t.tab != 0 && r.Tab != t.tab
	})
	if len(tools) == 0 && t.tab != 0 { // the only tab of its site has no names of its own in the list
		return t.ofOnlyTab(ctx, tool)
	}
	if len(tools) == 0 {
		return "", fmt.Errorf("no tab offers it: open a page that %s matches, or name one with --at", strings.Join(t.pack.Match, " or "))
	}
	// That of the site goes to the best tab; in a tab that was opened, its own name is the one.
	slices.SortStableFunc(tools, func(a, b admin.ToolReport) int {
		if query.Has("tab") {
			return b.Tab - a.Tab
		}
		return a.Tab - b.Tab
	})
	return tools[0].Name, nil
}

// ofOnlyTab returns the name of the tool at the site whose only tab has the number of --tab.
func (t *packTest) ofOnlyTab(ctx context.Context, tool *pack.Tool) (string, error) {
	var tabs []state.TabInfo
	if err := command.Ask(ctx, t.App, "/api/tabs", &tabs); err != nil {
		return "", err
	}
	for _, tab := range tabs {
		if !slices.ContainsFunc(tab.Domains, func(d state.TabDomain) bool { return d.Number == t.tab }) {
			continue
		}
		var tools []admin.ToolReport
		if err := command.Ask(ctx, t.App, "/api/tools?tab="+url.QueryEscape(tabParam(tab.Addr)), &tools); err != nil {
			return "", err
		}
		for _, r := range tools {
			if r.Pack == t.pack.Name && r.Source == tool.Name {
				return r.Name, nil
			}
		}
	}
	return "", fmt.Errorf("no tab %d offers it; `tabhub tabs` shows which tabs there are", t.tab)
}

// tabParam names a tab in the parameter tab of the admin API.
func tabParam(addr spec.TabAddr) string { return fmt.Sprintf("%s/%d", addr.Peer, addr.Tab) }

// exampleURL returns the address where an example is tried: its own path at the site of --at or else at the
// first site that a pattern names. It is "" for one that is tried in a tab that is open.
func (t *packTest) exampleURL(at string) (string, error) {
	base := t.at
	switch {
	case base == "" && (at == "" || strings.Contains(at, "://")):
		return at, nil
	case base != "" && at == "":
		return base, nil
	case base == "":
		for _, pattern := range t.pack.Match {
			if scheme, rest, ok := strings.Cut(pattern, "://"); ok && !strings.HasPrefix(rest, "*") && scheme != "*" {
				host, _, _ := strings.Cut(rest, "/")
				base = scheme + "://" + host
				break
			}
		}
	}
	site, err := url.Parse(base)
	if err != nil || site.Host == "" {
		return "", fmt.Errorf("the example is at %s, and the pack names no single site; name it with --at ADDRESS", at)
	}
	of, err := url.Parse(at)
	if err != nil {
		return "", fmt.Errorf("the example is at %q, which is no address", at)
	}
	site.Path, site.RawPath, site.RawQuery, site.Fragment = of.Path, of.RawPath, of.RawQuery, of.Fragment
	return site.String(), nil
}

// open opens a page in a new tab, waits for a tool there, and returns the tab for the admin API.
func (t *packTest) open(ctx context.Context, address, tool string) (string, error) {
	id := t.opened[address]
	if id == "" {
		var opened struct {
			TabID string `json:"tabId"`
		}
		if err := t.browser(ctx, "browser_tab", map[string]any{"action": "new", "url": address}, &opened); err != nil {
			return "", err
		}
		id = opened.TabID
		t.opened[address] = id
	}
	if err := t.browser(ctx, "browser_page", map[string]any{"action": "wait", "tabId": id, "tool": tool}, nil); err != nil {
		return "", err
	}
	var tabs []state.TabInfo
	if err := command.Ask(ctx, t.App, "/api/tabs", &tabs); err != nil {
		return "", err
	}
	for _, tab := range tabs {
		if tab.Addr.Public() == id {
			return tabParam(tab.Addr), nil
		}
	}
	return "", fmt.Errorf("the tab of %s has gone", address)
}

// closeTabs closes the tabs that the test has opened.
func (t *packTest) closeTabs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, command.AnswerTimeout)
	defer cancel()
	for address, id := range t.opened {
		if err := t.browser(ctx, "browser_tab", map[string]any{"action": "close", "tabId": id}, nil); err != nil {
			t.Note("the tab of %s stays open: %v", address, err)
		}
	}
}

// browser calls one of the hub's own tools for browsers.
func (t *packTest) browser(ctx context.Context, tool string, args map[string]any, into any) error {
	arguments, err := json.Marshal(args)
	if err != nil {
		return err
	}
	b, err := t.Do(ctx, http.MethodPost, "/api/call", admin.CallRequest{Name: tool, Arguments: arguments})
	if err != nil {
		return err
	}
	var result struct {
		StructuredContent json.RawMessage
		Content           []command.Content
		IsError           bool
	}
	if err := command.Decode(b, &result); err != nil {
		return err
	}
	if f, ok := command.FailureOf(b); ok {
		return f
	}
	if into == nil {
		return nil
	}
	text := result.StructuredContent
	if text == nil && len(result.Content) > 0 {
		text = json.RawMessage(result.Content[0].Text)
	}
	return command.Decode(text, into)
}

// missing says what of an example a result has not: members of objects, and the first elements of arrays.
// It is "" if the result has all.
func missing(gives, has json.RawMessage) string {
	var want, got any
	if err := json.Unmarshal(gives, &want); err != nil {
		return "what the example gives is no JSON"
	}
	if err := json.Unmarshal(has, &got); err != nil {
		got = string(has) // a text
	}
	return missingAt("", want, got)
}

func missingAt(path string, want, got any) string {
	where := cmp.Or(path, "the result")
	switch want := want.(type) {
	case map[string]any:
		is, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %s; the example has an object", where, short(got))
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			member, ok := is[name]
			if !ok {
				return fmt.Sprintf("%s has no %q; the example has %s there", where, name, short(want[name]))
			}
			if words := missingAt(strings.TrimPrefix(path+"."+name, "."), want[name], member); words != "" {
				return words
			}
		}
		return ""
	case []any:
		is, ok := got.([]any)
		if !ok {
			return fmt.Sprintf("%s is %s; the example has a list", where, short(got))
		}
		if len(is) < len(want) {
			return fmt.Sprintf("%s has %s; the example has %d", where, command.Plural(len(is), "element"), len(want))
		}
		for i := range want {
			if words := missingAt(fmt.Sprintf("%s[%d]", path, i), want[i], is[i]); words != "" {
				return words
			}
		}
		return ""
	}
	if want != got {
		return fmt.Sprintf("%s is %s; the example has %s", where, short(got), short(want))
	}
	return ""
}

// short is a value as a message has it.
func short(v any) string {
	b, _ := json.Marshal(v)
	return terminal.OneLine(string(b), 200)
}
