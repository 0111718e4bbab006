package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/face/admin"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
)

func ExtensionCommand(a *command.App) *cobra.Command {
	var address string
	var trusted bool
	cmd := &cobra.Command{
		Use:   "extension DIR",
		Short: "Write the browser extension to a directory, for \"Load unpacked\"",
		Long: `Write the browser extension to a directory, for "Load unpacked".

The copy is paired with your hub: it has a secret by which each knows the other, so keep
the directory to yourself. There is nothing to do in the browser but to load it. Running
the command again brings it up to date, also for a hub that has moved to another address;
reload the extension in chrome://extensions then.

With --trusted-input it is the build that acts on pages with input that they cannot tell
from yours, for those that take no other. It has the permission to debug your browser,
which shows a bar while a client acts.

A browser on another machine, or one with the extension from elsewhere, is paired with
"tabhub browser pair".`,
		Example: `  tabhub extension ~/tabhub-extension
  tabhub extension ~/tabhub-extension --trusted-input`,
		Args: command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			return writeExtension(cmd.Context(), a, pos[0], address, trusted)
		},
	}
	cmd.Flags().StringVar(&address, "hub", "", "`address` where the extension looks for the hub (default: that of the hub that runs, or ws://"+settings.DefaultListen+"/tabs)")
	cmd.Flags().BoolVar(&trusted, "trusted-input", false, "write the build that acts with input that pages cannot tell from yours")
	return cmd
}

func writeExtension(ctx context.Context, a *command.App, path, address string, trusted bool) error {
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	if address == "" {
		address = hubAddress(dir)
	} else if u, err := url.Parse(address); err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return command.Usagef("--hub %q is not the address of a hub; write it as ws://%s/tabs", address, settings.DefaultListen)
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	ring, err := issuer(ctx, a, dir, path, address)
	if err != nil {
		return err
	}
	write, is := extension.Write, "The extension is"
	if trusted {
		write, is = extension.WriteTrustedInput, "The extension with trusted input is"
	}
	if _, err := write(path, ring, address); err != nil {
		return err
	}
	if err := dir.AddExtension(path); err != nil {
		fmt.Fprintf(a.Err, "`tabhub doctor` will not check it: %v\n", err)
	}
	page := "chrome://extensions"
	if found := instance.FindInstalled(); len(found) > 0 {
		page = found[0].Extensions
	}
	fmt.Fprintln(a.Out, a.Screen().Text(terminal.Plain, fmt.Sprintf("%s in %s, paired with your hub.\nOpen %s, switch on Developer mode, choose \"Load unpacked\" and this directory.", is, path, page)))
	return nil
}

// hubAddress returns the address where an extension finds the hub that runs, or the next one.
func hubAddress(dir home.Dir) string {
	base := "http://" + settings.DefaultListen
	if h, err := dir.Running(); err == nil {
		base = h.URL()
	}
	return "ws" + strings.TrimPrefix(base, "http") + "/tabs"
}

// issuer returns the Issuer that pairs the copy of the extension at path with the hub: the hub that
// runs, or this program, even before a hub has run for the first time.
func issuer(ctx context.Context, a *command.App, dir home.Dir, path, address string) (extension.Issuer, error) {
	if h, err := dir.Running(); err == nil {
		r, err := a.RemoteOf(dir, h)
		if err != nil {
			return nil, err
		}
		r.Token = ""                      // the copy is the owner's, not the token's
		before, _ := extension.Read(path) // if it has none, or another hub's, the hub issues a new one
		var c pairing.Copy
		err = r.Call(ctx, http.MethodPost, "/api/extension", admin.CopyRequest{Before: before.Pairing, Address: address}, &c)
		return extension.Issued(c), err
	}
	if err := dir.Make(); err != nil {
		return nil, err
	}
	lock, err := dir.TryLock(home.HubLock)
	if errors.Is(err, home.ErrHeld) {
		return nil, fmt.Errorf("a hub is about to start or to end in %s; try again in a moment", dir)
	}
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	return command.OpenRing(dir)
}
