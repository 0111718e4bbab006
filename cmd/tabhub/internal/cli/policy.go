package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

func PolicyCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show or change who may do what on which site",
		Long: `Show or change who may do what on which site.

Each call of an MCP client is allowed, denied, or you are asked first. The mode says what
holds for all: open, careful (the default), ask or read-only. Rules say what holds for some
clients, sites, tools and packs; of those that match a call the most specific one decides, and of
two that are about different things the stricter one.`,
		Args: command.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return command.Show(cmd.Context(), a, "/api/policy", nil, false, func(_ *command.App, p admin.PolicyReport) error {
				if err := printState(a, &p); err != nil {
					return err
				}
				a.Hint("\n`tabhub policy list` shows all rules, `tabhub policy set` makes one, `tabhub policy mode` changes the mode; `tabhub policy --help` has the rest.")
				return nil
			})
		},
	}
	cmd.AddCommand(policyListCommand(a), policySetCommand(a), policyRemoveCommand(a), policyTestCommand(a), policyFlowCommand(a), policyModeCommand(a), policyBindCommand(a))
	return cmd
}

func policyListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show what holds: your rules first, the most specific first, then those of the mode",
		Example: `  tabhub policy list`,
		Args:    command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.Show(cmd.Context(), a, "/api/policy", nil, *asJSON, printPolicy)
	}
	return cmd
}

func policySetCommand(a *command.App) *cobra.Command {
	var rule policy.Rule
	var until command.Deadline
	cmd := &cobra.Command{
		Use:   "set allow|ask|deny",
		Short: "Add a rule",
		Long: `Add a rule. One that was about the same goes.

A flag that is left out stands for any client, site, tool and so on. But what a pack's tools
change is allowed only by rules with --pack, as a pack may be newer than the rule; and what a
client does on pages by itself, as it clicks and fills there, only by rules with --class act. A
tool alone can also be one that is open now, by the name that clients call.`,
		Example: `  tabhub policy set deny --site bank.example.com
  tabhub policy set allow --client claude --site "*.example.com" --class write
  tabhub policy set allow --client claude --class destructive --until 2h
  tabhub policy set allow --client claude --pack shop-tools --class write
  tabhub policy set allow --client claude --site shop.example.com --class act --until 8h`,
		Args: command.Args(cobra.ExactArgs(1)),
	}
	f := cmd.Flags()
	f.StringVar(&rule.Client, "client", "", "a client, by its `name` or id")
	f.StringVar(&rule.Session, "session", "", "a session of that client, by its `id`")
	f.StringVar(&rule.Site, "site", "", "a `site` as `tabhub tabs` shows it, *.example.com, verified or unverified")
	f.StringVar(&rule.Tool, "tool", "", "a tool by the page's own `name`, or one of the hub such as browser_page; * stands for any text")
	f.StringVar(&rule.Pack, "pack", "", "the tools of a pack, by its `name`; * stands for any pack")
	f.StringVar(&rule.Class, "class", "", "what only reads, what writes, what a client does on a page by itself, or what cannot be undone: read, write, act or destructive; or whose it is: hub or relay")
	f.Var(&until, "until", "when it ends: a `time` such as 2h or 2026-12-31T18:00:00Z")
	f.StringVar(&rule.Note, "note", "", "a `text` for yourself")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if err := rule.Effect.UnmarshalText([]byte(pos[0])); err != nil {
			return command.Usage(err)
		}
		for _, text := range []*string{&rule.Client, &rule.Site, &rule.Tool, &rule.Pack, &rule.Class} {
			*text = anyIsNone(*text)
		}
		rule.Until = time.Time(until)
		return setRule(cmd.Context(), a, rule, *asJSON)
	}
	return cmd
}

// anyIsNone returns what a rule has for what is shown as any.
func anyIsNone(text string) string {
	if text == "any" {
		return ""
	}
	return text
}

func setRule(ctx context.Context, a *command.App, rule policy.Rule, asJSON bool) error {
	b, err := a.Do(ctx, http.MethodPost, "/api/policy/rule", rule)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(b)
	}
	var change admin.PolicyChange
	if err := command.Decode(b, &change); err != nil {
		return err
	}
	if err := printRules(a, []*policy.Rule{&change.Rule}); err != nil || len(change.Exceptions) == 0 {
		return err
	}
	fmt.Fprintln(a.Out, "\nThese go on to decide about a part of it, since they are more specific, or stricter:")
	return printRules(a, change.Exceptions)
}

func policyRemoveCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a rule, or the answer that was remembered as one",
		Example: `  tabhub policy remove k2m4q7xz`,
		Args:    command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			return a.Send(cmd.Context(), http.MethodDelete, "/api/policy/rule?id="+url.QueryEscape(pos[0]), nil)
		},
	}
}

func policyTestCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test [--client NAME] [--site SITE] [--tool NAME]",
		Short: "Say what would happen, and why",
		Long: `Say what would happen, and why: which rule decides, and which ones match, too.

A tool alone is one that is open now, by the name that clients call. With --site it is any
that a page might have, by the page's own name.`,
		Example: `  tabhub policy test --client claude --tool website_tool_example_com__buy
  tabhub policy test --client claude --site bank.example.com --tool transfer --class destructive
  tabhub policy test --client claude --site bank.example.com --tool "browser_page click"`,
		Args: command.Args(cobra.NoArgs),
	}
	flags := []string{"client", "session", "site", "tool", "pack", "class"}
	cmd.Flags().String("client", "", "the client's `name` or id (default owner, who is you)")
	cmd.Flags().String("session", "", "the `id` of a session of the client")
	cmd.Flags().String("site", "", "the `site`, as `tabhub tabs` shows it")
	cmd.Flags().String("tool", "", "the tool's `name`")
	cmd.Flags().String("pack", "", "the `name` of the pack whose tool it is (default none: the page's own)")
	cmd.Flags().String("class", "", "read, write, act, destructive or relay (default write, or what the tool says of itself)")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := url.Values{}
		for _, name := range flags {
			if cmd.Flags().Changed(name) {
				q.Set(name, cmd.Flag(name).Value.String())
			}
		}
		return command.Show(cmd.Context(), a, "/api/policy/test", q, *asJSON, printPolicyTest)
	}
	return cmd
}

func policyFlowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flow FROM TO allow|ask|deny",
		Short: "Say where a client that has read a site may act",
		Long: `Say where a client that has read a site may act: whether one that has read something of the
site FROM in the last twelve hours may do something at the site TO. What it sends there does not
matter. What only reads at TO is another matter, which --class read makes a rule about.

FROM may be private, for all sites that are; TO may be any.`,
		Example: `  tabhub policy flow mail.example.com any deny
  tabhub policy flow private calendar.example.com allow
  tabhub policy flow private any ask --class read`,
		Args: command.Args(cobra.ExactArgs(3)),
	}
	client := cmd.Flags().String("client", "", "of a client, by its `name` or id")
	class := cmd.Flags().String("class", "", "what is done at TO: read, write, act or destructive; else all but reading, of which allow leaves acts out")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		rule := policy.Rule{Client: anyIsNone(*client), From: anyIsNone(pos[0]), Site: anyIsNone(pos[1]), Class: anyIsNone(*class)}
		if rule.From == "" {
			return command.Usagef("FROM is %q; name a site, or say private, verified or unverified", pos[0])
		}
		if err := rule.Effect.UnmarshalText([]byte(pos[2])); err != nil {
			return command.Usage(err)
		}
		return setRule(cmd.Context(), a, rule, *asJSON)
	}
	return cmd
}

func policyBindCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "bind CLIENT [BROWSER…]",
		Short: "Say which browsers there are for a client, or, without one, that all are",
		Long: `Say which browsers there are for a client, by the names of "tabhub browser". All others do
not exist for it, nor do pages that have joined by themselves. What its credential or its
command bind it to narrows that further. Without a browser, the client is bound no longer.`,
		Example: `  tabhub policy bind claude work
  tabhub policy bind any work personal
  tabhub policy bind claude`,
		Args: command.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			in := admin.BindingSetting{Client: pos[0]}
			if len(pos) > 1 {
				in.Browsers = pos[1:]
				if err := policy.CheckBrowsers(in.Browsers); err != nil {
					return command.Usage(err)
				}
			}
			return a.Send(cmd.Context(), http.MethodPut, "/api/policy/binding", in)
		},
	}
}

func policyModeCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mode [open|careful|ask|read-only]",
		Short: "Show or set the mode",
		Long: `Show or set the mode, which says what holds where no rule does:

  open       everything is allowed
  careful    you are asked before what may do harm: what cannot be undone, sites that no
             browser vouches for, requests to extensions, tools that have changed, once for
             each site and pack what a pack's tools change, and once for each session and
             site what a client does on pages by itself
  ask        you are asked about everything, once for each client and site
  read-only  nothing but reading, whatever the rules say`,
		Example: `  tabhub policy mode
  tabhub policy mode ask`,
		Args: command.Args(cobra.MaximumNArgs(1)),
	}
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if len(pos) == 0 {
			return command.Show(cmd.Context(), a, "/api/policy", nil, false, func(_ *command.App, p admin.PolicyReport) error {
				_, err := fmt.Fprintln(a.Out, modeOf(&p))
				return err
			})
		}
		var in admin.ModeSetting
		if err := in.Mode.UnmarshalText([]byte(pos[0])); err != nil {
			return command.Usage(err)
		}
		return a.Send(cmd.Context(), http.MethodPut, "/api/policy/mode", in)
	}
	return cmd
}

func PauseCommand(a *command.App) *cobra.Command {
	cmd, client, site := ofPause("pause", "Stop all clients, or one, until `tabhub resume`", `Stop all clients, or one, at all sites or at one: calls under way are cancelled, and
others refused, until "tabhub resume". It holds also when the hub is started anew.`)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := a.Send(cmd.Context(), http.MethodPost, "/api/pause", policy.Pause{Client: *client, Site: *site})
		if err == nil {
			a.Note("paused; `tabhub resume` with the same flags lets it go on")
		}
		return err
	}
	return cmd
}

func ResumeCommand(a *command.App) *cobra.Command {
	cmd, client, site := ofPause("resume", "Let clients go on that `tabhub pause` has stopped", `Let clients go on that "tabhub pause" has stopped. It takes the flags that pause was
given: what was paused of one client or site alone stays so when all others go on.`)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := url.Values{"client": {*client}, "site": {*site}}
		return a.Send(cmd.Context(), http.MethodDelete, "/api/pause?"+q.Encode(), nil)
	}
	return cmd
}

// printPauses prints what is paused, and how it goes on.
func printPauses(a *command.App, t *terminal.Table, p *admin.PolicyReport) {
	names := &command.Names{App: a}
	for _, pause := range p.Pauses {
		client, flag := "all clients", pause.Client
		if pause.Client != "" {
			client = names.Of(pause.Client)
		}
		if !slices.Contains([]string{"", policy.OwnerID, policy.TokenID, policy.UnnamedID}, flag) {
			flag = client
		}
		t.Row(command.StateCell(command.Paused), fmt.Sprintf("%s at %s, since %s; `%s` ends it", client, cmp.Or(pause.Site, "all sites"), command.ShortTime(pause.Since), resumeLine(a, flag, pause.Site)))
	}
}

// resumeLine is the command that ends one pause.
func resumeLine(a *command.App, client, site string) string {
	words := []string{"resume"}
	for _, of := range [][2]string{{"--client", client}, {"--site", site}} {
		if of[1] != "" {
			words = append(words, of[:]...)
		}
	}
	return a.Tabhub(words...)
}

// ofPause returns a command about what is paused.
func ofPause(name, short, long string) (cmd *cobra.Command, client, site *string) {
	cmd = &cobra.Command{
		Use: name, Short: short, Long: long, Args: command.Args(cobra.NoArgs),
		Example: "  tabhub " + name + "\n  tabhub " + name + " --client claude --site shop.example.com",
	}
	client = cmd.Flags().String("client", "", "only a client, by its `name` or id")
	site = cmd.Flags().String("site", "", "only at a `site`, or at *.example.com")
	return cmd, client, site
}

// modeOf says which mode holds, and since when.
func modeOf(p *admin.PolicyReport) string {
	if p.Fixed {
		return string(p.Mode) + ", by --policy"
	}
	return string(p.Mode)
}

// modeWords says what a mode means.
var modeWords = map[policy.Mode]string{
	policy.ModeOpen:     "clients may do everything that no rule denies",
	policy.ModeCareful:  "you are asked before what may do harm; the rest is allowed",
	policy.ModeAsk:      "you are asked about everything, once for each client and site",
	policy.ModeReadOnly: "clients may read, and do nothing else",
}

// printState prints what holds, but for the rules: of those how many there are.
func printState(a *command.App, p *admin.PolicyReport) error {
	names, own, ofFile := &command.Names{App: a}, rulesBy(p, isOwn), rulesBy(p, isOfFile)
	t := a.Table()
	t.Row("mode", modeOf(p)+": "+modeWords[p.Mode])
	rules := "none of yours"
	if len(own) > 0 {
		rules = fmt.Sprintf("%d of yours", len(own))
	}
	if len(ofFile) > 0 {
		rules += fmt.Sprintf(", %d of the policy file, which come first", len(ofFile))
	}
	t.Row("rules", rules)
	printPauses(a, t, p)
	if len(p.Private) > 0 {
		t.Row("private", strings.Join(p.Private, ", "))
	}
	for _, b := range p.Bindings {
		t.Row("bound", fmt.Sprintf("%s to %s", names.Of(b.Client), strings.Join(b.Browsers, ", ")))
	}
	if p.File != nil {
		t.Row("file", fileState(p.File))
	}
	return t.Print()
}

func isOwn(r *policy.Rule) bool    { return !isOfFile(r) && r.By != "preset" }
func isOfFile(r *policy.Rule) bool { return r.By == "file" }

func rulesBy(p *admin.PolicyReport, is func(*policy.Rule) bool) []*policy.Rule {
	return slices.DeleteFunc(slices.Clone(p.Rules), func(r *policy.Rule) bool { return !is(r) })
}

func printPolicy(a *command.App, p admin.PolicyReport) error {
	if err := printState(a, &p); err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		is    func(*policy.Rule) bool
	}{{"Your rules", isOwn}, {"Rules of the policy file, which come first", isOfFile}} {
		if rules := rulesBy(&p, part.is); len(rules) > 0 {
			fmt.Fprintln(a.Out)
			a.Headline(part.title)
			if err := printRules(a, rules); err != nil {
				return err
			}
		}
	}
	fmt.Fprintln(a.Out)
	a.Headline("What the mode says where no rule decides")
	t := a.Table()
	for _, r := range p.Mode.Rules() {
		t.Row(command.StateCell(r.Effect.String()), r.Note)
	}
	return t.Print()
}

// fileState says how the policy file is.
func fileState(f *admin.PolicyFile) string {
	text := fmt.Sprintf("%s, %d in force, read %s", f.Path, f.Rules, f.Read.Local().Format(time.DateTime))
	if f.Error != "" {
		text += "; as it is now it cannot be used: " + command.OneLine(f.Error)
	}
	return text
}

// printRules prints rules, each with the id by which it can be removed.
func printRules(a *command.App, rules []*policy.Rule) error {
	names := &command.Names{App: a}
	t := a.Table("ID", "EFFECT", "CLIENT", "WHAT", "UNTIL")
	for _, r := range rules {
		client, what := names.Of(r.Client), command.RuleSubject(r)
		if r.Session != "" {
			client += ", in its session of " + command.ShortTime(r.Made)
		}
		switch {
		case r.By == "preset":
			what = r.Note
		case r.Note != "":
			what += " (" + r.Note + ")"
		}
		t.Row(r.ID, command.StateCell(r.Effect.String()), client, what, cmp.Or(command.ShortTime(r.Until), "-"))
	}
	return t.Print()
}

func printPolicyTest(a *command.App, t admin.PolicyTest) error {
	verdict := map[policy.Effect]string{policy.Allow: "allowed", policy.Ask: "you would be asked", policy.Deny: "denied"}[t.Effect]
	facts := a.Table()
	facts.Row("result", command.StateCell(verdict))
	facts.Row("why", t.Words)
	if t.Rule != nil {
		facts.Row("rule", t.Rule.ID)
	}
	facts.Row("to change it", remedy(&t))
	if err := facts.Print(); err != nil || len(t.Rules) == 0 {
		return err
	}
	fmt.Fprintln(a.Out, "\nThe rules that match, the most specific first:")
	return printRules(a, t.Rules)
}

// remedy says what changes the result of a test.
func remedy(t *admin.PolicyTest) string {
	switch t.By {
	case policy.ByPause:
		return "`tabhub policy` says how each pause ends"
	case policy.ByFlow:
		return "`tabhub policy flow FROM TO allow|ask|deny`"
	}
	if words := beyondRules(t.By); words != "" {
		return words
	}
	words := append([]string{"tabhub"}, ruleFor("allow|ask|deny", t.Client, t.Site, t.Tool, t.Pack)...)
	return "`" + strings.ReplaceAll(shell.Here(words...), "'allow|ask|deny'", "allow|ask|deny") + "`"
}

// beyondRules says what changes a decision that no rule of the owner's can change; "" if one can.
func beyondRules(by policy.Layer) string {
	switch by {
	case policy.ByMode:
		return "`tabhub policy mode careful`, or start the hub with another --policy"
	case policy.ByBrowser:
		return "`tabhub policy bind CLIENT`, or give the client another credential or command"
	case policy.ByScope:
		return "give the client another credential"
	case policy.ByFile:
		return "edit the policy file: while one of its rules matches, no other counts"
	case policy.ByDashboard:
		return "nothing: the dashboard of a hub is for its owner alone"
	}
	return ""
}

// ruleFor is the command of tabhub that makes a rule for a client's calls of a tool.
func ruleFor(effect, client string, site spec.Domain, tool, pack string) []string {
	words := []string{"policy", "set", effect, "--client", client}
	if site != "" {
		words = append(words, "--site", string(site))
	}
	if tool != "" {
		words = append(words, "--tool", tool)
	}
	if pack != "" {
		words = append(words, "--pack", pack)
	}
	return words
}
