package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/autostart"
	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/shell"
)

// autostartWait is how long the system may take to start the hub, and autostartLook the time
// between two looks.
const (
	autostartWait = 15 * time.Second
	autostartLook = 50 * time.Millisecond
)

func AutostartCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "autostart",
		Short: "Have the hub run whenever you are logged in, or say whether it does",
		Long: `Have the hub run whenever you are logged in, or say whether it does: systemd, launchd or
Windows' Task Scheduler starts it, and starts it again when it fails. Without this the first
client starts it, and it ends 15 minutes after the last one.

The system starts one hub for you. It logs to hub.log in its data directory, takes the
place of a hub that a client has started, and waits for one that you have started to end.`,
		Example: `  tabhub autostart`,
		Args:    command.NoCommand,
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return printAutostart(cmd.Context(), a, *asJSON) }
	cmd.AddCommand(autostartOnCommand(a), autostartOffCommand(a))
	return cmd
}

// Starter returns the system that starts programs for the user of this process.
func Starter(a *command.App) *autostart.System {
	return &autostart.System{OS: runtime.GOOS, Env: a.Env, Run: autostart.Run}
}

func autostartOnCommand(a *command.App) *cobra.Command {
	c := settings.New()
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Start the hub now, and at each login",
		Long: `Start the hub now, and at each login, with the flags given here and what the environment
sets. Once more with others replaces them. The configuration file is read at each start.`,
		Example: `  tabhub autostart on
  tabhub autostart on --policy ask --set log-payloads=true`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := build.Installed()
			if err != nil {
				return err
			}
			return autostartOn(cmd.Context(), a, program, c, cmd.Flags())
		},
	}
	c.AddFlags(cmd.Flags())
	return cmd
}

// autostartOn has the system start a program as the hub, with what the command line and the
// environment set.
func autostartOn(ctx context.Context, a *command.App, program string, c *settings.Config, flags *pflag.FlagSet) error {
	if err := c.Load(a, flags); err != nil {
		return err
	}
	if from := c.Named("cluster").From; (strings.HasPrefix(from, "-") || strings.HasPrefix(from, "$")) && c.Cluster.HasPassword() {
		return command.Usagef("cluster has a password, which would stand in the file that starts the hub; write it into the configuration file, or put it into a file with credentials for NATS, and set that as cluster-creds")
	}
	if err := checkHome(a); err != nil {
		return err
	}
	dir, err := a.Dir()
	if err == nil {
		err = dir.Make()
	}
	if err != nil {
		return err
	}
	was, err := Starter(a).State(ctx)
	if err == nil {
		err = endTask(ctx, a, was)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	given, _ := c.ForHub(a.ConfigFile, true)
	state, err := Starter(a).On(ctx, autostart.Entry{
		Program: program, Args: append([]string{"serve", "--service", "--data-dir=" + string(dir)}, given...),
		DataDir: string(dir), LogFile: dir.LogFile(),
	})
	if errors.Is(err, autostart.ErrNone) {
		return err
	}
	if err != nil {
		return fmt.Errorf("the hub is not started at login: %w", err)
	}
	if state.How == "the desktop" {
		a.Note("There is no systemd of yours, so the desktop starts the hub at the next login, and nothing starts it again if it fails: %s", state.File)
		return nil
	}
	a.Note("%s starts the hub from now on when you log in; `tabhub autostart off` undoes it.", state.How)
	if state.How == "systemd" {
		a.Note("`loginctl enable-linger` has it run while you are not logged in, too.")
	}
	return awaitService(ctx, a, dir, began)
}

// HubFlags returns the flags of the hub that the system starts, without some.
func HubFlags(e autostart.Entry, without func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(e.Args), func(arg string) bool {
		name, ok := strings.CutPrefix(arg, "--set=")
		if !ok {
			name, ok = strings.CutPrefix(arg, "--")
		}
		name, _, _ = strings.Cut(name, "=")
		return !ok || name == "service" || name == "data-dir" || without(name)
	})
}

// awaitService waits until a hub runs that has started since then, and prints its address.
func awaitService(ctx context.Context, a *command.App, dir home.Dir, since time.Time) error {
	for late := time.Now().Add(autostartWait); time.Now().Before(late); {
		h, err := dir.Running()
		switch {
		case err == nil && h.Started.After(since):
			a.Note("It runs: %s", h.URL())
			return nil
		case err == nil && !h.Auto:
			a.Note("Another hub runs (process %d); this one begins when that has ended.", h.PID)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(autostartLook):
		}
	}
	return fmt.Errorf("the hub does not run after %s; %s may say why", autostartWait, dir.LogFile())
}

func autostartOffCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "off",
		Short:   "End the hub that the system has started, and start it at no login",
		Example: `  tabhub autostart off`,
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := Starter(a)
			was, err := s.State(cmd.Context())
			if err != nil {
				return err
			}
			if !was.On {
				a.Note("the system does not start the hub; nothing to do")
				return nil
			}
			if err := endTask(cmd.Context(), a, was); err != nil {
				return err
			}
			if was, err = s.Off(cmd.Context()); err != nil {
				return err
			}
			a.Note("%s no longer starts the hub; the first client does.", was.How)
			return nil
		},
	}
}

// endTask ends the hub of a Windows task. Otherwise the system would not replace it, or would end it
// with its calls in flight. Other systems ask the hub themselves.
func endTask(ctx context.Context, a *command.App, was autostart.State) error {
	dir := home.Dir(was.Entry.DataDir)
	if was.How != "Task Scheduler" || !dir.Held(home.HubLock) {
		return nil
	}
	of := *a
	of.DataDir = string(dir)
	return command.Stop(ctx, &of, dir, command.StopAsk, command.StopWait)
}

// printAutostart prints whether the system starts the hub, and how.
func printAutostart(ctx context.Context, a *command.App, asJSON bool) error {
	is, err := Starter(a).State(ctx)
	if err != nil {
		return err
	}
	e := is.Entry
	running := is.On && home.Dir(e.DataDir).Held(home.HubLock) // any hub, even one that the system did not start
	switch {
	case asJSON:
		return a.PrintValue(struct {
			On      bool   `json:"on"`
			How     string `json:"how,omitempty"`
			File    string `json:"file,omitempty"`
			Running bool   `json:"running"`
			autostart.Entry
		}{is.On, is.How, is.File, running, e})
	case !is.On:
		a.Note("The system does not start the hub; the first client does. `tabhub autostart on` changes that.")
		return nil
	}
	t := a.Table()
	t.Row("autostart", "on, by "+is.How)
	if is.File != "" {
		t.Row("file", is.File)
	}
	if e.Program == "" {
		t.Row(command.StateCell("problem"), "tabhub did not write this, or it has been changed; `tabhub autostart on` writes it again")
		return t.Print()
	}
	t.Row("starts", shell.Here(append([]string{e.Program}, e.Args...)...))
	t.Row("hub runs", map[bool]string{true: "yes; " + shell.Here("tabhub", "status", "--data-dir", e.DataDir) + " says more", false: "no"}[running])
	t.Row("log", e.LogFile)
	return t.Print()
}

// autostart checks that the system can still start the hub at login, if it is to do so.
func (d *Doctor) autostart(ctx context.Context) {
	const check = "autostart"
	is, err := Starter(d.App).State(ctx)
	e := is.Entry
	words := append([]string{"tabhub", "autostart", "on"}, HubFlags(e, func(string) bool { return false })...)
	if usual, err := home.Default(d.Env); err != nil || e.DataDir != string(usual) {
		words = append(words, "--data-dir", e.DataDir)
	}
	again := shell.Here(words...)
	switch {
	case err != nil:
		d.bad(check, "make it readable for you", "%v", err)
		return
	case !is.On:
		return
	case e.Program == "":
		d.note(check, "", "%s starts a hub by %s, which tabhub has not written", is.How, is.File)
		return
	}
	own, _ := build.Installed()
	_, missing := os.Stat(e.Program)
	switch {
	case missing != nil:
		d.bad(check, again, "%s starts a program that is gone: %v", is.How, missing)
	case !home.Dir(e.DataDir).Held(home.HubLock):
		say := d.bad
		if is.How == "the desktop" {
			say = d.note // it starts the hub at the next login
		}
		say(check, again, "%s is to run the hub, but none runs in %s; %s may say why", is.How, e.DataDir, e.LogFile)
	case own != "" && !bridge.SameFile(own, e.Program):
		d.note(check, again, "%s starts %s, which is not this program", is.How, e.Program)
	case e.DataDir != string(d.Dir):
		d.note(check, "", "%s runs a hub in %s, which is not the directory of this check", is.How, e.DataDir)
	default:
		d.fine(check, "%s starts the hub at login", is.How)
	}
}
