package main

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/hub/httpd"
	"tabhub/hub/policy"
)

// browsersFlag is the flag of a command that binds a client to browsers.
func browsersFlag(f *pflag.FlagSet, browsers *[]string) {
	f.StringSliceVar(browsers, "browser", nil, "the only browsers that there are for the client, by the `name`s of tabhub browser (default: all)")
}

func (a *app) browserCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "Name your browsers, so that a client keeps to one",
		Long: `Name your browsers, so that a client keeps to one. Each profile of a browser is one of its
own, with its own logins.

A client that is bound to a browser by its name (tabhub stdio --browser, tabhub token mint
--browser, tabhub policy bind) has the tabs of that browser and no others. One that is not
bound stays, site by site, in the named browser in which it has begun.`,
		Example: `  tabhub browser`,
		Args:    noCommand,
	}
	asJSON := jsonFlag(cmd)
	list := func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/browser", nil, *asJSON, a.printBrowsers)
	}
	cmd.RunE = list
	sub := &cobra.Command{Use: "list", Short: "List the browsers, with their ids and names", Example: `  tabhub browser list`, Args: args(cobra.NoArgs), RunE: list}
	sub.Flags().BoolVar(asJSON, "json", false, "print JSON")
	cmd.AddCommand(sub, a.nameBrowserCommand(), a.unnameBrowserCommand())
	return cmd
}

func (a *app) nameBrowserCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "name BROWSER NAME",
		Short: "Give a browser a name, by its id or the name that it has",
		Long: `Give a browser a name, by its id or the name that it has. The browser must be connected.
A name has up to 32 of a-z, 0-9 and -.`,
		Example: `  tabhub browser name 1a2b3c4d work
  tabhub browser name work office`,
		Args: args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			if err := policy.CheckBrowser(pos[1]); err != nil {
				return &usageError{err}
			}
			r, err := a.remote()
			if err != nil {
				return err
			}
			_, err = r.do(cmd.Context(), http.MethodPut, "/api/browser", httpd.BrowserName{Browser: pos[0], Name: pos[1]})
			return err
		},
	}
}

func (a *app) unnameBrowserCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unname NAME",
		Short:   "Take its name from a browser; clients that are bound to it have none then",
		Example: `  tabhub browser unname work`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			r, err := a.remote()
			if err != nil {
				return err
			}
			_, err = r.do(cmd.Context(), http.MethodDelete, "/api/browser?name="+url.QueryEscape(pos[0]), nil)
			return err
		},
	}
}

func (a *app) printBrowsers(list []httpd.BrowserReport) error {
	if len(list) == 0 {
		a.note("no browser has joined; `tabhub extension DIR` writes the extension for one")
		return nil
	}
	t := a.table("ID", "NAME", "BROWSER", "STATE", "TABS", "BOUND TO IT")
	for _, b := range list {
		state, tabs := "away", any("")
		if b.Connected {
			state, tabs = "connected", b.Tabs
		}
		if b.Missing {
			state = "nobody has this name"
		} else if !b.Connected && !b.LastSeen.IsZero() {
			state += " since " + b.LastSeen.Local().Format(time.DateTime)
		}
		t.Row(cmp.Or(b.ID, "-"), cmp.Or(b.Name, "-"), cmp.Or(b.Browser, "-"), state, tabs, cmp.Or(strings.Join(b.Clients, ", "), "-"))
	}
	return t.Print()
}
