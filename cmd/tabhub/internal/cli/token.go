package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/trust/policy"
)

func TokenCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "Print the hub's own token; see its commands for those of clients",
		Example: `  tabhub token`,
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.Dir()
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
			fmt.Fprintln(a.Stdout, token)
			return nil
		},
	}
	cmd.AddCommand(mintCommand(a), listTokensCommand(a), revokeCommand(a), &cobra.Command{
		Use:     "rotate",
		Short:   "Replace the hub's token, and end connections that showed the old one",
		Example: `  tabhub token rotate`,
		Args:    command.Args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return rotateToken(cmd.Context(), a) },
	})
	return cmd
}

// rotateToken has the hub replace the token, or does so if none runs.
func rotateToken(ctx context.Context, a *command.App) error {
	dir, err := a.Dir()
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
		err = a.Send(ctx, http.MethodPost, "/api/token", nil)
	}
	if err != nil {
		return err
	}
	a.Note("the token is replaced; `tabhub token` prints it. Clients over HTTP must be told, `tabhub stdio` needs none.")
	return nil
}

func listTokensCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the clients that have credentials of their own",
		Example: `  tabhub token list`,
		Args:    command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithClients(a, func(all command.ClientStore) error {
			list, err := all.List(cmd.Context())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return a.PrintValue(list)
			case len(list) == 0:
				a.Note("no client has a credential of its own; `tabhub install` and `tabhub token mint` make them")
				return nil
			}
			t := a.Table("NAME", "KIND", "MAY", "MADE", "LAST USED", "EXPIRES", "ID")
			for _, c := range list {
				t.Row(c.Name, c.Kind, scopeText(c.Scope), date(c.Made), date(c.LastUsed), date(c.Expires), c.ID)
			}
			return t.Print()
		})
	}
	return cmd
}

// scopeText says for people what a client is good for.
func scopeText(s *policy.Scope) string {
	if s == nil {
		return "all"
	}
	var parts []string
	for _, class := range s.Classes {
		parts = append(parts, class.String())
	}
	for _, name := range s.Browsers {
		parts = append(parts, "in "+name)
	}
	return strings.Join(slices.Concat(parts, s.Sites, s.Tools), ", ")
}

func date(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}

func revokeCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke CLIENT",
		Short:   "End a client's credential, by its name or ID, and connections that showed it",
		Example: `  tabhub token revoke notes`,
		Args:    command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			return command.WithClients(a, func(all command.ClientStore) error {
				gone, err := all.Revoke(cmd.Context(), pos[0])
				if err != nil {
					return err
				}
				a.Note("the credential of %s is revoked; `tabhub install` and `tabhub token mint` make others", gone.Name)
				return nil
			})
		},
	}
}
