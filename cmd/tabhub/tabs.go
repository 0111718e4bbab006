package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/hub/state"
)

func (a *app) tabsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tabs", Short: "List the tabs that the hub knows and what they offer", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/tabs", nil, *asJSON, func(tabs []state.TabInfo) error {
			if len(tabs) > 0 {
				return a.printTabs(tabs)
			}
			return show(cmd.Context(), a, "/api/browsers", nil, false, a.printNoTabs)
		})
	}
	return cmd
}

func (a *app) printTabs(tabs []state.TabInfo) error {
	empty := false
	err := a.table("DOMAIN\tTAB\tTOOLS\tSTATE\tBROWSER\tTITLE\tURL", func(w io.Writer) {
		for _, t := range tabs {
			where := fmt.Sprintf("%s\t%s\t%s", clip(cmp.Or(t.BrowserName, "-"), 40), clip(t.Title, 40), clip(t.URL, 60))
			for _, d := range t.Domains {
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", d.Domain, d.Number, d.Tools, tabState(t, d.Departed), where)
			}
			if len(t.Domains) == 0 {
				empty = true
				fmt.Fprintf(w, "-\t-\t0\t%s\t%s\n", tabState(t, 0), where)
			}
		}
	})
	if empty {
		fmt.Fprintln(a.out, "\nA page with \"-\" is connected, but offers nothing now.")
	}
	for _, t := range tabs {
		for _, no := range t.Rejected {
			fmt.Fprintf(a.out, "\nrefused at %s: %s: %s\n", clip(t.URL, 60), clip(no.Name, 60), clip(no.Reason, 400))
		}
		for _, part := range t.Warnings {
			fmt.Fprintf(a.out, "\nat %s, a part of %s is left out: %s\n", clip(t.URL, 60), clip(part.Name, 60), clip(part.Reason, 400))
		}
	}
	return err
}

// printNoTabs says what is connected although there are no tabs.
func (a *app) printNoTabs(browsers []state.BrowserInfo) error {
	var names []string
	for _, b := range browsers {
		if b.Connected {
			names = append(names, clip(cmp.Or(b.Name, "a browser without a name"), 40))
		}
	}
	if len(names) == 0 {
		fmt.Fprintln(a.out, "No browser is connected, and no page. `tabhub extension DIR` writes the extension out; pages with the hub's /tab.js need none, such as its /demo.")
		return nil
	}
	fmt.Fprintf(a.out, "Connected: %s. No page there offers tools yet; the hub's /demo does.\n", strings.Join(names, ", "))
	return nil
}

func tabState(t state.TabInfo, departed int) string {
	switch {
	case !t.Connected:
		return "away"
	case t.Waiting:
		return "waiting for you"
	case t.Discarded:
		return "asleep"
	case departed > 0:
		return "changing page"
	case t.Focused:
		return "active"
	}
	return "open"
}
