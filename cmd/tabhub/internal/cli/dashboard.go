package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"os/exec"

	"github.com/cli/browser"
	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/httpd"
)

func DashboardCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Open the dashboard in your browser",
		Long: `Open the dashboard in your browser, signed in: what is done in your tabs, as it is done,
what waits for your answer, the tabs and their tools, sites, clients, the record.

With --print, print an address instead, which signs in one browser tab, once, for ten minutes.`,
		Example: `  tabhub dashboard
  tabhub dashboard --print`,
		Args: command.Args(cobra.NoArgs),
	}
	printOnly := cmd.Flags().Bool("print", false, "print the address and do not open a browser")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !*printOnly {
			return openDashboard(cmd.Context(), a)
		}
		address, err := signInURL(cmd.Context(), a)
		if err == nil {
			fmt.Fprintln(a.Out, address)
		}
		return err
	}
	return cmd
}

func openDashboard(ctx context.Context, a *command.App) error {
	address, err := signInURL(ctx, a)
	if err != nil {
		return err
	}
	if err := openPage(a, address); err != nil {
		return fmt.Errorf("no browser was opened: %w; `tabhub dashboard --print` prints an address to open, in any browser of this machine", err)
	}
	fmt.Fprintln(a.Err, "The dashboard opens in your browser. If it does not: `tabhub dashboard --print` prints its address.")
	return nil
}

// openPage opens an address in the user's browser. It has a secret in it, so it is in a file that
// only the user reads: everybody on the machine sees the arguments of a process.
func openPage(a *command.App, address string) error {
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	file, err := dir.WriteSignIn(fmt.Appendf(nil, `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=%[1]s">
<title>tabhub</title>
<p><a href="%[1]s">Go on</a>
`, html.EscapeString(address)))
	if err != nil {
		return err
	}
	browser.Stdout, browser.Stderr = a.Err, a.Err
	err = browser.OpenFile(file)
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("this machine has no program that opens one")
	}
	return err
}

// signInURL has the hub make an address that signs one window in to the dashboard.
func signInURL(ctx context.Context, a *command.App) (string, error) {
	r, err := a.Remote()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, command.AnswerTimeout)
	defer cancel()
	var made httpd.SignInReport
	err = r.Call(ctx, http.MethodPost, "/api/signin", nil, &made)
	return made.URL, err
}
