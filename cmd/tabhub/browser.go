package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
	"tabhub/tabtransport/pairing"
)

// browsersFlag is the flag of a command that binds a client to browsers.
func browsersFlag(f *pflag.FlagSet, browsers *[]string) {
	f.StringSliceVar(browsers, "browser", nil, "the only browsers that there are for the client, by the `name`s of tabhub browser (default: all)")
}

func browserCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "List, name, pair and forget browsers",
		Long: `List browsers, with their ids and names; name, pair and forget them. Each profile of a
browser is one of its own, with its own logins.

A client that is bound to a browser by its name (tabhub stdio --browser, tabhub token mint
--browser, tabhub policy bind) has the tabs of that browser and no others. One that is not
bound stays, site by site, in the named browser in which it has begun.`,
		Example: `  tabhub browser`,
		Args:    noCommand,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/browser", nil, *asJSON, printBrowsers)
	}
	name := &cobra.Command{
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
			return a.send(cmd.Context(), http.MethodPut, "/api/browser", admin.BrowserName{Browser: pos[0], Name: pos[1]})
		},
	}
	unname := &cobra.Command{
		Use:     "unname NAME",
		Short:   "Take its name from a browser; clients that are bound to it have none then",
		Example: `  tabhub browser unname work`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			return a.send(cmd.Context(), http.MethodDelete, "/api/browser?name="+url.QueryEscape(pos[0]), nil)
		},
	}
	cmd.AddCommand(name, unname, pairCommand(a), forgetCommand(a))
	return cmd
}

func pairCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Pair a browser that has the extension from elsewhere",
		Long: `Pair a browser that has the extension from elsewhere with the hub that runs.

It opens a page of the hub whose address holds a secret that is good once, for five
minutes; in a browser on another machine, open or paste the address yourself. The
extension asks you in a window of its own and must show the code that is printed here.

An extension that "tabhub extension DIR" has written needs none of this.`,
		Example: `  tabhub browser pair`,
		Args:    args(cobra.NoArgs),
	}
	printOnly := cmd.Flags().Bool("print", false, "print the address and do not open a browser")
	asJSON := cmd.Flags().Bool("json", false, "print JSON; open no browser, and do not wait")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return pairBrowser(cmd.Context(), a, *printOnly, *asJSON) }
	return cmd
}

// pair makes an invitation and waits until a browser has accepted it.
func pairBrowser(ctx context.Context, a *app, printOnly, asJSON bool) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	b, err := r.do(ctx, http.MethodPost, "/api/pair", nil)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(b)
	}
	var invitation admin.PairingInvitation
	if err := decode(b, &invitation); err != nil {
		return err
	}
	how := "Open this address"
	if !printOnly && a.onTerminal() && openPage(a, invitation.Link) == nil {
		how = "Your browser opens a page. If it is not the one with the extension, open this address"
	}
	fmt.Fprintf(a.out, "%s in the browser that has the extension, or paste it into the extension's settings:\n\n  %s\n\nThe extension asks you, and must show this code:  %s\n\n", how, invitation.Link, invitation.Code)
	a.note("waiting until %s…", invitation.Until.Local().Format("15:04:05"))
	var p pairing.Pairing
	if err := r.call(ctx, http.MethodGet, "/api/pair/wait?id="+url.QueryEscape(string(invitation.Pairing)), nil, &p); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Paired with %s.\n", nameOf(p))
	return nil
}

func forgetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget [ID|all]",
		Short: "List the browsers that are paired, or end the pairing of one, which is cut off",
		Example: `  tabhub browser forget
  tabhub browser forget all`,
		Args: args(cobra.MaximumNArgs(1)),
	}
	asJSON := cmd.Flags().Bool("json", false, "print the list as JSON")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		switch {
		case len(pos) == 0:
			return show(cmd.Context(), a, "/api/pair", nil, *asJSON, printPairings)
		case pos[0] == "": // of a script, whose variable is empty
			return usagef("the ID is empty; `tabhub browser forget` shows those that there are")
		case *asJSON:
			return usagef("--json is for the list; leave %s out", pos[0])
		}
		if err := a.send(cmd.Context(), http.MethodDelete, "/api/pair?id="+url.QueryEscape(pos[0]), nil); err != nil {
			return err
		}
		which := "forgotten"
		if pos[0] == "all" {
			which = "all are forgotten, those of extensions that were never used as well"
		}
		a.note("%s; to come back, an extension is written again with `tabhub extension DIR`, or paired with `tabhub browser pair`", which)
		return nil
	}
	return cmd
}

func printPairings(a *app, list []pairing.Pairing) error {
	if len(list) == 0 {
		a.note("no browser is paired; `tabhub extension DIR` writes an extension that is")
		return nil
	}
	t := a.table("ID", "BROWSER", "HOW", "SINCE")
	for _, p := range list {
		how := "by tabhub browser pair"
		if p.Kind == pairing.KindCopy {
			how = "by tabhub extension"
		}
		t.Row(p.ID, nameOf(p), how, p.Since.Local().Format(time.DateTime))
	}
	return t.Print()
}

func nameOf(p pairing.Pairing) string { return cmp.Or(p.Browser, "a browser") }

func printBrowsers(a *app, list []admin.BrowserReport) error {
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
