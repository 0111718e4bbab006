package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/httpd"
)

func (a *app) tokenCommand() *cobra.Command {
	var asURL bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token that clients send",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asURL {
				return a.printSignIn(cmd.Context())
			}
			dir, err := a.dir()
			if err != nil {
				return err
			}
			token, err := dir.Token()
			if err == nil {
				// One that others have put there would let them in wherever it is used.
				err = dir.CheckPrivate()
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, token)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asURL, "url", false, "print an address that signs one browser tab in to the dashboard")
	cmd.AddCommand(a.mintCommand(), &cobra.Command{
		Use:   "rotate",
		Short: "Replace the token; who came in with the old one is cut off",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.rotateToken(cmd.Context()) },
	})
	return cmd
}

// printSignIn has the hub make an address of the dashboard, and prints it.
func (a *app) printSignIn(ctx context.Context) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var made httpd.SignInReport
	if err := r.call(ctx, http.MethodPost, "/api/signin", nil, &made); err != nil {
		return err
	}
	fmt.Fprintln(a.out, made.URL)
	return nil
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
	fmt.Fprintln(a.err, "the token is replaced; `tabhub token` prints it. Clients over HTTP must be told, `tabhub stdio` needs none.")
	return nil
}
