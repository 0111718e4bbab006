package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
	"tabhub/tabtransport/pairing"
)

func BrowserCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browser",
		Short: "List, name, pair and forget browsers",
		Long: `List browsers, with their ids and names; name, pair and forget them. Each profile of a
browser is one of its own, with its own logins.

A client that is bound to a browser by its name (tabhub stdio --browser, tabhub token mint
--browser, tabhub policy bind) has the tabs of that browser and no others. One that is not
bound stays, site by site, in the named browser in which it has begun.`,
		Example: `  tabhub browser`,
		Args:    command.NoCommand,
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.Show(cmd.Context(), a, "/api/browser", nil, *asJSON, printBrowsers)
	}
	name := &cobra.Command{
		Use:   "name BROWSER NAME",
		Short: "Give a browser a name, by its id or the name that it has",
		Long: `Give a browser a name, by its id or the name that it has. The browser must be connected.
A name has up to 32 of a-z, 0-9 and -.`,
		Example: `  tabhub browser name 1a2b3c4d work
  tabhub browser name work office`,
		Args: command.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			if err := policy.CheckBrowser(pos[1]); err != nil {
				return command.Usage(err)
			}
			return a.Send(cmd.Context(), http.MethodPut, "/api/browser", admin.BrowserName{Browser: pos[0], Name: pos[1]})
		},
	}
	unname := &cobra.Command{
		Use:     "unname NAME",
		Short:   "Take its name from a browser; clients that are bound to it have none then",
		Example: `  tabhub browser unname work`,
		Args:    command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			return a.Send(cmd.Context(), http.MethodDelete, "/api/browser?name="+url.QueryEscape(pos[0]), nil)
		},
	}
	cmd.AddCommand(name, unname, pairCommand(a), forgetCommand(a))
	return cmd
}

func pairCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Pair a browser that has the extension from elsewhere",
		Long: `Pair a browser that has the extension from elsewhere with the hub that runs.

It opens a page of the hub whose address holds a secret that is good once, for five
minutes; in a browser on another machine, open or paste the address yourself. The
extension asks you in a window of its own and must show the code that is printed here.

An extension that "tabhub extension DIR" has written needs none of this.`,
		Example: `  tabhub browser pair`,
		Args:    command.Args(cobra.NoArgs),
	}
	printOnly := cmd.Flags().Bool("print", false, "print the address and do not open a browser")
	asJSON := cmd.Flags().Bool("json", false, "print JSON; open no browser, and do not wait")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return pairBrowser(cmd.Context(), a, *printOnly, *asJSON) }
	return cmd
}

// pairBrowser makes an invitation and waits until a browser has accepted it.
func pairBrowser(ctx context.Context, a *command.App, printOnly, asJSON bool) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	b, err := r.Do(ctx, http.MethodPost, "/api/pair", nil)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(b)
	}
	var invitation admin.PairingInvitation
	if err := command.Decode(b, &invitation); err != nil {
		return err
	}
	how := "Open this address"
	if !printOnly && a.OnTerminal() && openPage(a, invitation.Link) == nil {
		how = "Your browser opens a page. If it is not the one with the extension, open this address"
	}
	fmt.Fprintf(a.Out, "%s in the browser that has the extension, or paste it into the extension's settings:\n\n  %s\n\nThe extension asks you, and must show this code:  %s\n\n", how, invitation.Link, invitation.Code)
	a.Note("waiting until %s…", invitation.Until.Local().Format("15:04:05"))
	var p pairing.Pairing
	if err := r.Call(ctx, http.MethodGet, "/api/pair/wait?id="+url.QueryEscape(string(invitation.Pairing)), nil, &p); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "Paired with %s.\n", command.NameOf(p))
	return nil
}

func forgetCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget [ID|all]",
		Short: "List the browsers that are paired, or end the pairing of one, which is cut off",
		Example: `  tabhub browser forget
  tabhub browser forget all`,
		Args: command.Args(cobra.MaximumNArgs(1)),
	}
	asJSON := cmd.Flags().Bool("json", false, "print the list as JSON")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		switch {
		case len(pos) == 0:
			return command.Show(cmd.Context(), a, "/api/pair", nil, *asJSON, printPairings)
		case pos[0] == "": // of a script, whose variable is empty
			return command.Usagef("the ID is empty; `tabhub browser forget` shows those that there are")
		case *asJSON:
			return command.Usagef("--json is for the list; leave %s out", pos[0])
		}
		if err := a.Send(cmd.Context(), http.MethodDelete, "/api/pair?id="+url.QueryEscape(pos[0]), nil); err != nil {
			return err
		}
		which := "forgotten"
		if pos[0] == "all" {
			which = "all are forgotten, those of extensions that were never used as well"
		}
		a.Note("%s; to come back, an extension is written again with `tabhub extension DIR`, or paired with `tabhub browser pair`", which)
		return nil
	}
	return cmd
}

func printPairings(a *command.App, list []pairing.Pairing) error {
	if len(list) == 0 {
		a.Note("no browser is paired; `tabhub extension DIR` writes an extension that is")
		return nil
	}
	t := a.Table("ID", "BROWSER", "HOW", "SINCE")
	for _, p := range list {
		how := "by tabhub browser pair"
		if p.Kind == pairing.KindCopy {
			how = "by tabhub extension"
		}
		t.Row(p.ID, command.NameOf(p), how, p.Since.Local().Format(time.DateTime))
	}
	return t.Print()
}

func printBrowsers(a *command.App, list []admin.BrowserReport) error {
	if len(list) == 0 {
		a.Note("no browser has joined; `tabhub extension DIR` writes the extension for one")
		return nil
	}
	t := a.Table("ID", "NAME", "BROWSER", "STATE", "TABS", "BOUND TO IT")
	for _, b := range list {
		state, tabs := command.StateCell(command.Away), any("")
		switch {
		case b.Missing:
			state = command.StateCell(command.Missing)
		case b.Connected:
			state, tabs = command.StateCell(command.Connected), b.Tabs
		case !b.LastSeen.IsZero():
			state.Text += " since " + command.ShortTime(b.LastSeen)
		}
		t.Row(cmp.Or(b.ID, "-"), cmp.Or(b.Name, "-"), cmp.Or(b.Browser, "-"), state, tabs, cmp.Or(strings.Join(b.Clients, ", "), "-"))
	}
	return t.Print()
}
