package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/face/httpd"
	"tabhub/storage/private"
)

func ServeCommand(a *command.App) *cobra.Command {
	o := Options{App: a, Config: settings.New()}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the hub",
		Long: `Run the hub in this terminal, until Ctrl-C.

Clients that are configured with "tabhub stdio" start a hub in the background when none
runs, so this command is for looking at the log, for other flags, or for a hub that others
use.`,
		Example: `  tabhub serve --demo
  tabhub serve --policy ask --set log-payloads=true
  tabhub serve --listen 0.0.0.0:3300 --tls-cert cert.pem --tls-key key.pem`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return serveHub(cmd.Context(), o, cmd.Flags()) },
	}
	o.Config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.auto, "auto", false, "was started by a bridge")
	cmd.Flags().MarkHidden("auto")
	cmd.Flags().BoolVar(&o.service, "service", false, "was started by the operating system")
	cmd.Flags().MarkHidden("service")
	return cmd
}

func serveHub(ctx context.Context, o Options, flags *pflag.FlagSet) error {
	a := o.App
	if o.service {
		if err := logToFile(a); err != nil {
			return err
		}
	}
	err := o.Config.Load(a, flags)
	o.Log = o.Config.Logger(a)
	o.origin = build.This()
	o.fallback = o.auto
	var p *Process
	if err == nil {
		p, err = start(ctx, o)
	}
	if o.auto {
		report(a, p, err)
	}
	if o.service && errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil // it waited for another hub to end
	}
	if err != nil {
		return err
	}
	if !o.auto {
		greet(p)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, command.StopSignals...)
	defer signal.Stop(told)
	why := p.wait(ctx)
	o.Log.Info("stopping", "why", why)
	if why == "upgrade" && p.handsOver() {
		return p.handOver(ctx, told)
	}
	if err := p.Close(why); err != nil {
		o.Log.Warn("not all went well at the end", "err", err)
	}
	if why == node.EndReplaced {
		return errors.New("another node has taken the name of this one; start it with a node-name of its own (--set node-name=NAME)")
	}
	return nil
}

// logToFile has a hub that the operating system has started log where one does that a bridge
// has: to a file, for the systems that keep no log for it.
func logToFile(a *command.App) error {
	dir, err := a.Dir()
	if err == nil {
		err = dir.Make()
	}
	if err != nil {
		return err
	}
	home.HideConsole()
	log := dir.LogWriter()
	a.Stderr, a.Err = log, command.Visible{W: log}
	return nil
}

func start(ctx context.Context, o Options) (_ *Process, err error) {
	if o.auto && o.Config.Named("idle-exit").From == "" {
		o.Config.IdleExit = settings.DefaultIdle
	}
	if o.Dir, err = o.App.Dir(); err != nil {
		return nil, err
	}
	return Start(ctx, o)
}

// report tells the bridge that has started this process how it went: it waits for
// one line and the end of the stream.
func report(a *command.App, p *Process, err error) {
	var r bridge.Report
	if err != nil {
		r.Error = private.Explain(err).Error()
	} else {
		r.Note = strings.Join(p.notes, "; ")
	}
	line, _ := json.Marshal(r)
	fmt.Fprintf(a.Stdout, "%s\n", line)
	if f, ok := a.Stdout.(io.Closer); ok {
		f.Close()
	}
}

// greet tells the person at the terminal how to go on. What is written to a file or
// a pipe lets nobody in.
func greet(p *Process) {
	a := p.App
	for _, addr := range p.Info.Addrs {
		a.Say(slog.LevelInfo, "listening on "+p.Config.BaseURL(addr))
	}
	if !a.OnTerminal() {
		return
	}
	base := p.Config.BaseURL(p.Info.Addrs[0])
	fmt.Fprintf(a.Out, "\n  dashboard   %s\n  demo page   %s/demo\n  MCP         %s/mcp\n", p.dashboardWords(base), base, base)
	if _, err := build.Installed(); err != nil {
		fmt.Fprintf(a.Out, "\nTo let MCP clients start it, install the command first: go install ./cmd/tabhub\n\n")
		return
	}
	fmt.Fprintf(a.Out, "\n`%s` sets up the extension and your MCP clients.\n\n", a.Tabhub("setup"))
}

// dashboardWords says where the dashboard is, and how one is signed in there.
func (p *Process) dashboardWords(base string) string {
	const indent = "\n              "
	if p.token == nil {
		return base + "/"
	}
	if p.node != nil { // where the user's hub is not, or not yet: only that would take a code of its own
		return base + "/" + indent + "(`tabhub dashboard` opens it, signed in)"
	}
	url, err := p.server.SignInURL(p.token.Identity())
	if err != nil {
		return base + "/"
	}
	return url + fmt.Sprintf(indent+"(good once, for %d minutes; `tabhub dashboard` opens it at any time)", int(httpd.SignInLife.Minutes()))
}
