package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/spec"
)

func TabsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tabs",
		Short: "List the tabs that the hub knows and what they offer",
		Example: `  tabhub tabs
  tabhub tabs --json | jq -r .[].url`,
		Args: command.NoCommand,
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.Show(cmd.Context(), a, "/api/tabs", nil, *asJSON, func(_ *command.App, tabs []state.TabInfo) error {
			if len(tabs) > 0 {
				return printTabs(a, tabs)
			}
			return printNone(cmd.Context(), a, "tools")
		})
	}
	cmd.AddCommand(heldCommand(a), releaseCommand(a))
	return cmd
}

func printTabs(a *command.App, tabs []state.TabInfo) error {
	empty := false
	header := []string{"DOMAIN", "TAB", "TOOLS", "STATE", "BROWSER", "TITLE", "URL"}
	held := slices.ContainsFunc(tabs, func(t state.TabInfo) bool { return t.HeldBy != nil })
	if held {
		header = slices.Insert(header, 4, "LEASED BY")
	}
	all := a.Table(header...)
	row := func(t state.TabInfo, cells ...any) {
		if held {
			by := "-"
			if t.HeldBy != nil {
				by = terminal.OneLine(t.HeldBy.Name, 30)
			}
			cells = slices.Insert(cells, 4, any(by))
		}
		all.Row(cells...)
	}
	for _, t := range tabs {
		browser := cmp.Or(t.BrowserName, "-")
		if a.OnTerminal() {
			t.Title, t.URL = terminal.OneLine(t.Title, 40), strings.TrimPrefix(t.URL, "https://") // which leaves room for the rest
		}
		for _, d := range t.Domains {
			row(t, d.Domain, d.Number, d.Tools, tabState(t, d.Departed), browser, t.Title, t.URL)
		}
		if len(t.Domains) == 0 {
			empty = true
			row(t, "-", "-", 0, tabState(t, 0), browser, t.Title, t.URL)
		}
	}
	err := all.Print()
	if empty {
		a.Hint("\nA page with \"-\" is connected, but offers nothing now.")
	}
	for _, t := range tabs {
		for _, no := range t.Rejected {
			a.Hint("\nrefused at %s: %s: %s", terminal.OneLine(t.URL, 60), terminal.OneLine(no.Name, 60), terminal.OneLine(no.Reason, 400))
		}
		for _, part := range t.Warnings {
			what, reason := "a part of %s is left out", part.Reason
			if change, ok := strings.CutPrefix(reason, item.ListedOtherwise); ok {
				what, reason = "%s is listed otherwise to clients", change
			}
			a.Hint("\nat %s, "+what+": %s", terminal.OneLine(t.URL, 60), terminal.OneLine(part.Name, 60), terminal.OneLine(reason, 400))
		}
	}
	return err
}

// printNone says why no page offers what was asked for, and what to do next.
func printNone(ctx context.Context, a *command.App, what string) error {
	return command.Show(ctx, a, "/api/browsers", nil, false, func(_ *command.App, browsers []state.BrowserInfo) error {
		var names []string
		for _, b := range browsers {
			if b.Connected {
				names = append(names, terminal.OneLine(cmp.Or(b.Name, "a browser without a name"), 40))
			}
		}
		if len(names) == 0 {
			a.Note("No page offers %s: no browser is connected. `tabhub extension DIR` writes the extension, to be loaded at chrome://extensions. Pages with the hub's /tab.js need none, such as its /demo.", what)
			return nil
		}
		a.Note("No page offers %s yet. Connected: %s. Open a page there that does, such as the hub's /demo.", what, strings.Join(names, ", "))
		return nil
	})
}

func tabState(t state.TabInfo, departed int) terminal.Cell {
	switch {
	case !t.Connected:
		return command.StateCell(command.Away)
	case t.Waiting:
		return command.StateCell(command.Waiting)
	case t.InUse:
		return command.StateCell(command.InUse)
	case t.Dialog != nil && t.Dialog.Type == spec.DialogUnknown:
		return command.StateCell("does not answer")
	case t.Dialog != nil:
		return command.StateCell(command.Dialog)
	case t.Discarded:
		return command.StateCell(command.Asleep)
	case departed > 0:
		return command.StateCell(command.Changing)
	case t.Focused:
		return command.StateCell(command.Active)
	}
	return command.StateCell(command.Open)
}
