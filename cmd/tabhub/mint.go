package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tabhub/hub/auth"
	"tabhub/spec"
)

// mintCommand makes tokens for the users of a hub that runs with --auth jwt and a
// secret of its own.
func (a *app) mintCommand() *cobra.Command {
	var user, url, email, secretFile, issuer string
	var audiences []string
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "mint --user USER --jwt-secret FILE",
		Short: "Make a token for a user of a hub that runs with --auth jwt",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case user == "":
				return usagef("--user is missing: whose token it is to be")
			case secretFile == "":
				return usagef("--jwt-secret is missing: the file that the hub was started with")
			case life <= 0:
				return usagef("--life must be longer than no time")
			}
			secret, err := auth.ReadSecret(secretFile)
			if err != nil {
				return &usageError{err}
			}
			token, err := auth.Mint(secret, auth.Grant{
				User: spec.UserID(user), ConnectionURL: url, Email: email, Life: life,
				Issuer: issuer, Audiences: audiences,
			})
			if err != nil {
				return &usageError{err}
			}
			fmt.Fprintln(a.stdout, token)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&user, "user", "", "user id; each has a hub of their own")
	f.StringVar(&url, "connection-url", "", "endpoint that the token is for, as wss://hub.example.com/mcp (default: any)")
	f.StringVar(&email, "email", "", "shown by clients and extensions; shipped extensions need one")
	f.StringVar(&secretFile, "jwt-secret", "", "`file` with the HS256 secret")
	f.StringVar(&issuer, "jwt-issuer", "", "issuer (iss), if the hub was started with one")
	f.StringSliceVar(&audiences, "jwt-audience", nil, "audience (aud), if the hub was started with one; may be repeated")
	f.DurationVar(&life, "life", auth.DefaultLife, "how long the token is valid")
	return cmd
}
