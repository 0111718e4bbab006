package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/state"
)

// setup leads a user from a program that is there to clients that reach the hub: it does what
// "tabhub extension" and "tabhub install" do, and tries it.
type setup struct {
	*command.App
	yes       bool
	clients   []string
	extension string           // the directory; "none": leave it out
	entry     clientconf.Entry // what clients start
	problems  int
}

// none is what a flag says to leave a step out.
const none = "none"

func SetupCommand(a *command.App) *cobra.Command {
	s := &setup{App: a}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up the extension and your MCP clients, and try them",
		Long: `Set up the extension and your MCP clients, and try whether they reach the hub.

You are asked before anything is changed; --yes does all without asking. What is there
already stays, so you can run it again at any time.`,
		Example: `  tabhub setup
  tabhub setup --yes --client claude-code,cursor --extension none`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.yes, "yes", false, "do not ask")
	f.StringSliceVar(&s.clients, "client", []string{"all"}, "`clients` to set up, as \"tabhub install\" lists them; all: those found here; none")
	f.StringVar(&s.extension, "extension", "", "`directory` for the browser extension; none: leave it out (default: ~/tabhub-extension)")
	return cmd
}

func (s *setup) run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	program, err := build.Installed()
	if err != nil {
		return err
	}
	s.entry = clientconf.Entry{Command: program, Args: StdioArgs(s.DataDir)}
	for _, step := range []func(context.Context) error{s.setUpBrowser, s.setUpClients, s.tryClients} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errors.New("stopped; what is done stays, and `tabhub setup` goes on from here")
		}
	}
	if s.problems > 0 {
		return errors.New("not all is set up; mend what is said above and run `tabhub setup` again")
	}
	s.Hint("\nNow ask your client, in words: which tabs are open, and what can you do there?\n`tabhub dashboard` shows what is done in your tabs, `tabhub doctor` what is wrong. `tabhub autostart on` has the hub run whenever you are logged in.")
	return nil
}

// check looks at the flags.
func (s *setup) check() error {
	if err := checkHome(s.App); err != nil {
		return err
	}
	if !s.yes && !terminal.Is(s.In) {
		return command.Usagef("nothing is changed, as nobody can be asked; --yes does all of it")
	}
	for _, name := range s.clients {
		if name == "all" || name == none {
			if len(s.clients) > 1 {
				return command.Usagef("--client %s stands alone", name)
			}
		} else if _, err := clientconf.Named(name); err != nil {
			return command.Usage(err)
		}
	}
	if s.extension == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return command.Usagef("%w; say where the extension is to be with --extension DIR, or none", err)
		}
		s.extension = filepath.Join(home, "tabhub-extension")
	}
	return nil
}

// bad says what has gone wrong. The steps go on.
func (s *setup) bad(format string, args ...any) {
	s.problems++
	t := s.Table()
	t.Row(command.StateCell(StateProblem), command.OneLine(fmt.Sprintf(format, args...)))
	t.Print()
}

// setUpBrowser writes the extension, and waits until the user has loaded it.
func (s *setup) setUpBrowser(ctx context.Context) error {
	if s.extension == none {
		return nil
	}
	s.Headline("The extension, which gives a browser's pages to the hub")
	if _, err := tryEntry(ctx, s.entry); err != nil { // it finds the hub where it now is
		return fmt.Errorf("the hub does not start: %w; `tabhub doctor` says more", err)
	}
	if name := s.joined(ctx); name != "" {
		s.Note("%s is connected.", name)
		return nil
	}
	if !s.yes && prompt(ctx, s.App, "Write it to "+s.extension+"? [y/N] ") != "y" {
		return nil
	}
	if err := writeExtension(ctx, s.App, s.extension, ""); err != nil || s.yes {
		return err
	}
	prompt(ctx, s.App, "Press Enter when that is done, or to go on without ")
	if name := s.awaitJoined(ctx); name != "" {
		s.Note("%s is connected.", name)
	} else if ctx.Err() == nil {
		s.Note("No browser is connected yet; one is as soon as it has loaded the extension.")
	}
	return nil
}

// joinTime is how long a browser may take to join when it has loaded the extension.
const joinTime = 5 * time.Second

func (s *setup) awaitJoined(ctx context.Context) (name string) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	for name = s.joined(ctx); name == "" && ctx.Err() == nil; name = s.joined(ctx) {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return name
}

// joined names a browser that is connected with the extension; "" if none is, or no hub runs.
func (s *setup) joined(ctx context.Context) string {
	var browsers []state.BrowserInfo
	if command.Ask(ctx, s.App, "/api/browsers", &browsers) != nil {
		return ""
	}
	for _, b := range browsers {
		if b.Connected && b.Attested && !b.Single {
			return browserName(b)
		}
	}
	return ""
}

// setUpClients puts tabhub into the configurations of clients.
func (s *setup) setUpClients(ctx context.Context) error {
	if s.clients[0] == none {
		return nil
	}
	all, err := clientReports(s.App, nil)
	if err != nil {
		return err
	}
	some := false
	for _, r := range all {
		if !slices.Contains(s.clients, r.Name) && !(s.clients[0] == "all" && r.Installed) {
			continue
		}
		some = true
		s.Headline("\n" + r.Title)
		entry := s.entry
		err := editClient(ctx, s.App, r.Name, &clientEdit{name: connectName, yes: s.yes, entry: &entry})
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errLeft):
			s.Note("%v.", err)
		case err != nil:
			s.bad("%v", err)
		}
	}
	if !some {
		s.Note("No client is found here; `tabhub install` lists those that are known, http://%s/mcp is for all others.", settings.DefaultListen)
	}
	return nil
}

// tryClients starts the hub as each client does that is set up. What a project's file has a client
// start is not the user's word, so it is not started.
func (s *setup) tryClients(ctx context.Context) error {
	system, err := system(s.App)
	if err != nil {
		return err
	}
	s.Headline("\nWhether clients reach the hub")
	t := s.Table()
	try := func(title string, e clientconf.Entry) {
		switch tools, err := tryEntry(ctx, e); {
		case ctx.Err() != nil:
		case err != nil:
			s.problems++
			t.Row(command.StateCell(StateProblem), fmt.Sprintf("%s: %v; it starts %s", title, err, shell.Line(runtime.GOOS, append([]string{e.Command}, e.Args...)...)))
		default:
			t.Row(command.StateCell(StateOK), fmt.Sprintf("%s: it lists %d tools", title, tools))
		}
	}
	tried := false
	for _, c := range clientconf.All {
		path, err := c.Path(system, clientconf.User)
		if err != nil {
			continue
		}
		text, _ := c.Read(path) // what is wrong with it was said
		if e := c.Started(text, connectName); e.Command != "" {
			tried = true
			try(c.Title, e)
		}
	}
	if !tried {
		try("any client", s.entry)
	}
	return t.Print()
}

// tryTimeout is how long a hub may take to start and to answer.
const tryTimeout = 30 * time.Second

// tryEntry starts the server of an entry as a client does, and returns how many tools it lists. A
// hub runs then.
func tryEntry(ctx context.Context, e clientconf.Entry) (tools int, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Command, e.Args...)
	cmd.Env = os.Environ()
	for key, value := range e.Env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // the hub that it starts has its stderr no longer
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tabhub setup","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`) // what does not take it ends, or does not answer
	var answer struct {
		ID     any
		Result struct{ Tools []json.RawMessage }
		Error  *struct{ Message string }
	}
	for answers := json.NewDecoder(out); err == nil && answer.ID != 2.0 && answer.Error == nil; {
		err = answers.Decode(&answer)
	}
	in.Close()
	ended := cmd.Wait()
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fmt.Errorf("it does not answer as MCP has it, and ended (%v): %s", ended, command.OneLine(said.String()))
	case answer.Error != nil:
		err = errors.New(command.OneLine(answer.Error.Message))
	}
	return len(answer.Result.Tools), err
}
