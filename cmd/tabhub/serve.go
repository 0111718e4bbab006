package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/face/httpd"
	"tabhub/storage/private"
)

func serveCommand(a *app) *cobra.Command {
	o := hubOptions{app: a, config: newConfig()}
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
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return serveHub(cmd.Context(), o, cmd.Flags()) },
	}
	o.config.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.auto, "auto", false, "was started by a bridge")
	cmd.Flags().MarkHidden("auto")
	cmd.Flags().BoolVar(&o.service, "service", false, "was started by the operating system")
	cmd.Flags().MarkHidden("service")
	return cmd
}

func serveHub(ctx context.Context, o hubOptions, flags *pflag.FlagSet) error {
	a := o.app
	if o.service {
		if err := logToFile(a); err != nil {
			return err
		}
	}
	err := o.config.load(a, flags)
	o.log = o.config.logger(a)
	o.origin = origin()
	o.fallback = o.auto
	var p *process
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
	signal.Notify(told, stopSignals...)
	defer signal.Stop(told)
	why := p.wait(ctx)
	o.log.Info("stopping", "why", why)
	if why == "upgrade" && p.handsOver() {
		return p.handOver(ctx, told)
	}
	if err := p.close(why); err != nil {
		o.log.Warn("not all went well at the end", "err", err)
	}
	if why == endReplaced {
		return errors.New("another node has taken the name of this one; start it with a node-name of its own (--set node-name=NAME)")
	}
	return nil
}

// logToFile has a hub that the operating system has started log where one does that a bridge
// has: to a file, for the systems that keep no log for it.
func logToFile(a *app) error {
	dir, err := a.dir()
	if err == nil {
		err = dir.Make()
	}
	if err != nil {
		return err
	}
	home.HideConsole()
	log := dir.LogWriter()
	a.stderr, a.err = log, visible{log}
	return nil
}

func start(ctx context.Context, o hubOptions) (_ *process, err error) {
	if o.auto && o.config.named("idle-exit").from == "" {
		o.config.idleExit = defaultIdle
	}
	if o.dir, err = o.app.dir(); err != nil {
		return nil, err
	}
	return startHub(ctx, o)
}

// report tells the bridge that has started this process how it went: it waits for
// one line and the end of the stream.
func report(a *app, p *process, err error) {
	var r bridge.Report
	if err != nil {
		r.Error = private.Explain(err).Error()
	} else {
		r.Note = strings.Join(p.notes, "; ")
	}
	line, _ := json.Marshal(r)
	fmt.Fprintf(a.stdout, "%s\n", line)
	if f, ok := a.stdout.(io.Closer); ok {
		f.Close()
	}
}

// greet tells the person at the terminal how to go on. What is written to a file or
// a pipe lets nobody in.
func greet(p *process) {
	a := p.app
	for _, addr := range p.info.Addrs {
		a.say(slog.LevelInfo, "listening on "+p.config.baseURL(addr))
	}
	if !a.onTerminal() {
		return
	}
	base := p.config.baseURL(p.info.Addrs[0])
	fmt.Fprintf(a.out, "\n  dashboard   %s\n  demo page   %s/demo\n  MCP         %s/mcp\n", p.dashboardWords(base), base, base)
	if _, err := installed(); err != nil {
		fmt.Fprintf(a.out, "\nTo let MCP clients start it, install the command first: go install ./cmd/tabhub\n\n")
		return
	}
	fmt.Fprintf(a.out, "\n`%s` sets up the extension and your MCP clients.\n\n", a.tabhub("setup"))
}

// dashboardWords says where the dashboard is, and how one is signed in there.
func (p *process) dashboardWords(base string) string {
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

// stdioArgs are the arguments with which a client starts a bridge.
func stdioArgs(dataDir string) []string {
	if dataDir == "" {
		return []string{"stdio"}
	}
	if dir, err := home.Abs(dataDir); err == nil {
		dataDir = string(dir)
	}
	return []string{"stdio", "--data-dir", dataDir}
}

// program is a file that tabhub is started from.
type program struct {
	path  string    // "": it does not outlive the process
	built time.Time // when it was written, as of the start of this process
}

// origin returns the file that this process was started from.
func origin() (p program) {
	path, err := installed()
	if err != nil {
		return p
	}
	if fi, err := os.Stat(path); err == nil {
		p = program{path, fi.ModTime()}
	}
	return p
}

// executable returns the path of this program, and whether it will still be there
// tomorrow: `go run` deletes what it has built.
func executable() (path string, lasting bool) {
	path, err := os.Executable()
	if err != nil {
		return "tabhub", false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, !strings.Contains(filepath.ToSlash(path), "/go-build")
}
