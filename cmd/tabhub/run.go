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

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/checkpage"
	"tabhub/cmd/tabhub/internal/cli"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/cmd/tabhub/internal/packcli"
	"tabhub/cmd/tabhub/internal/recordcli"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/storage/private"
)

// run is the command apart from the process: it returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, env func(string) string) int {
	a := &command.App{In: in, Out: command.Visible{W: out}, Err: command.Visible{W: errOut}, Stdout: out, Stderr: errOut, Env: env}
	root := rootCommand(a, args...)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return command.ExitOK
	}
	a.Say(slog.LevelError, fmt.Sprintf("tabhub: %v", private.Explain(err)))
	if v, ok := errors.AsType[*command.Verdict](err); ok {
		return v.Code
	}
	if _, ok := errors.AsType[*command.UsageError](err); ok || command.IsStatus(err, http.StatusBadRequest) {
		return command.ExitUsage
	}
	return command.ExitError
}

// rootCommand returns the program's command with those below it that args may need.
func rootCommand(a *command.App, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:     "tabhub",
		Version: build.Version(),
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
		Args:          command.NoCommand,
		// Nearer than this, a wrong command is taken for a typo.
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun:           func(cmd *cobra.Command, _ []string) { a.FromEnv(cmd) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(a, cmd, err) })
	root.PersistentFlags().StringVar(&a.DataDir, "data-dir", "", "where the store and the token are (default: the system's place for data)")
	root.PersistentFlags().StringVar(&a.ConfigFile, "config", "", "configuration `file` of the hub (default: tabhub.toml in the data directory)")
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
		add(groupHub, daemon.StdioCommand(a))
		return root
	}
	add(groupUse, cli.TabsCommand(a), cli.ToolsCommand(a), cli.CallCommand(a), cli.ExplainCommand(a), cli.PreflightCommand(a), checkpage.Command(a))
	add(groupDecide, recordcli.CallsCommand(a), cli.ApproveCommand(a), recordcli.LogCommand(a), cli.SiteCommand(a), packcli.Command(a), cli.PolicyCommand(a), cli.PauseCommand(a), cli.ResumeCommand(a))
	add(groupSetUp, setup.SetupCommand(a), setup.ExtensionCommand(a), cli.BrowserCommand(a), setup.InstallCommand(a), cli.TokenCommand(a), setup.DoctorCommand(a))
	add(groupHub, daemon.ServeCommand(a), daemon.StdioCommand(a), setup.AutostartCommand(a), cli.DashboardCommand(a), cli.StatusCommand(a), cli.StopCommand(a), cli.ClusterCommand(a), versionCommand(a), manCommand(a))
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // a shell asks
		addCompletions(a, root)
	}
	return root
}

// renamedFlags has what is typed now instead of a flag.
var renamedFlags = map[string]string{"tabhub token --url": "dashboard --print"}

// flagError says what is wrong with a flag, and what to write.
func flagError(a *command.App, cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if now, ok := renamedFlags[cmd.CommandPath()+" --"+name]; ok {
			return command.Usagef("there is no flag --%s any more; it is `tabhub %s` now", name, now)
		}
		if s := settings.New().Named(name); s != nil && !s.Is(settings.IsFlag) && cmd.Flags().Lookup("set") != nil {
			example := s.Name + " = " + s.Example()
			return command.Usagef("--%s is a setting, and no flag: write %s into %s, or pass --set %s=%s", name, example, a.ConfigPath(), name, s.Word())
		}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return command.Usagef("--%s is %q; %w", bad.GetFlag().Name, bad.GetValue(), bad.Unwrap())
	}
	return command.Usagef("%w; `%s --help` lists the flags", err, cmd.CommandPath())
}
