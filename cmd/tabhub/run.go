package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/storage/private"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // it could not be done
	exitUsage = 2 // it was asked for wrongly
)

// usageError is an error of whoever wrote the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// app is one run of the command.
//
// What people read goes to out and err, on which text of pages, clients and files can
// do nothing to a terminal. stdout and stderr are what these write to; they are for
// what a program reads byte by byte: MCP, the report to a bridge, a token.
type app struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	stdout io.Writer
	stderr io.Writer
	env    func(string) string

	dataDir    string       // of --data-dir; "": the system's place for data
	configFile string       // of --config; "": that of the data directory
	jsonLog    *slog.Logger // where the settings have the log written as JSON, else nil
}

// alone is a program that is told nothing of what this one is told by the environment, and
// whose words are no part of what this one prints.
func (a *app) alone() *app {
	return &app{in: a.in, out: a.err, err: a.err, stdout: a.stderr, stderr: a.stderr, env: func(string) string { return "" }}
}

// run is the command apart from the process: it returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, env func(string) string) int {
	a := &app{in: in, out: visible{out}, err: visible{errOut}, stdout: out, stderr: errOut, env: env}
	root := rootCommand(a, args...)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	a.say(slog.LevelError, fmt.Sprintf("tabhub: %v", private.Explain(err)))
	if _, ok := errors.AsType[*usageError](err); ok || isStatus(err, http.StatusBadRequest) {
		return exitUsage
	}
	return exitError
}

// command returns the program's command with those below it that args may need.
func rootCommand(a *app, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:     "tabhub",
		Version: version(),
		Short:   "One MCP server for every tab you have open",
		Long: `One MCP server for every tab you have open.

Web pages offer tools. tabhub collects those of all tabs of all browsers and serves
them as one MCP server. Have your MCP client start "tabhub stdio"; the hub itself
then starts by itself, or with "tabhub serve" in a terminal of its own.

The hub's settings are in tabhub.toml in its data directory. The environment goes before it
(call-timeout is TABHUB_CALL_TIMEOUT; lists are separated by commas), and flags before both;
--data-dir and --config can be set in the environment, too. TABHUB_TOKEN is the token of a user of
a hub with accounts.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		// Nearer than this, a wrong command is taken for a typo.
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun:           func(cmd *cobra.Command, _ []string) { a.fromEnv(cmd) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(a, cmd, err) })
	root.PersistentFlags().StringVar(&a.dataDir, "data-dir", "", "where the store and the token are (default: the system's place for data)")
	root.PersistentFlags().StringVar(&a.configFile, "config", "", "configuration `file` of the hub (default: tabhub.toml in the data directory)")
	root.AddGroup(commandGroups...)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	root.SetHelpCommandGroupID(groupHub)
	root.SetCompletionCommandGroupID(groupHub)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { help(a, cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { return usage(a, cmd) })
	if len(args) > 0 && args[0] == "stdio" { // a client waits for it, and it needs no others
		add(groupHub, stdioCommand(a))
		return root
	}
	add(groupUse, tabsCommand(a), toolsCommand(a), callCommand(a), explainCommand(a), pageCheckCommand(a))
	add(groupDecide, callsCommand(a), approveCommand(a), logCommand(a), siteCommand(a), policyCommand(a), pauseCommand(a), resumeCommand(a))
	add(groupSetUp, setupCommand(a), extensionCommand(a), browserCommand(a), installCommand(a), tokenCommand(a), doctorCommand(a))
	add(groupHub, serveCommand(a), stdioCommand(a), autostartCommand(a), dashboardCommand(a), statusCommand(a), stopCommand(a), clusterCommand(a), versionCommand(a), manCommand(a))
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // a shell asks
		addCompletions(a, root)
	}
	return root
}

// renamed has what the commands are now that were others once.
var renamed = map[string]string{
	"resources": "tools resources", "prompts": "tools prompts", "read": "call URI", "prompt": "call NAME [KEY=VALUE...]",
	"watch": "calls --follow", "cancel": "calls cancel ID",
	"uninstall": "install CLIENT --remove", "lease": "tabs held", "pair": "browser pair",
}

// renamedFlags has what is typed now instead of a flag.
var renamedFlags = map[string]string{"tabhub token --url": "dashboard --print"}

func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if now, ok := renamed[args[0]]; ok && !cmd.HasParent() {
		return usagef("there is no command %q any more; it is `tabhub %s` now", args[0], now)
	}
	err := fmt.Sprintf("there is no command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		err += "; `tabhub --help` lists them"
	}
	return usagef("%s", err)
}

// args wraps a check of positional arguments, whose failure is one of usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%w; it is used as `%s`", err, cmd.UseLine())
		}
		return nil
	}
}

// envName is the variable of the environment that sets a flag or a setting.
func envName(name string) string {
	return "TABHUB_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// fromEnv sets the flags of all commands that the command line did not set from the environment.
func (a *app) fromEnv(cmd *cobra.Command) {
	for _, to := range []struct {
		name string
		path *string
	}{{"data-dir", &a.dataDir}, {"config", &a.configFile}} {
		if f := cmd.Flags().Lookup(to.name); f != nil && !f.Changed {
			*to.path = a.env(envName(to.name))
		}
	}
}

// flagError says what is wrong with a flag, and what to write.
func flagError(a *app, cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if now, ok := renamedFlags[cmd.CommandPath()+" --"+name]; ok {
			return usagef("there is no flag --%s any more; it is `tabhub %s` now", name, now)
		}
		if s := newConfig().named(name); s != nil && !s.is(isFlag) && cmd.Flags().Lookup("set") != nil {
			example := s.name + " = " + s.example()
			return usagef("--%s is a setting, and no flag: write %s into %s, or pass --set %s=%s", name, example, a.configPath(), name, s.word())
		}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usagef("--%s is %q; %w", bad.GetFlag().Name, bad.GetValue(), bad.Unwrap())
	}
	return usagef("%w; `%s --help` lists the flags", err, cmd.CommandPath())
}
