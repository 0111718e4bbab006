package setup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/storage/private"
)

// clientEdit is a change of a client's configuration that the user wants.
type clientEdit struct {
	name   string // the server's name in the file
	file   string // "" for the client's usual one
	scope  string // "" for the client's first
	dryRun bool
	yes    bool
	brief  bool // the change is shown to users that ask for it
	// noToken: the entry gets no token, as in a file that others use, too.
	noToken bool

	entry *clientconf.Entry // to add; nil: remove the server
}

// change returns the changed text of the client's file.
func (e *clientEdit) change(c clientconf.Client, text []byte) ([]byte, error) {
	switch {
	case e.entry != nil:
		return c.Add(text, e.name, *e.entry)
	case len(text) == 0:
		return text, nil
	}
	return c.Remove(text, e.name)
}

const editHelp = `The change is shown first; what other servers keep in the file is shown as ***. On a
terminal you are asked whether to write it. Elsewhere nothing is written without
--yes. The old file is kept beside the new one, with the time in its name.

Claude Code (scope user) and Codex change their files with their own commands, which tabhub runs,
or prints if the program is not on your PATH. For goose it prints what to change.`

func InstallCommand(a *command.App) *cobra.Command {
	e := new(clientEdit)
	var asJSON, remove bool
	var browsers []string
	cmd := &cobra.Command{
		Use:   "install [CLIENT]",
		Short: "Put tabhub into an MCP client's configuration, or take it out, or list clients",
		Long: `Put tabhub into the configuration of an MCP client:
` + strings.Join(clientconf.Names(), ", ") + `.
Without a client, list which are found here, and where tabhub is in their configuration.
With --remove, take tabhub out, and end the token that the entry has.

` + editHelp + `

--scope user is for all you do, --scope project for the project in this directory.

The entry names a file in the data directory with a token, by which the hub knows the client
(see "tabhub token list"). A valid one stays. --no-token leaves it out, for a
configuration that you share: to the hub the client is then one without a name.`,
		Example: `  tabhub install
  tabhub install claude-desktop
  tabhub install cursor --scope project --dry-run
  tabhub install claude-desktop --remove`,
		ValidArgs: clientconf.Names(),
		Args:      command.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			switch {
			case len(pos) == 0 && remove:
				return command.Usagef("--remove needs a client; `tabhub install` lists them")
			case len(pos) == 0:
				return listInstalled(a, asJSON)
			case asJSON:
				return command.Usagef("--json is for the list of clients; leave %s out", pos[0])
			case remove && (e.noToken || cmd.Flags().Changed("browser")):
				return command.Usagef("--no-token and --browser are for what goes in; --remove takes it out")
			case remove:
				return editClient(cmd.Context(), a, pos[0], e)
			}
			program, err := build.Installed()
			if err != nil {
				return err
			}
			e.entry = &clientconf.Entry{Command: program, Args: StdioArgs(a.DataDir)}
			if cmd.Flags().Changed("browser") {
				if err := policy.CheckBrowsers(browsers); err != nil {
					return command.Usagef("--browser: %w", err)
				}
				e.entry.Args = append(e.entry.Args, "--browser", strings.Join(browsers, ","))
			}
			return editClient(cmd.Context(), a, pos[0], e)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take tabhub out of the client's configuration")
	cmd.Flags().BoolVar(&e.dryRun, "dry-run", false, "show the change and make none")
	cmd.Flags().BoolVar(&e.yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&e.file, "config", "", "the client's configuration `file`, if it is not the usual one")
	cmd.Flags().StringVar(&e.scope, "scope", "", "user or project")
	cmd.Flags().StringVar(&e.name, "name", connectName, "what the client calls the server: up to seven letters, digits, - and _")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list of clients as JSON")
	cmd.Flags().BoolVar(&e.noToken, "no-token", false, "put no token into the entry")
	command.BrowsersFlag(cmd.Flags(), &browsers)
	return cmd
}

// system is where the configurations of this user's clients are.
func system(a *command.App) (clientconf.System, error) {
	dir, err := os.Getwd()
	return clientconf.System{OS: runtime.GOOS, Env: a.Env, Dir: dir, Look: exec.LookPath}, err
}

// checkHome refuses to write in the home directory of another user.
func checkHome(a *command.App) error {
	if err := private.CheckHome(a.Env("HOME")); err != nil {
		return command.Usage(err)
	}
	return nil
}

// clientChange is a planned change of a client's configuration.
type clientChange struct {
	client        clientconf.Client
	scope         clientconf.Scope
	edit          *clientEdit
	path          string // of the file; "" if a program of the client, or the user, changes it
	byHand        string // the file that the user changes; "": none
	before, after []byte
	old           string // the token that the entry has
	oldFile       string // the file that it names for it; "": the entry itself has it
	file          string // the token's new file; "": it stays where it is, or there is none
	mint          bool   // a new token is needed
	there         bool   // the client's program has an entry to take out first
	none          string // why nothing changes; "": something does
}

// plan returns the change, and changes nothing.
func plan(ctx context.Context, a *command.App, name string, e *clientEdit) (*clientChange, error) {
	system, err := system(a)
	if err != nil {
		return nil, err
	}
	if err := checkHome(a); err != nil {
		return nil, err
	}
	p := &clientChange{edit: e}
	if p.client, err = clientconf.Named(name); err == nil {
		p.scope, err = p.client.Scope(e.scope)
	}
	if err == nil && e.entry != nil {
		err = p.client.CheckName(e.name)
	}
	if err != nil {
		return nil, command.Usage(err)
	}
	if e.file != "" && !p.client.Edited() {
		return nil, command.Usagef("--config is for files of JSON; that of %s is not edited here", p.client.Title)
	}
	byProgram := e.file == "" && p.client.Command(p.scope, e.name, e.entry) != nil
	if p.path = e.file; e.file == "" {
		p.path, err = p.client.Path(system, p.scope)
		switch {
		case errors.Is(err, clientconf.ErrNotInstalled) && byProgram:
			p.path = ""
		case errors.Is(err, clientconf.ErrNotInstalled) && e.entry == nil:
			p.none = err.Error()
			return p, nil
		case err != nil:
			return nil, command.Usage(err)
		}
	}
	if e.file == "" && p.scope == clientconf.Project {
		if err := clientconf.Within(system.Dir, p.path); err != nil {
			return nil, command.Usagef("%w; if you mean that file, name it with --config", err)
		}
	}
	if p.path != "" {
		if p.before, err = p.client.Read(p.path); err != nil {
			return nil, command.Usagef("the configuration cannot be read: %w", err)
		}
	}
	started := p.client.Started(p.before, e.name)
	p.old, _ = EntryToken(variable(started)) // a token that cannot be read is replaced
	p.oldFile = started.Env[command.TokenFileEnv]
	if p.old == "" && !p.client.Edited() && e.entry != nil && !e.noToken {
		p.old, p.oldFile = lastEntry(ctx, a, p.client) // an earlier run has printed an entry with it
	}
	if err := planToken(ctx, a, p, byProgram); err != nil {
		return nil, err
	}
	if p.after, err = e.change(p.client, p.before); err != nil {
		return nil, command.Usagef("%s is left as it is: %w", p.path, err)
	}
	if bytes.Equal(p.before, p.after) {
		state := "has it already"
		if e.entry == nil {
			state = "does not have it"
		}
		if p.none = p.client.Title + " " + state; p.path != "" {
			p.none += ", in " + p.path
		}
	}
	if !p.client.Edited() && !byProgram {
		p.path, p.byHand = "", p.path
	}
	if byProgram {
		reached, _ := p.client.URLs(p.before)
		p.there = started.Command != "" || reached[e.name] != ""
		p.path = ""
	}
	return p, nil
}

// planToken plans the token of the entry, and its place. A token in a configuration, where others may
// see it, moves to a file; one that the user has put there moves only if the client's command would
// have it among its words.
func planToken(ctx context.Context, a *command.App, p *clientChange, byProgram bool) (err error) {
	e := p.edit
	if e.entry == nil {
		return nil
	}
	if e.noToken {
		e.entry.Unset = []string{command.TokenEnv, command.TokenFileEnv}
		return nil
	}
	_, ours := auth.ClientID(p.old)
	p.mint = needsToken(ctx, a, p.old)
	switch {
	case p.mint || p.oldFile == "" && (ours || byProgram):
		p.file, err = newEntryFile(a, p.client)
		e.entry.Env, e.entry.Unset = map[string]string{command.TokenFileEnv: p.file}, []string{command.TokenEnv}
	case p.oldFile != "":
		e.entry.Env = map[string]string{command.TokenFileEnv: p.oldFile}
	default:
		e.entry.Env = map[string]string{command.TokenEnv: p.old}
	}
	return err
}

// Show returns the change, without secrets.
func (p *clientChange) Show() (string, error) {
	if p.path != "" {
		return p.client.Diff(p.path, p.edit.name, p.before, p.after)
	}
	return fmt.Sprintf("%s changes its file itself. This is run:\n  %s\n", p.client.Title, p.line()), nil
}

// line returns the command of the client's program, which has no token.
func (p *clientChange) line() string {
	return shell.Here(p.client.Command(p.scope, p.edit.name, p.edit.entry)...)
}

// giveToken makes the planned token, if it does not exist yet.
func giveToken(ctx context.Context, a *command.App, p *clientChange) (undo func() error, err error) {
	undo = func() error { return nil }
	if p.file == "" {
		return undo, nil
	}
	token, id := p.old, ""
	if p.mint {
		made, err := mintEntry(ctx, a, p.client)
		if err != nil {
			return undo, err
		}
		token, id = made.Token, made.ID
	}
	undo = func() error {
		return errors.Join(removeEntryFile(a, p.file), revokeEntry(context.WithoutCancel(ctx), a, id))
	}
	if err := writeEntryFile(p.file, token); err != nil {
		return undo, errors.Join(fmt.Errorf("the token cannot be stored, so nothing is changed: %w", err), undo())
	}
	return undo, nil
}

// apply makes the change. It returns the copy of the old file, "" if there is none. If there is
// an error, nothing has changed, unless it says so.
func apply(ctx context.Context, a *command.App, p *clientChange) (backup string, err error) {
	undo, err := giveToken(ctx, a, p)
	if err != nil {
		return "", err
	}
	if p.path == "" {
		err = runClient(ctx, a, p)
	} else if backup, err = clientconf.Write(p.path, p.before, p.after, time.Now()); err != nil {
		err = fmt.Errorf("%s is not changed: %w", p.path, err)
	}
	if err != nil {
		return "", errors.Join(err, undo())
	}
	gone := p.edit.entry == nil || p.edit.noToken
	if gone || p.file != "" {
		err = removeEntryFile(a, p.oldFile)
	}
	if id, ok := auth.ClientID(p.old); ok && gone {
		err = errors.Join(err, revokeEntry(ctx, a, id))
	}
	return backup, err
}

// runClient makes the change with the client's program.
func runClient(ctx context.Context, a *command.App, p *clientChange) error {
	commands := [][]string{p.client.Command(p.scope, p.edit.name, p.edit.entry)}
	if p.edit.entry != nil && p.there {
		commands = append([][]string{p.client.Command(p.scope, p.edit.name, nil)}, commands...)
	}
	for i, words := range commands {
		// Ctrl-C does not interrupt it while it writes.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			gone := ""
			if i > 0 {
				gone = "; the old entry is gone"
			}
			return fmt.Errorf("`%s`: %w: %s%s", p.line(), err, command.OneLine(string(out)), gone)
		}
	}
	return nil
}

// editClient changes a client's configuration.
func editClient(ctx context.Context, a *command.App, client string, e *clientEdit) error {
	if strings.TrimSpace(e.name) == "" {
		return command.Usagef("--name is empty; leave it out for tabhub")
	}
	p, err := plan(ctx, a, client, e)
	if err != nil {
		return err
	}
	if p.none != "" {
		fmt.Fprintln(a.Out, a.Screen().Text(terminal.Plain, "Nothing to do: "+p.none))
		return nil
	}
	if p.byHand != "" {
		return printByHand(ctx, a, p)
	}
	if p.path == "" {
		if _, err := exec.LookPath(p.client.Command(p.scope, e.name, e.entry)[0]); err != nil {
			return printCommand(ctx, a, p)
		}
	}
	shown, err := p.Show()
	if err != nil {
		return err
	}
	if !e.brief {
		fmt.Fprint(a.Out, shown)
	}
	if e.dryRun {
		return nil
	}
	if err := confirm(ctx, a, p, shown); err != nil {
		return err
	}
	backup, err := apply(ctx, a, p)
	if err != nil {
		return err
	}
	if e.entry == nil {
		fmt.Fprintf(a.Out, "\n%s no longer starts it.\n", p.client.Title)
	} else {
		fmt.Fprintln(a.Out, a.Screen().Text(terminal.Plain, fmt.Sprintf("%s can use tabhub now%s. %s", p.client.Title, p.where(), p.client.After)))
	}
	if backup != "" {
		fmt.Fprintf(a.Out, "The old file is kept as %s\n", backup)
	}
	switch {
	case e.entry == nil || p.scope != clientconf.Project:
	case e.entry.Env[command.TokenEnv] != "":
		fmt.Fprintln(a.Out, "The file has a token: do not share it, or install with --no-token.")
	case len(e.entry.Env) > 0:
		fmt.Fprintln(a.Out, "The file names a file of yours with a token; if others use it, install with --no-token.")
	}
	return nil
}

// where says where the change applies, and how to have the other scope.
func (p *clientChange) where() string {
	switch {
	case p.edit.brief && p.path != "":
		return ", by " + p.path
	case len(p.client.Scopes) == 1 || p.edit.file != "" || p.edit.brief:
		return ""
	case p.scope == clientconf.Project:
		return ", for the project in this directory (--scope user: in all you do)"
	}
	return ", in all you do (--scope project: in this directory's project alone)"
}

// printCommand prints the command of the client's program, which is not on the PATH.
func printCommand(ctx context.Context, a *command.App, p *clientChange) error {
	if err := prepare(ctx, a, p); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%s changes its file itself, by a program that is not on your PATH. Where it is, run:\n", p.client.Title)
	fmt.Fprintln(a.Out, p.line())
	return nil
}

// printByHand prints what the user adds to the client's file, or removes from it.
func printByHand(ctx context.Context, a *command.App, p *clientChange) error {
	if err := prepare(ctx, a, p); err != nil {
		return err
	}
	if p.edit.entry == nil {
		fmt.Fprintf(a.Err, "%s is changed by hand. If %s is in this file, take it out there, or with `%s configure`:\n", p.client.Title, p.edit.name, p.client.Name)
		fmt.Fprintln(a.Out, p.byHand)
		return nil
	}
	a.Note("%s is changed by hand. Put this into %s; if its first line is there already, below that:", p.client.Title, p.byHand)
	fmt.Fprint(a.Out, p.client.Text(p.edit.name, *p.edit.entry))
	fmt.Fprintln(a.Err, p.client.After)
	return nil
}

// prepare makes the token for a change that the user makes.
func prepare(ctx context.Context, a *command.App, p *clientChange) error {
	switch {
	case p.edit.entry == nil:
		fmt.Fprintln(a.Err, "`tabhub token list` shows the client's token, `tabhub token revoke` revokes it.")
	case !p.edit.dryRun:
		_, err := giveToken(ctx, a, p)
		return err
	}
	return nil
}

// errLeft is what confirm returns when the answer is no.
var errLeft = errors.New("nothing is changed")

// confirm returns nil if the user agrees to the change.
func confirm(ctx context.Context, a *command.App, p *clientChange, shown string) error {
	if p.edit.yes {
		return nil
	}
	if !terminal.Is(a.In) {
		return command.Usagef("nothing is changed, as there is no terminal to ask on; --yes writes it, --dry-run only shows it")
	}
	question := "\nWrite this? [y/N] "
	if p.edit.brief {
		question = p.client.Title + ": put tabhub into its configuration? [y/N, s shows the change] "
	}
	for {
		switch prompt(ctx, a, question) {
		case "y":
			return nil
		case "s":
			fmt.Fprint(a.Out, shown)
		default:
			return errLeft
		}
	}
}

// prompt asks a question and returns the first letter of the answer, in lower case; "" for an empty
// answer.
func prompt(ctx context.Context, a *command.App, question string) string {
	fmt.Fprint(a.Err, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.In).ReadString('\n') // no answer is a no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case s := <-answer:
		return s[:min(len(s), 1)]
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
		return ""
	}
}
