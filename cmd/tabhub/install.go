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

	"tabhub/cmd/tabhub/internal/clientconf"
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
	cmd := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Configure an MCP client: " + strings.Join(clientconf.Names(), ", "),
		Long: `Put tabhub into the configuration of an MCP client: ` + strings.Join(clientconf.Names(), ", ") + `.

` + editHelp + `

--scope project is for the project in this directory, --scope user for all you do.
Claude Code's is project if you name none; for --scope user its own command is printed.

The entry holds a token, by which the hub knows the client (see "tabhub token list"). One
that is there and good is kept. --no-token leaves it out, for a file that you share: to the
hub the client is then one without a name.`,
		ValidArgs: clientconf.Names(),
		Args:      args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			program, err := installed()
			if err != nil {
				return err
			}
			e.entry = &clientconf.Entry{Command: program, Args: stdioArgs(a.config.dataDir)}
			return a.editClient(cmd.Context(), pos[0], e)
		},
	}
	e.addFlags(cmd)
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
	cmd.Flags().StringVar(&e.name, "name", "tabhub", "what the client calls the server")
}

// installed returns the path by which clients can start this program.
func installed() (string, error) {
	path, lasting := executable()
	if !lasting {
		return "", errors.New("this is a program that `go run` deletes when it ends; install it first: go install ./cmd/tabhub")
	}
	// The name on the PATH may be a link that outlives an update of what it leads to.
	if found, err := exec.LookPath("tabhub"); err == nil {
		found, err = filepath.Abs(found)
		if err == nil && sameFile(found, path) {
			return found, nil
		}
	}
	return path, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// system is where the configurations of this user's clients are.
func (a *app) system() (clientconf.System, error) {
	dir, err := os.Getwd()
	return clientconf.System{OS: runtime.GOOS, Env: a.env, Dir: dir}, err
}

// editClient changes a client's configuration.
func (a *app) editClient(ctx context.Context, client string, e *clientEdit) error {
	if strings.TrimSpace(e.name) == "" {
		return usagef("--name is empty; leave it out for tabhub")
	}
	system, err := a.system()
	if err != nil {
		return err
	}
	c, err := clientconf.Named(client)
	if err != nil {
		return &usageError{err}
	}
	scope, err := c.Scope(e.scope)
	if err != nil {
		return &usageError{err}
	}
	if e.file == "" && c.Command(system, scope, e.name, e.entry) != "" {
		return a.printCommand(ctx, c, system, scope, e)
	}
	path, err := a.clientFile(c, system, scope, e)
	if path == "" {
		return err
	}
	before, err := clientconf.Read(path)
	if err != nil {
		return usagef("the configuration cannot be read: %w", err)
	}
	old := c.Env(before, e.name, tokenEnv)
	mint := e.entry != nil && !e.noToken && a.needsToken(ctx, old)
	if mint {
		e.entry.Env = map[string]string{tokenEnv: "a new one"} // which is made when this is written
	}
	after, err := e.change(c, before)
	if err != nil {
		return usagef("%s is left as it is: %w", path, err)
	}
	if e.entry == nil && !bytes.Equal(before, after) {
		after = c.Before(path, e.name, after)
	}
	if bytes.Equal(before, after) {
		state := "has it already"
		if e.entry == nil {
			state = "does not have it"
		}
		fmt.Fprintf(a.out, "Nothing to do: %s %s, in %s\n", c.Title, state, path)
		return nil
	}
	diff, err := c.Diff(path, e.name, before, after)
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, diff)
	if e.dryRun {
		return nil
	}
	if err := a.confirm(ctx, e.yes); err != nil {
		return err
	}
	var made auth.Client
	if mint {
		if made, err = a.mintEntry(ctx, c, e); err != nil {
			return err
		}
		if after, err = e.change(c, before); err != nil {
			return err // not of the text, which it was tried with
		}
	}
	if err := a.writeClient(c, path, e, before, after); err != nil {
		return errors.Join(err, a.revokeEntry(ctx, made.ID))
	}
	if mint && scope == clientconf.Project {
		fmt.Fprintln(a.out, "The file holds a token of this hub: do not share it, or install with --no-token.")
	}
	if id, ok := auth.ClientID(old); ok && e.entry == nil {
		return a.revokeEntry(ctx, id)
	}
	return nil
}

// printCommand prints the client's own command for the change.
func (a *app) printCommand(ctx context.Context, c clientconf.Client, system clientconf.System, scope clientconf.Scope, e *clientEdit) error {
	switch {
	case e.entry == nil:
		fmt.Fprintln(a.err, "`tabhub token list` shows the client's token, `tabhub token revoke` ends it.")
	case e.noToken:
	case e.dryRun:
		e.entry.Env = map[string]string{tokenEnv: "TOKEN"}
	default:
		if _, err := a.mintEntry(ctx, c, e); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "%s changes this file itself. Run:\n", c.Title)
	fmt.Fprintln(a.out, c.Command(system, scope, e.name, e.entry))
	return nil
}

// clientFile returns the file that is to be edited. It is "" if there is none, which the
// user was told, or if there is an error.
func (a *app) clientFile(c clientconf.Client, system clientconf.System, scope clientconf.Scope, e *clientEdit) (string, error) {
	if e.file != "" {
		return e.file, nil
	}
	path, err := c.Path(system, scope)
	if errors.Is(err, clientconf.ErrNotInstalled) && e.entry == nil {
		fmt.Fprintf(a.out, "Nothing to do: %v\n", err)
		return "", nil
	}
	if err != nil {
		return "", &usageError{err}
	}
	return path, nil
}

// writeClient writes a changed file, and tells the user what to do next.
func (a *app) writeClient(c clientconf.Client, path string, e *clientEdit, before, after []byte) error {
	backup, err := clientconf.Write(path, before, after, time.Now())
	if err != nil {
		return fmt.Errorf("%s is not changed: %w", path, err)
	}
	if e.entry == nil {
		fmt.Fprintf(a.out, "\n%s is no longer told to start it.\n", c.Title)
	} else {
		fmt.Fprintf(a.out, "\n%s can use tabhub now. %s\n", c.Title, c.After)
	}
	if backup != "" {
		fmt.Fprintf(a.out, "The old file is kept as %s\n", backup)
	}
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
