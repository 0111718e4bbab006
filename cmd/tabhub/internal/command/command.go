package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/describe"
)

// Exit codes.
const (
	ExitOK    = 0
	ExitError = 1 // it could not be done
	ExitUsage = 2 // a mistake in the command line or the settings
)

// UsageError is a mistake in the command line or the settings.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }

// Verdict is the error of a command whose exit code says what it has found.
type Verdict struct {
	Code int
	Text string
}

func (v *Verdict) Error() string { return v.Text }

// Usage returns err as a UsageError.
func Usage(err error) error { return &UsageError{err} }

func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// App is one run of the command.
//
// What people read goes to out and err, on which text of pages, clients and files can
// do nothing to a terminal. stdout and stderr are what these write to; they are for
// what a program reads byte by byte: MCP, the report to a bridge, a token.
type App struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Stdout io.Writer
	Stderr io.Writer
	Env    func(string) string

	DataDir    string       // of --data-dir; "": the system's place for data
	ConfigFile string       // of --config; "": that of the data directory
	JSONLog    *slog.Logger // where the settings have the log written as JSON, else nil
}

// Alone is a program that is told nothing of what this one is told by the environment, and
// whose words are no part of what this one prints.
func (a *App) Alone() *App {
	return &App{In: a.In, Out: a.Err, Err: a.Err, Stdout: a.Stderr, Stderr: a.Stderr, Env: func(string) string { return "" }}
}

// renamed has what the commands are now that were others once.
var renamed = map[string]string{
	"resources": "tools resources", "prompts": "tools prompts", "read": "call URI", "prompt": "call NAME [KEY=VALUE...]",
	"watch": "calls --follow", "cancel": "calls cancel ID",
	"uninstall": "install CLIENT --remove", "lease": "tabs held", "pair": "browser pair",
}

func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if now, ok := renamed[args[0]]; ok && !cmd.HasParent() {
		return Usagef("there is no command %q any more; it is `tabhub %s` now", args[0], now)
	}
	err := fmt.Sprintf("there is no command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		err += "; `tabhub --help` lists them"
	}
	return Usagef("%s", err)
}

// Args wraps a check of positional arguments, whose failure is one of usage.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return Usagef("%w; it is used as `%s`", err, cmd.UseLine())
		}
		return nil
	}
}

// EnvName is the variable of the environment that sets a flag or a setting.
func EnvName(name string) string {
	return "TABHUB_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// FromEnv sets the flags of all commands that the command line did not set from the environment.
func (a *App) FromEnv(cmd *cobra.Command) {
	for _, to := range []struct {
		name string
		path *string
	}{{"data-dir", &a.DataDir}, {"config", &a.ConfigFile}} {
		if f := cmd.Flags().Lookup(to.name); f != nil && !f.Changed {
			*to.path = a.Env(EnvName(to.name))
		}
	}
}

// Dir returns the data directory, which may not exist yet.
func (a *App) Dir() (home.Dir, error) {
	if a.DataDir != "" {
		return home.Abs(a.DataDir)
	}
	d, err := home.Default(a.Env)
	if err != nil {
		return "", &UsageError{err}
	}
	return d, nil
}

// Tabhub returns one of tabhub's commands, to be pasted: it is for the same data directory.
func (a *App) Tabhub(words ...string) string { return a.Line("tabhub", words...) }

// Line is Tabhub for a program of another name or path.
func (a *App) Line(program string, words ...string) string {
	words = append([]string{program}, words...)
	if a.DataDir != "" {
		words = append(words, "--data-dir", a.DataDir)
	}
	return shell.Here(words...)
}

// Say prints a text beside the log, or in the log where programs read that.
func (a *App) Say(level slog.Level, text string) {
	if a.JSONLog != nil {
		a.JSONLog.Log(context.Background(), level, text)
		return
	}
	a.Note("%s", text)
}

// ConfigPath is where the configuration file is, or would be.
func (a *App) ConfigPath() string {
	if a.ConfigFile != "" {
		return a.ConfigFile
	}
	dir, err := a.Dir()
	if err != nil {
		return "tabhub.toml"
	}
	return dir.Config()
}

// Visible writes text so that it can be read on a terminal and does nothing else
// there: control characters, and others that nobody sees, are written out as \x1b or
// \u202e. A character must not be split between two writes, or its bytes are.
type Visible struct{ W io.Writer }

func (v Visible) Write(b []byte) (int, error) {
	if _, err := io.WriteString(v.W, describe.Visible(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// VisibleJSON is visible for JSON, which stays valid and means the same.
type VisibleJSON struct{ W io.Writer }

func (v VisibleJSON) Write(b []byte) (int, error) {
	if _, err := v.W.Write(describe.VisibleJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// StopSignals are those that end a command.
var StopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
