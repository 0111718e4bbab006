package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/trust/policy"
	"tabhub/storage/private"
)

func StdioCommand(a *command.App) *cobra.Command {
	var standalone bool
	var browsers []string
	c := settings.New()
	cmd := &cobra.Command{
		Use:   "stdio",
		Short: "Serve an MCP client on stdin and stdout",
		Long: `Serve an MCP client on stdin and stdout. This is what goes into a client's
configuration.

It is a thin bridge to the hub. If none runs, it starts one in the background, with
the flags given here; that one ends by itself 15 minutes after its last client.`,
		Example: `  tabhub stdio
  tabhub stdio --standalone --expose all`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := bridge.WatchParent(cmd.Context())
			defer cancel()
			if err := c.Load(a, cmd.Flags()); err != nil {
				return refuse(ctx, a, err)
			}
			dir, err := a.Dir()
			if err != nil {
				return refuse(ctx, a, err)
			}
			if terminal.Is(a.In) {
				a.Note("This is for an MCP client, which starts it by itself: `%s` puts it into the client's configuration. To look at the hub in a terminal, run `%s` or `%s`. It reads JSON-RPC from you now, a message a line; Ctrl+C ends it.",
					a.Tabhub("install", "CLIENT"), a.Tabhub("serve"), a.Tabhub("status"))
			}
			if cmd.Flags().Changed("browser") {
				if err := policy.CheckBrowsers(browsers); err != nil {
					return refuse(ctx, a, command.Usagef("--browser: %w", err))
				}
			}
			if standalone {
				return runStandalone(ctx, a, c, dir, browsers)
			}
			return runBridge(ctx, a, c, dir, strings.Join(browsers, ","))
		},
	}
	cmd.Flags().BoolVar(&standalone, "standalone", false, "run the hub inside this process")
	c.AddFlags(cmd.Flags())
	command.BrowsersFlag(cmd.Flags(), &browsers)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return refuse(cmd.Context(), a, cmd.Root().FlagErrorFunc()(cmd, err))
	})
	return cmd
}

// runBridge pipes the client to the hub.
func runBridge(ctx context.Context, a *command.App, config *settings.Config, dir home.Dir, browsers string) error {
	log := config.Logger(a)
	var session [16]byte
	rand.Read(session[:]) // never fails
	own := build.This()
	token, err := setup.EntryToken(a.Env)
	if err != nil {
		return refuse(ctx, a, err)
	}
	c := bridge.Connector{
		Dir: dir, Version: build.Version(), Program: own.Path, Built: own.Built, Token: token, Browsers: browsers,
		Session: hex.EncodeToString(session[:]), Began: time.Now(), Log: log,
	}
	c.Start = func(ctx context.Context) error {
		program := own.Path // where the last update is, and this file may be no more
		if program == "" {
			program, _ = build.Executable()
		}
		args := append([]string{"serve", "--auto", "--data-dir", string(dir)}, serviceFlags(ctx, a, config, dir)...)
		further, env := config.ForHub(a.ConfigFile, false)
		args = append(args, further...)
		log.Info("starting a hub", "log", dir.LogFile())
		note, err := bridge.Detached(ctx, dir, program, args, env)
		if note != "" {
			log.Warn(note)
		}
		return err
	}
	connect := func(ctx context.Context) (net.Conn, error) {
		conn, err := c.Connect(ctx)
		return conn, private.Explain(err)
	}
	return bridge.Run(ctx, bridge.Options{In: pollable(a.In, a.Stdout, a.Stderr), Out: a.Stdout, Connect: connect, Log: log})
}

// refuse tells the client why it cannot be served, and returns why: hosts show what
// they are answered, not what is on stderr. A person sees the latter.
func refuse(ctx context.Context, a *command.App, why error) error {
	why = private.Explain(why)
	if terminal.Is(a.In) {
		return why
	}
	_ = bridge.Run(ctx, bridge.Options{
		In: pollable(a.In, a.Stdout, a.Stderr), Out: a.Stdout,
		Connect: func(context.Context) (net.Conn, error) { return nil, why },
	}) // it is why, or that the client has gone
	return why
}

// runStandalone serves the client from a hub in this process, which ends with it.
func runStandalone(ctx context.Context, a *command.App, c *settings.Config, dir home.Dir, browsers []string) error {
	log := c.Logger(a)
	c.IdleExit = 0 // the client is one that the hub does not count
	p, err := Start(ctx, Options{App: a, Config: c, Dir: dir, Log: log, fallback: len(c.Listen) == 0})
	if err != nil {
		return refuse(ctx, a, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		p.wait(ctx)
		cancel()
	}()
	err = serveAlone(ctx, a, p, browsers)
	if e := p.Close("stop"); e != nil {
		log.Warn("not all went well at the end", "err", e)
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// serveAlone serves the client from the hub of this process.
func serveAlone(ctx context.Context, a *command.App, p *Process, browsers []string) error {
	token, err := setup.EntryToken(a.Env)
	if err != nil {
		return refuse(ctx, a, err)
	}
	id, err := p.Identify(token)
	if err != nil {
		return refuse(ctx, a, err)
	}
	id.Bound = browsers
	t, err := p.Tenants.Get(ctx, id.User)
	if err != nil {
		return err
	}
	ctx, cancel := id.Context(methods.WithIdentity(ctx, &id))
	defer cancel()
	return t.MCP.ServeStream(ctx, pollable(a.In, a.Stdout, a.Stderr), a.Stdout)
}

// serviceFlags returns the flags of the hub that the system is to run in a data directory, but for
// those of settings that the command line sets here. One that a client starts in its place, as after
// a crash or `tabhub stop`, gets them, too: it has no other policy.
func serviceFlags(ctx context.Context, a *command.App, c *settings.Config, dir home.Dir) []string {
	is, err := setup.Starter(a).State(ctx)
	if err != nil || is.Entry.DataDir != string(dir) {
		return nil // `tabhub doctor` says what is wrong
	}
	return setup.HubFlags(is.Entry, func(name string) bool {
		s := c.Named(name)
		return s != nil && s.From != "" && !strings.HasPrefix(s.From, c.Read+":")
	})
}
