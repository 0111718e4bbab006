package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/auth"
)

// clientEdit is a change of a client's configuration that was asked for.
type clientEdit struct {
	name   string // the server's name in the file
	file   string // "" for the client's usual one
	scope  string // "" for the client's first
	dryRun bool
	yes    bool
	// noToken: the entry gets no token, as a file that others use, too.
	noToken bool

	entry *clientconf.Entry // what goes in; nil takes it out
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
--yes. The old file is kept beside the new one, with the time in its name.`

func (a *app) installCommand() *cobra.Command {
	e := new(clientEdit)
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "install [CLIENT]",
		Short: "Put tabhub into the configuration of an MCP client, or list the clients",
		Long: `Put tabhub into the configuration of an MCP client: ` + strings.Join(clientconf.Names(), ", ") + `.
Without a client, list which are found here, and where tabhub is in their configuration.

` + editHelp + `

--scope user is for all you do, --scope project for the project in this directory.
Claude Code's own program makes the change of scope user; if it is not on your PATH, its
command is printed.

The entry holds a token, by which the hub knows the client (see "tabhub token list"). One
that is there and good is kept. --no-token leaves it out, for a file that you share: to the
hub the client is then one without a name.`,
		Example: `  tabhub install
  tabhub install claude-desktop
  tabhub install cursor --scope project --dry-run`,
		ValidArgs: clientconf.Names(),
		Args:      args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			switch {
			case len(pos) == 0:
				return a.listInstalled(asJSON)
			case asJSON:
				return usagef("--json is for the list of clients; leave %s out", pos[0])
			}
			program, err := installed()
			if err != nil {
				return err
			}
			e.entry = &clientconf.Entry{Command: program, Args: stdioArgs(a.config.dataDir)}
			return a.editClient(cmd.Context(), pos[0], e)
		},
	}
	e.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list of clients as JSON")
	cmd.Flags().BoolVar(&e.noToken, "no-token", false, "put no token into the entry")
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	e := new(clientEdit)
	cmd := &cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Take tabhub out of the configuration of an MCP client",
		Long: `Take tabhub out of the configuration of an MCP client.

` + editHelp,
		Example:   `  tabhub uninstall claude-desktop`,
		ValidArgs: clientconf.Names(),
		Args:      args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			return a.editClient(cmd.Context(), pos[0], e)
		},
	}
	e.addFlags(cmd)
	return cmd
}

func (e *clientEdit) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.dryRun, "dry-run", false, "show the change and make none")
	cmd.Flags().BoolVar(&e.yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&e.file, "config", "", "the client's configuration `file`, if it is not the usual one")
	cmd.Flags().StringVar(&e.scope, "scope", "", "user or project")
	cmd.Flags().StringVar(&e.name, "name", connectName, "what the client calls the server: up to seven letters, digits, - and _")
}

// installed returns the path by which clients can start this program.
func installed() (string, error) {
	path, lasting := executable()
	if !lasting {
		return "", errors.New("this is a program that `go run` deletes when it ends; install it first: go install ./cmd/tabhub")
	}
	// The name on the PATH, or that it was started by, may be a link that outlives an update of
	// what it leads to.
	for _, name := range []string{"tabhub", os.Args[0]} {
		if found, err := exec.LookPath(name); err == nil {
			found, err = filepath.Abs(found)
			if err == nil && bridge.SameFile(found, path) {
				return found, nil
			}
		}
	}
	return path, nil
}

// system is where the configurations of this user's clients are.
func (a *app) system() (clientconf.System, error) {
	dir, err := os.Getwd()
	return clientconf.System{OS: runtime.GOOS, Env: a.env, Dir: dir, Look: exec.LookPath}, err
}

// clientChange is what is to become of a client's configuration.
type clientChange struct {
	client        clientconf.Client
	scope         clientconf.Scope
	edit          *clientEdit
	path          string // of the file; "" if a program of the client finds it
	before, after []byte
	old           string // the token that the entry has
	mint          bool   // it is to get a new one
	there         bool   // the client's program has an entry to take out first
	none          string // why nothing is to be done; "": something is
}

// plan looks what is to be done, and changes nothing.
func (a *app) plan(ctx context.Context, name string, e *clientEdit) (*clientChange, error) {
	system, err := a.system()
	if err != nil {
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
		return nil, &usageError{err}
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
			return nil, &usageError{err}
		}
	}
	if p.path != "" {
		if p.before, err = clientconf.Read(p.path); err != nil {
			return nil, usagef("the configuration cannot be read: %w", err)
		}
	}
	started := p.client.Started(p.before, e.name)
	p.old = started.Env[tokenEnv]
	p.mint = e.entry != nil && !e.noToken && a.needsToken(ctx, p.old)
	if p.mint {
		e.entry.Env = map[string]string{tokenEnv: "a new one"} // which is made when this is written
	}
	if p.after, err = e.change(p.client, p.before); err != nil {
		return nil, usagef("%s is left as it is: %w", p.path, err)
	}
	if e.entry == nil && !bytes.Equal(p.before, p.after) {
		p.after = p.client.Before(p.path, e.name, p.after)
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
	if byProgram {
		reached, _ := p.client.URLs(p.before)
		p.there = started.Command != "" || reached[e.name] != ""
		p.path = ""
		if e.entry != nil && !p.mint && p.old != "" {
			e.entry.Env = map[string]string{tokenEnv: p.old}
		}
	}
	return p, nil
}

// show returns what would change, without what is secret.
func (p *clientChange) show() (string, error) {
	if p.path != "" {
		return p.client.Diff(p.path, p.edit.name, p.before, p.after)
	}
	return fmt.Sprintf("%s changes its file itself. This is run:\n  %s\n", p.client.Title, p.line()), nil
}

// line is the command of the client's own program, without a token.
func (p *clientChange) line() string {
	e := p.edit.entry
	if e != nil {
		e = new(*e)
		if len(e.Env) > 0 {
			e.Env = map[string]string{tokenEnv: "***"}
		}
	}
	return shell.Here(p.client.Command(p.scope, p.edit.name, e)...)
}

// apply makes the change. It returns the copy of the old file, "" if there is none. If there is
// an error, nothing has changed, unless it says so.
func (a *app) apply(ctx context.Context, p *clientChange) (backup string, err error) {
	var made auth.Client
	if p.mint {
		if made, err = a.mintEntry(ctx, p.client, p.edit); err != nil {
			return "", err
		}
	}
	if p.path == "" {
		err = a.runClient(ctx, p)
	} else {
		if p.mint {
			p.after, err = p.edit.change(p.client, p.before) // as it was tried with another token
		}
		if err == nil {
			if backup, err = clientconf.Write(p.path, p.before, p.after, time.Now()); err != nil {
				err = fmt.Errorf("%s is not changed: %w", p.path, err)
			}
		}
	}
	if err != nil {
		return "", errors.Join(err, a.revokeEntry(context.WithoutCancel(ctx), made.ID))
	}
	if id, ok := auth.ClientID(p.old); ok && p.edit.entry == nil {
		return backup, a.revokeEntry(ctx, id)
	}
	return backup, nil
}

// runClient has the client's own program make the change.
func (a *app) runClient(ctx context.Context, p *clientChange) error {
	commands := [][]string{p.client.Command(p.scope, p.edit.name, p.edit.entry)}
	if p.edit.entry != nil && p.there {
		commands = append([][]string{p.client.Command(p.scope, p.edit.name, nil)}, commands...)
	}
	for i, words := range commands {
		// It is not interrupted in the middle of writing.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			gone := ""
			if i > 0 {
				gone = "; the old entry is gone"
			}
			return fmt.Errorf("`%s`: %w: %s%s", p.line(), err, oneLine(string(out)), gone)
		}
	}
	return nil
}

// editClient changes a client's configuration.
func (a *app) editClient(ctx context.Context, client string, e *clientEdit) error {
	if strings.TrimSpace(e.name) == "" {
		return usagef("--name is empty; leave it out for tabhub")
	}
	p, err := a.plan(ctx, client, e)
	if err != nil {
		return err
	}
	if p.none != "" {
		fmt.Fprintf(a.out, "Nothing to do: %s\n", p.none)
		return nil
	}
	if p.path == "" && !onPath(p.client.Command(p.scope, e.name, e.entry)[0]) {
		return a.printCommand(ctx, p)
	}
	shown, err := p.show()
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, shown)
	if e.dryRun {
		return nil
	}
	if err := a.confirm(ctx, e.yes); err != nil {
		return err
	}
	backup, err := a.apply(ctx, p)
	if err != nil {
		return err
	}
	if e.entry == nil {
		fmt.Fprintf(a.out, "\n%s is no longer told to start it.\n", p.client.Title)
	} else {
		fmt.Fprintf(a.out, "\n%s can use tabhub now%s. %s\n", p.client.Title, p.where(), p.client.After)
	}
	if backup != "" {
		fmt.Fprintf(a.out, "The old file is kept as %s\n", backup)
	}
	if e.entry != nil && len(e.entry.Env) > 0 && p.scope == clientconf.Project {
		fmt.Fprintln(a.out, "The file holds a token of this hub: do not share it, or install with --no-token.")
	}
	return nil
}

// where says for what the change holds, and how it is had for the other scope.
func (p *clientChange) where() string {
	switch {
	case len(p.client.Scopes) == 1 || p.edit.file != "":
		return ""
	case p.scope == clientconf.Project:
		return ", for the project in this directory (--scope user: in all you do)"
	}
	return ", in all you do (--scope project: in this directory's project alone)"
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// printCommand prints the command of the client's own program, which is not found here.
func (a *app) printCommand(ctx context.Context, p *clientChange) error {
	e := p.edit
	switch {
	case e.entry == nil:
		fmt.Fprintln(a.err, "`tabhub token list` shows the client's token, `tabhub token revoke` ends it.")
	case e.noToken:
	case e.dryRun:
		e.entry.Env = map[string]string{tokenEnv: "TOKEN"}
	case p.mint:
		if _, err := a.mintEntry(ctx, p.client, e); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "%s changes its file itself, by a program that is not on your PATH. Where it is, run:\n", p.client.Title)
	fmt.Fprintln(a.out, shell.Here(p.client.Command(p.scope, e.name, e.entry)...))
	return nil
}

// confirm returns nil if what was shown is to be written.
func (a *app) confirm(ctx context.Context, yes bool) error {
	if yes {
		return nil
	}
	if !terminal.Is(a.in) {
		return usagef("nothing is changed, as nobody can be asked; --yes writes it, --dry-run only shows it")
	}
	fmt.Fprint(a.err, "\nWrite this? [y/N] ")
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.in).ReadString('\n') // no answer is a no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case s := <-answer:
		if s == "y" || s == "yes" {
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(a.err)
	}
	return errors.New("nothing is changed")
}
