package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/hub/auth"
	"tabhub/hub/httpd"
	"tabhub/hub/policy"
	"tabhub/spec"
)

// mintCommand makes tokens: for a client of the owner's, or for a user of a hub that runs
// with --auth jwt and a secret of its own.
func (a *app) mintCommand() *cobra.Command {
	c := new(clientToken)
	u := new(userToken)
	cmd := &cobra.Command{
		Use:   "mint --name CLIENT | --user USER --jwt-secret FILE",
		Short: "Make a token for a client, or for a user of a hub that runs with --auth jwt",
		Long: `Make a token for an MCP client that reaches the hub over HTTP, and print it. It is good
for MCP alone, and within the bounds that you give; nobody can look it up later.

With --user, make one for a user of a hub that runs with --auth jwt and a secret.`,
		Example: `  tabhub token mint --name notes --sites shop.example,*.docs.example --class write --expires 30d
  tabhub token mint --user ann --jwt-secret secret`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case c.name != "" && u.user != "":
				return usagef("--name is for a client and --user for a user; give one of them")
			case c.name != "":
				return a.mintClient(cmd.Context(), c)
			case u.user == "":
				return usagef("--name is missing: what the client is called; or --user: whose token it is to be")
			}
			return a.mintUser(u)
		},
	}
	c.addFlags(cmd)
	u.addFlags(cmd)
	return cmd
}

// clientToken is a client's token that was asked for.
type clientToken struct {
	name         string
	sites, tools []string
	browsers     []string
	class        string
	expires      string
}

func (c *clientToken) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.name, "name", "", "what to call the client")
	f.StringSliceVar(&c.sites, "sites", nil, "the only sites that it may use, such as shop.example or *.example.com (default: all)")
	f.StringSliceVar(&c.tools, "tools", nil, "the only tools that it may use; * in a name stands for any text (default: all)")
	browsersFlag(f, &c.browsers)
	f.StringVar(&c.class, "class", "", "the most that it may do: read, write or destructive (default: destructive)")
	f.StringVar(&c.expires, "expires", "", "when the token ends, such as in 12h or 30d (default: never)")
}

// scope is what the token is good for, nil for all.
func (c *clientToken) scope() (*policy.Scope, error) {
	s := &policy.Scope{Sites: c.sites, Tools: c.tools, Browsers: c.browsers}
	if c.class != "" {
		var class policy.Class
		if err := class.UnmarshalText([]byte(c.class)); err != nil {
			return nil, usagef("--class: %w", err)
		}
		s.Classes = []policy.Class{class}
	}
	if len(s.Sites)+len(s.Tools)+len(s.Browsers)+len(s.Classes) == 0 {
		return nil, nil
	}
	return s, nil
}

// parseLife reads a duration, which may be in days.
func parseLife(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, usagef("--expires is %q; write it as 12h or 30d", s)
}

func (a *app) mintClient(ctx context.Context, c *clientToken) error {
	in := httpd.ClientRequest{Name: c.name, Kind: auth.ClientToken}
	var err error
	if in.Scope, err = c.scope(); err != nil {
		return err
	}
	if c.expires != "" {
		life, err := parseLife(c.expires)
		if err != nil {
			return err
		}
		in.Expires = time.Now().Add(life)
	}
	return a.withClients(func(all clientStore) error {
		made, err := all.mint(ctx, in)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, made.Token)
		a.note("this is the token of %s, which nothing shows again; `tabhub token revoke %s` ends it", made.Name, made.ID)
		return nil
	})
}

// userToken is a user's token that was asked for.
type userToken struct {
	user, url, email, secretFile, issuer string
	audiences                            []string
	life                                 time.Duration
}

func (u *userToken) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&u.user, "user", "", "user id; each has a hub of their own")
	f.StringVar(&u.url, "connection-url", "", "endpoint that the token is for, as wss://hub.example.com/mcp (default: any)")
	f.StringVar(&u.email, "email", "", "shown by clients and extensions; shipped extensions need one")
	f.StringVar(&u.secretFile, "jwt-secret", "", "`file` with the HS256 secret")
	f.StringVar(&u.issuer, "jwt-issuer", "", "issuer (iss), if the hub was started with one")
	f.StringSliceVar(&u.audiences, "jwt-audience", nil, "audience (aud), if the hub was started with one; may be repeated")
	f.DurationVar(&u.life, "life", auth.DefaultLife, "how long the token is valid")
}

func (a *app) mintUser(u *userToken) error {
	switch {
	case u.secretFile == "":
		return usagef("--jwt-secret is missing: the file that the hub was started with")
	case u.life <= 0:
		return usagef("--life must be longer than no time")
	}
	secret, err := auth.ReadSecret(u.secretFile)
	if err != nil {
		return &usageError{err}
	}
	token, err := auth.Mint(secret, auth.Grant{
		User: spec.UserID(u.user), ConnectionURL: u.url, Email: u.email, Life: u.life,
		Issuer: u.issuer, Audiences: u.audiences,
	})
	if err != nil {
		return &usageError{err}
	}
	fmt.Fprintln(a.stdout, token)
	return nil
}
