package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tabhub/hub/state"
)

func (a *app) tabsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tabs", Short: "List the tabs that offer tools", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/tabs", nil, *asJSON, a.printTabs)
	}
	return cmd
}

func (a *app) printTabs(tabs []state.TabInfo) error {
	if len(tabs) == 0 {
		fmt.Fprintln(a.out, "No page offers tools yet. Open /demo of the hub, or a page of yours with its /tab.js.")
		return nil
	}
	err := a.table("DOMAIN\tTAB\tTOOLS\tSTATE\tBROWSER\tTITLE\tURL", func(w io.Writer) {
		for _, t := range tabs {
			for _, d := range t.Domains {
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", d.Domain, d.Number, d.Tools, tabState(t, d), clip(cmp.Or(t.BrowserName, "-"), 40), clip(t.Title, 40), clip(t.URL, 60))
			}
		}
	})
	for _, t := range tabs {
		for _, no := range t.Rejected {
			fmt.Fprintf(a.out, "\nrefused at %s: %s: %s\n", clip(t.URL, 60), clip(no.Name, 60), clip(no.Reason, 400))
		}
	}
	return err
}

func tabState(t state.TabInfo, d state.TabDomain) string {
	switch {
	case !t.Connected:
		return "away"
	case t.Discarded:
		return "asleep"
	case d.Departed > 0:
		return "changing page"
	case t.Focused:
		return "active"
	}
	return "open"
}
