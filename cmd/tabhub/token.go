package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
)

func (a *app) tokenCommand() *cobra.Command {
	var asURL bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token that clients send",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			token, err := dir.Token()
			if err != nil {
				return err
			}
			if !asURL {
				fmt.Fprintln(a.stdout, token)
				return nil
			}
			h, err := dir.Running()
			if err != nil {
				return errors.New("no hub is running, so there is no dashboard; start one with `tabhub serve`")
			}
			fmt.Fprintf(a.stdout, "%s/?token=%s\n", h.URL(), token)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asURL, "url", false, "print the dashboard's address with the token")
	cmd.AddCommand(a.mintCommand(), &cobra.Command{
		Use:   "rotate",
		Short: "Replace the token; who came in with the old one is cut off",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.rotateToken(cmd.Context()) },
	})
	return cmd
}

// rotateToken has the hub replace the token, or does so if none runs.
func (a *app) rotateToken(ctx context.Context) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if err := dir.Make(); err != nil {
		return err
	}
	lock, err := dir.TryLock(home.HubLock)
	switch {
	case err == nil:
		defer lock.Unlock()
		_, err = dir.NewToken()
	case errors.Is(err, home.ErrHeld):
		var r *remote
		if r, err = a.remote(); err == nil {
			_, err = r.do(ctx, http.MethodPost, "/api/token", nil)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(a.err, "the token is replaced; `tabhub token` prints it. Clients over HTTP must be told, `tabhub stdio` finds it.")
	return nil
}
