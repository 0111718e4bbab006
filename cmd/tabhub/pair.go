package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"tabhub/hub/httpd"
	"tabhub/tabtransport/pairing"
)

func (a *app) pairCommand() *cobra.Command {
	var list, printOnly, asJSON bool
	var forget string
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Pair a browser that has the extension from elsewhere",
		Long: `Pair a browser that has the extension from elsewhere with the hub that runs.

It opens a page of the hub whose address holds a secret that is good once, for five
minutes; in a browser on another machine, open or paste the address yourself. The
extension asks you in a window of its own and must show the code that is printed here.

An extension that "tabhub extension DIR" has written needs none of this.`,
		Example: `  tabhub pair
  tabhub pair --list
  tabhub pair --forget all`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			forgets := cmd.Flags().Changed("forget")
			switch {
			case list && forgets:
				return usagef("--list and --forget exclude one another")
			case printOnly && (list || forgets):
				return usagef("--print is for pairing; --list and --forget print no address")
			case forgets && forget == "": // of a script, whose variable is empty
				return usagef("--forget needs the id of a pairing, which `tabhub pair --list` shows, or all")
			case forgets && asJSON:
				return usagef("--forget prints no JSON")
			case list:
				return a.listPairings(cmd.Context(), asJSON)
			case forgets:
				return a.forgetPairing(cmd.Context(), forget)
			}
			return a.pair(cmd.Context(), printOnly, asJSON)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the browsers that are paired")
	cmd.Flags().StringVar(&forget, "forget", "", "end the pairing with this `id`, or all; its browser is cut off")
	cmd.Flags().BoolVar(&printOnly, "print", false, "print the address and do not open a browser")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; open no browser, and do not wait")
	return cmd
}

// pair makes an invitation and waits until a browser has accepted it.
func (a *app) pair(ctx context.Context, printOnly, asJSON bool) error {
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
	var invitation httpd.PairingInvitation
	if err := decode(b, &invitation); err != nil {
		return err
	}
	how := "Open this address"
	if !printOnly && a.onTerminal() {
		if done, err := a.open(invitation.Link); err == nil {
			defer done()
			how = "Your browser opens a page. If it is not the one with the extension, open this address"
		}
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

// open opens an address in the user's browser. The address holds a secret, and the
// command line of a process can be read by everybody, so the browser is given a file that
// leads there. done deletes it.
func (a *app) open(link string) (done func(), err error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(string(dir), "pair-*.html") // 0600
	if err != nil {
		return nil, err
	}
	done = func() { os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><title>tabhub</title><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", html.EscapeString(link))
	err = errors.Join(err, f.Close())
	cmd := opener(f.Name())
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, cmd.Process.Release()
}

// opener is the system's command that opens a file with the program that is for it. It may
// become that program, and end with it.
func opener(path string) *exec.Cmd {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", path)
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", path)
	}
	return exec.Command("xdg-open", path)
}

func (a *app) listPairings(ctx context.Context, asJSON bool) error {
	return show(ctx, a, "/api/pair", nil, asJSON, func(list []pairing.Pairing) error {
		if len(list) == 0 {
			a.note("no browser is paired; `tabhub extension DIR` writes an extension that is")
			return nil
		}
		t := a.table("ID", "BROWSER", "HOW", "SINCE")
		for _, p := range list {
			how := "by tabhub pair"
			if p.Kind == pairing.KindCopy {
				how = "by tabhub extension"
			}
			t.Row(p.ID, nameOf(p), how, p.Since.Local().Format(time.DateTime))
		}
		return t.Print()
	})
}

func (a *app) forgetPairing(ctx context.Context, id string) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	if _, err := r.do(ctx, http.MethodDelete, "/api/pair?id="+url.QueryEscape(id), nil); err != nil {
		return err
	}
	if id == "all" {
		a.note("all are forgotten, those of extensions that were never used as well; to come back, an extension is written again with `tabhub extension DIR`, or paired with `tabhub pair`")
		return nil
	}
	a.note("forgotten; to come back, the extension is written again with `tabhub extension DIR`, or paired with `tabhub pair`")
	return nil
}

func nameOf(p pairing.Pairing) string { return cmp.Or(p.Browser, "a browser") }
