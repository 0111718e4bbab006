package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// minted is a token that was asked for: for a client of the owner's, or for a user of a hub that
// runs with --auth jwt and a secret of its own.
type minted struct {
	*command.App
	name         string // of a client
	sites, tools []string
	browsers     []string
	class        string
	user         string // whose hub it is for
	url, email   string
	secret       string
	expires      command.Age
}

func mintCommand(a *command.App) *cobra.Command {
	m := &minted{App: a}
	cmd := &cobra.Command{
		Use:   "mint --name CLIENT | --user USER",
		Short: "Make a token for a client, or for a user of a hub that runs with --auth jwt",
		Long: `Make a token for an MCP client that reaches the hub over HTTP, and print it. It is good
for MCP alone, and within the bounds that you give; nobody can look it up later.

With --user, make one for a user of a hub that runs with --auth jwt and a secret. The secret,
jwt-issuer and jwt-audience are those of the hub's settings.`,
		Example: `  tabhub token mint --name notes --sites shop.example,*.docs.example --class write --expires 30d
  tabhub token mint --user ann --jwt-secret secret`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case m.name != "" && m.user != "":
				return command.Usagef("--name is for a client and --user for a user; give one of them")
			case m.name != "":
				return m.forClient(cmd.Context())
			case m.user == "":
				return command.Usagef("--name is missing: what the client is called; or --user: whose token it is to be")
			}
			return m.forUser()
		},
	}
	f := cmd.Flags()
	f.StringVar(&m.name, "name", "", "what to call the client")
	f.StringSliceVar(&m.sites, "sites", nil, "the only sites that it may use, such as shop.example or *.example.com (default: all)")
	f.StringSliceVar(&m.tools, "tools", nil, "the only tools that it may use; * in a name stands for any text (default: all)")
	command.BrowsersFlag(f, &m.browsers)
	f.StringVar(&m.class, "class", "", "the most that it may do: read, write, act or destructive (default: destructive)")
	f.StringVar(&m.user, "user", "", "user id; each has a hub of their own")
	f.StringVar(&m.url, "connection-url", "", "endpoint that the user's token is for, as wss://hub.example.com/mcp (default: any)")
	f.StringVar(&m.email, "email", "", "of the user, shown by clients and extensions; shipped extensions need one")
	f.StringVar(&m.secret, "jwt-secret", "", "`file` with the HS256 secret (default: as the hub's settings say)")
	f.Var(&m.expires, "expires", "when the token ends, such as in 12h or 30d (default: a client's never, a user's in "+(*command.Age)(new(auth.DefaultLife)).String()+")")
	return cmd
}

// scope is what a client's token is good for, nil for all.
func (m *minted) scope() (*policy.Scope, error) {
	s := &policy.Scope{Sites: m.sites, Tools: m.tools, Browsers: m.browsers}
	if m.class != "" {
		var class policy.Class
		if err := class.UnmarshalText([]byte(m.class)); err != nil {
			return nil, command.Usagef("--class: %w", err)
		}
		s.Classes = []policy.Class{class}
	}
	if len(s.Sites)+len(s.Tools)+len(s.Browsers)+len(s.Classes) == 0 {
		return nil, nil
	}
	return s, nil
}

func (m *minted) forClient(ctx context.Context) error {
	in := admin.ClientRequest{Name: m.name, Kind: auth.ClientToken}
	var err error
	if in.Scope, err = m.scope(); err != nil {
		return err
	}
	if m.expires > 0 {
		in.Expires = time.Now().Add(time.Duration(m.expires))
	}
	return command.WithClients(m.App, func(all command.ClientStore) error {
		made, err := all.Mint(ctx, in)
		if err != nil {
			return err
		}
		fmt.Fprintln(m.Stdout, made.Token)
		m.Note("this is the token of %s, which nothing shows again; `tabhub token revoke %s` ends it", made.Name, made.ID)
		return nil
	})
}

func (m *minted) forUser() error {
	c := settings.New()
	if err := c.ReadAll(m.App, nil); err != nil {
		return err
	}
	file := cmp.Or(m.secret, c.JwtSecret)
	if file == "" {
		return command.Usagef("--jwt-secret is missing: the file that the hub was started with")
	}
	secret, err := auth.ReadSecret(file)
	if err != nil {
		return command.Usage(err)
	}
	token, err := auth.Mint(secret, auth.Claims{
		User: spec.UserID(m.user), ConnectionURL: m.url, Email: m.email, Life: cmp.Or(time.Duration(m.expires), auth.DefaultLife),
		Issuer: c.JwtIssuer, Audiences: c.JwtAudiences,
	})
	if err != nil {
		return command.Usage(err)
	}
	fmt.Fprintln(m.Stdout, token)
	return nil
}
