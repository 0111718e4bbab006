package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/naming"
)

func ToolsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools [tools|resources|prompts]",
		Short: "List the tools as clients see them, or what else pages offer",
		Example: `  tabhub tools
  tabhub tools --cost
  tabhub tools resources
  tabhub tools prompts`,
		Args: command.Args(cobra.MaximumNArgs(1)),
	}
	asJSON := command.JSONFlag(cmd)
	all := cmd.Flags().Bool("all", false, "also those that clients are not listed and reach by name or through the tool proxy")
	cost := cmd.Flags().Bool("cost", false, "what each tool's definition costs in a model's context, largest first")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if len(pos) > 0 && pos[0] != "tools" && (*all || *cost) {
			return command.Usagef("--all and --cost are of tools; %q has neither", pos[0])
		}
		switch what := append(pos, "tools")[0]; what {
		case "resources":
			return listResources(cmd.Context(), a, *asJSON)
		case "prompts":
			return listPrompts(cmd.Context(), a, *asJSON)
		case "tools":
		default:
			return command.Usagef("%q is nothing that pages offer; it may be tools, resources or prompts", what)
		}
		return command.Show(cmd.Context(), a, "/api/tools", nil, *asJSON, func(_ *command.App, tools []admin.ToolReport) error {
			if *cost {
				return printCost(a, tools)
			}
			if err := printTools(a, tools, *all); err != nil || slices.ContainsFunc(tools, func(t admin.ToolReport) bool { return t.Domain != "" }) {
				return err
			}
			return printNone(cmd.Context(), a, "tools")
		})
	}
	return cmd
}

// maxDescription is how much of a description is listed. Some are long, for models to read.
const maxDescription = 200

func printTools(a *command.App, tools []admin.ToolReport, all bool) error {
	unlisted := 0
	list := a.Table("NAME", "DESCRIPTION")
	for _, t := range tools {
		if !t.Listed {
			unlisted++
		}
		if t.Listed || all {
			list.Row(t.Name, terminal.OneLine(description(t.Definition), maxDescription))
		}
	}
	err := list.Print()
	if unlisted > 0 {
		how := "`tabhub tools --all` shows them"
		if all {
			how = "see --expose"
		}
		fmt.Fprintf(a.Out, "\n%d tools of pages are not in the list that clients get; clients reach them by name or through the tool proxy; %s.\n", unlisted, how)
	}
	return err
}

func printCost(a *command.App, tools []admin.ToolReport) error {
	slices.SortStableFunc(tools, func(x, y admin.ToolReport) int { return cmp.Compare(len(y.Definition), len(x.Definition)) })
	type site struct {
		name         string
		tools, bytes int
	}
	all, builtin, pages := 0, 0, 0
	var sites []*site
	each := a.Table("TOKENS (ABOUT)", "BYTES", "NAME")
	for _, t := range tools {
		n := len(t.Definition)
		all += n
		if t.Domain == "" {
			builtin += n
		} else {
			pages += n + len(",") // what the hub compares with the budget
			name := naming.SiteOf(t.Domain)
			i := slices.IndexFunc(sites, func(s *site) bool { return s.name == name })
			if i < 0 {
				i = len(sites)
				sites = append(sites, &site{name: name})
			}
			sites[i].tools++
			sites[i].bytes += n + len(",")
		}
		each.Row(expose.Tokens(n), n, t.Name)
	}
	if err := each.Print(); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	slices.SortFunc(sites, func(x, y *site) int { return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.name, y.name)) })
	t := a.Table("TOKENS (ABOUT)", "TOOLS", "SITE")
	for _, s := range sites {
		t.Row(expose.Tokens(s.bytes), s.tools, s.name)
	}
	err := t.Print()
	fmt.Fprintf(a.Out, "\n--expose all costs about %d tokens, --expose proxy %d\n", expose.Tokens(all), expose.Tokens(builtin))
	fmt.Fprintf(a.Out, "--expose auto is as all with an expose-budget of about %d or more, else it leaves out sites that cost much\n", expose.Tokens(pages))
	return err
}

func description(definition json.RawMessage) string {
	var t struct{ Description string }
	json.Unmarshal(definition, &t)
	return t.Description
}
