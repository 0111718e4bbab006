package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/auth"
	"tabhub/hub/consent"
	"tabhub/hub/httpd"
	"tabhub/hub/record"
	"tabhub/tabtransport/pairing"
)

// completeWithin is how long the hub may take to say what completes a word. Without an answer
// there is nothing to choose from, and no error: somebody is typing.
const completeWithin = 500 * time.Millisecond

// offer completes a word with the values that list adds. What a page or a client has named may
// hold what a shell acts on, and bash puts what several values begin with on the line as it is:
// such values are left out.
func (a *app) offer(list func(_ context.Context, add func(value, about string)) error) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) (values []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		a.fromEnv(cmd)
		seen := make(map[string]bool)
		_ = list(ctx, func(value, about string) {
			if !seen[value] && strings.HasPrefix(value, begun) && shell.Plain(value) {
				values = append(values, cobra.CompletionWithDesc(value, terminal.OneLine(about, 80)))
			}
			seen[value] = true
		})
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// fromHub completes a word with a value of each element of what the hub answers to a GET.
func fromHub[T any](a *app, path string, value func(*T) (value, about string)) cobra.CompletionFunc {
	return a.offer(func(ctx context.Context, add func(value, about string)) error {
		var all []T
		err := ask(ctx, a, path, &all)
		for i := range all {
			add(value(&all[i]))
		}
		return err
	})
}

func (a *app) completeTools() cobra.CompletionFunc {
	return fromHub(a, "/api/tools", func(t *httpd.ToolReport) (string, string) { return t.Name, description(t.Definition) })
}

// completeItems completes resources, if path is theirs, or prompts.
func (a *app) completeItems(path string) cobra.CompletionFunc {
	return fromHub(a, path, func(r *httpd.ItemReport) (string, string) { return r.Name, description(r.Definition) })
}

func (a *app) completeSites() cobra.CompletionFunc {
	return fromHub(a, "/api/tools", func(t *httpd.ToolReport) (string, string) { return string(t.Domain), "" })
}

func (a *app) completeClients() cobra.CompletionFunc {
	return fromHub(a, "/api/clients", func(c *auth.Client) (string, string) {
		if !shell.Plain(c.Name) {
			return c.ID, c.Name
		}
		return c.Name, string(c.Kind)
	})
}

func (a *app) completeQuestions() cobra.CompletionFunc {
	return fromHub(a, "/api/questions", func(q *consent.Question) (string, string) { return q.ID, strings.Join(q.Why, "; ") })
}

func (a *app) completePairings() cobra.CompletionFunc {
	return fromHub(a, "/api/pair", func(p *pairing.Pairing) (string, string) { return string(p.ID), nameOf(*p) })
}

// first completes the first argument by f, and leaves the others to nobody.
func first(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, before []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(before) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, before, begun)
	}
}

func oneOf(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

func (a *app) completeUnderWay() cobra.CompletionFunc {
	return a.offer(func(ctx context.Context, add func(value, about string)) error {
		all, err := a.underWay(ctx)
		for i := range all {
			add(all[i].ID, all[i].Tool)
		}
		return err
	})
}

// completeRules completes the rules that can be removed, which have a date.
func (a *app) completeRules() cobra.CompletionFunc {
	return a.offer(func(ctx context.Context, add func(value, about string)) error {
		var p httpd.PolicyReport
		err := ask(ctx, a, "/api/policy", &p)
		for _, r := range p.Rules {
			if !r.Made.IsZero() {
				add(r.ID, strings.Join([]string{r.Effect.String(), r.Client, r.Site, r.Tool}, " "))
			}
		}
		return err
	})
}

// completeCall completes the name of a tool or prompt or the URI of a resource, and then the
// arguments of a prompt.
func (a *app) completeCall(cmd *cobra.Command, before []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(before) == 0 {
		tools, directive := a.completeTools()(cmd, before, begun)
		for _, path := range []string{"/api/prompts", "/api/resources"} {
			more, _ := a.completeItems(path)(cmd, before, begun)
			tools = append(tools, more...)
		}
		return tools, directive
	}
	keys, directive := a.offer(func(ctx context.Context, add func(value, about string)) error {
		var all []httpd.ItemReport
		err := ask(ctx, a, "/api/prompts", &all)
		for _, p := range all {
			if p.Name == before[0] {
				for _, arg := range promptArguments(p.Definition) {
					add(arg.Name+"=", arg.Description)
				}
			}
		}
		return err
	})(cmd, nil, begun)
	return keys, directive | cobra.ShellCompDirectiveNoSpace
}

// completeFilter completes the words of `tabhub log`: a key, and then its value.
func (a *app) completeFilter(cmd *cobra.Command, before []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var events []string
	for _, e := range record.Events() {
		events = append(events, string(e))
	}
	values := map[string]cobra.CompletionFunc{
		"client": a.completeClients(), "site": a.completeSites(), "tool": a.completeTools(),
		"event": oneOf(events...), "decision": oneOf("allow", "ask", "deny"),
		"class": oneOf("read", "write", "destructive", "hub", "relay"), "outcome": oneOf("ok", record.Failed),
		"session": nil, "call": nil, "text": nil, "user": nil,
	}
	key, value, ok := strings.Cut(begun, "=")
	var all []cobra.Completion
	if !ok {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			all = append(all, key+"=")
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if values[key] == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, directive := values[key](cmd, before, value)
	for _, v := range found {
		all = append(all, key+"="+v)
	}
	return all, directive
}

// addCompletions says for all commands below root what completes their arguments, and the
// values of their flags.
func (a *app) addCompletions(root *cobra.Command) {
	directories := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	ofCommand := map[string]cobra.CompletionFunc{
		"tabhub call":          a.completeCall,
		"tabhub tools":         first(oneOf("tools", "resources", "prompts")),
		"tabhub log":           a.completeFilter,
		"tabhub explain":       first(a.completeTools()),
		"tabhub site":          first(a.completeSites()),
		"tabhub approve":       first(a.completeQuestions()),
		"tabhub calls cancel":  first(a.completeUnderWay()),
		"tabhub policy set":    first(oneOf("allow", "ask", "deny")),
		"tabhub policy mode":   first(oneOf("open", "careful", "ask", "read-only")),
		"tabhub policy remove": first(a.completeRules()),
		"tabhub token revoke":  first(a.completeClients()),
		"tabhub extension":     first(directories),
		"tabhub man":           first(directories),
	}
	ofFlag := map[string]cobra.CompletionFunc{
		"client": a.completeClients(), "site": a.completeSites(), "sites": a.completeSites(), "tool": a.completeTools(),
		"forget": a.completePairings(), "data-dir": directories,
		"class": oneOf("read", "write", "destructive", "hub", "relay"),
		"cache": oneOf("on", "off", "default"), "check": oneOf("strict", "lenient", "off"), "private": oneOf("on", "off"),
		"scope": oneOf("user", "project"), "autostart": oneOf("yes", "no"), "extension": directories,
		"tabhub setup --client": oneOf(append([]string{"all", none}, clientconf.Names()...)...),
		"auth":                  oneOf("token", "jwt", "none"), "policy": oneOf("open", "careful", "ask", "read-only"),
		"tab-names": oneOf("auto", "always", "never"), "expose": oneOf("auto", "all", "proxy"), "ask": oneOf("browser", "client", "dashboard"),
		"handover": oneOf("wait", "fail", "ignore"), "room": oneOf("group", "none"), "room-end": oneOf("keep", "close"),
		"log-level": oneOf("debug", "info", "warn", "error"), "log-format": oneOf("text", "json"),
	}
	var add func(*cobra.Command)
	add = func(cmd *cobra.Command) {
		if f := ofCommand[cmd.CommandPath()]; f != nil {
			cmd.ValidArgsFunction = f
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete := ofFlag[f.Name]
			if of := ofFlag[cmd.CommandPath()+" --"+f.Name]; of != nil {
				complete = of
			}
			if complete != nil {
				cmd.RegisterFlagCompletionFunc(f.Name, complete)
			} else if strings.Contains(f.Usage, "`file`") {
				cmd.MarkFlagFilename(f.Name)
			}
		})
		for _, below := range cmd.Commands() {
			add(below)
		}
	}
	add(root)
}
