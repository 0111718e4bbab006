package cli

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
)

// preflightCodes are the exit codes of `tabhub preflight`.
var preflightCodes = map[call.Readiness]int{call.Ready: command.ExitOK, call.NoTab: 3, call.NoBrowser: 4, call.WouldAsk: 5, call.Denied: 6}

func PreflightCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "preflight [TOOL...] [--client NAME]",
		Short: "Say whether a client's calls would pass now, for scripts",
		Long: `Say whether a client's calls of tools would pass now, before a script or a scheduler starts
the client. Nothing is called, opened or asked. Without a tool it is about all tools that the
client is listed, and without --client about your own calls, by "tabhub call". What a client
does on a page by itself, such as "browser_page click", is looked at by name and with --site.

The exit code is the highest of all tools':
  0  ready: a call would pass; also if it would open a tab first
  1  it could not be found out, such as when the hub is not running
  2  the command is wrong, or there is no such client
  3  no tab has the tool, and none can be opened
  4  no browser is paired or connected that could have the tab
  5  you would be asked
  6  the rules deny it, or it is paused`,
		Example: `  tabhub preflight website_tool_shop_example_com__order --client nightly && nightly-job
  tabhub preflight "browser_page click" browser_script --site shop.example --client nightly
  tabhub preflight --client nightly --json | jq -r '.tools[] | select(.state != "ready") | .fix'`,
		Args: cobra.ArbitraryArgs,
	}
	site := cmd.Flags().String("site", "", "the `site` on whose pages the hub's own tools act")
	client := cmd.Flags().String("client", policy.OwnerID, "the client, by its `name` or id")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		q := url.Values{"client": {*client}, "tool": pos}
		if *site != "" {
			q.Set("site", *site)
		}
		return command.Show(cmd.Context(), a, "/api/preflight", q, false, func(_ *command.App, r preflight) error {
			bad := 0
			for i := range r.Tools {
				t := &r.Tools[i]
				if t.Fix = fixFor(a, *client, &t.ToolPreflight); t.State != call.Ready {
					bad++
				}
			}
			print := func() error { return printPreflight(a, &r) }
			if *asJSON {
				print = func() error { return a.PrintValue(r) }
			}
			err := print()
			switch code := preflightCodes[r.State]; {
			case err != nil || code == command.ExitOK:
				return err
			case bad == 0:
				return &command.Verdict{Code: code, Text: r.Why}
			default:
				return &command.Verdict{Code: code, Text: fmt.Sprintf("%d of %s would not pass", bad, command.Plural(len(r.Tools), "tool"))}
			}
		})
	}
	return cmd
}

// preflight is the admin.PreflightReport with what to do.
type preflight struct {
	admin.PreflightReport
	Tools []preflightTool `json:"tools"`
}

type preflightTool struct {
	admin.ToolPreflight
	Fix string `json:"fix,omitempty"` // the command after which the call would pass, or a sentence; "" if it would now
}

// fixFor says what to do so that a client's call of a tool would pass.
func fixFor(a *command.App, client string, t *admin.ToolPreflight) string {
	switch {
	case t.State == call.Ready:
		return ""
	case t.State == call.NoBrowser:
		return "start the browser that has the extension; `" + a.Tabhub("setup") + "` sets one up"
	case t.State == call.NoTab && t.Site == "":
		return "open the page that offers it; `tabhub site SITE --cache on` keeps a site's tools when its tabs are closed, and has calls open one"
	case t.State == call.NoTab:
		return fmt.Sprintf("open a page of %s that offers it", t.Site)
	case t.Pause != nil:
		return resumeLine(a, t.Pause.Client, t.Pause.Site)
	case t.By == policy.ByFlow && t.Rule != nil:
		words := []string{"policy", "flow", t.Rule.From, string(t.Site), "allow", "--client", client}
		if t.Class == policy.Act {
			words = append(words, "--class", t.Class.String())
		}
		return a.Tabhub(words...)
	}
	if words := beyondRules(t.By); words != "" {
		return words
	}
	if strings.Contains(t.Tool, "*") {
		return "answer when you are asked: no rule is about this tool alone, as its name is a pattern"
	}
	words := ruleFor("allow", client, t.Site, t.Tool, t.Pack)
	switch {
	case t.Class == policy.Act && t.Site == "":
		return "name the tool and the site where it acts: `" + a.Tabhub("preflight", t.Tool, "--site", "SITE", "--client", client) + "`"
	case t.Class == policy.Act:
		words = append(ruleFor("allow", client, t.Site, "", ""), "--class", t.Class.String())
	case t.Site == "": // a tool of the hub
		words = append(words, "--class", "hub")
	case t.Pack != "" && t.By == policy.ByPreset && t.Class != policy.Destructive: // all that the pack does so there
		words = append(ruleFor("allow", client, t.Site, "", t.Pack), "--class", t.Class.String())
	}
	return a.Tabhub(append(words, "--until", "8h")...)
}

func printPreflight(a *command.App, r *preflight) error {
	slices.SortStableFunc(r.Tools, func(a, b preflightTool) int { return preflightCodes[b.State] - preflightCodes[a.State] })
	if len(r.Tools) > 0 {
		t := a.Table("STATE", "TOOL", "WHY")
		for i := range r.Tools {
			tool := &r.Tools[i]
			name := strings.TrimPrefix(tool.Name, "website_tool_")
			if tool.Site != "" {
				name = command.ToolAt(tool.Tool, tool.Site)
			}
			t.Row(terminal.Cell{Text: string(tool.State), Tone: command.Tones[string(tool.State)], State: true}, name, tool.Why)
		}
		if err := t.Print(); err != nil {
			return err
		}
	}
	var fixes []string
	for _, t := range r.Tools {
		if t.Fix != "" && !slices.Contains(fixes, t.Fix) {
			fixes = append(fixes, t.Fix)
		}
	}
	if len(fixes) > 0 {
		fmt.Fprintln(a.Out, "\nTo have them pass:")
		for _, fix := range fixes {
			fmt.Fprintln(a.Out, "  "+fix)
		}
	}
	return nil
}
