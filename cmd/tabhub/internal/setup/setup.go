package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/state"
	"tabhub/tabtransport/extension"
)

// setup leads a user from an installed program to clients that reach the hub. It runs the doctor's
// checks, and mends what "tabhub extension" and "tabhub install" can.
type setup struct {
	*Doctor
	yes       bool
	clients   []string
	extension string           // the directory; "none": leave it out
	entry     clientconf.Entry // what clients start
}

// none, as the value of a flag, leaves a step out.
const none = "none"

func SetupCommand(a *command.App) *cobra.Command {
	s := &setup{Doctor: &Doctor{App: a}}
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

// run goes through the checks. Of what it can mend, it shows all findings, of the rest the problems.
func (s *setup) run(ctx context.Context) error {
	if err := s.checkFlags(); err != nil {
		return err
	}
	program, err := build.Installed()
	if err != nil {
		return err
	}
	s.entry = clientconf.Entry{Command: program, Args: StdioArgs(s.DataDir)}
	if s.Doctor, err = newDoctor(s.App, nil); err != nil {
		return err
	}
	s.start = true
	shown := 0
	for _, c := range checks() {
		if c.name == "extension" && s.extension == none {
			continue
		}
		if c.mend != nil {
			err = c.mend(s, ctx)
		}
		if err == nil && ctx.Err() == nil {
			c.look(s.Doctor, ctx)
		}
		if ctx.Err() != nil {
			return errors.New("stopped; what is done stays, and `tabhub setup` goes on from here")
		}
		news := s.Findings[shown:]
		shown = len(s.Findings)
		if c.mend == nil {
			news = slices.DeleteFunc(slices.Clone(news), func(f admin.Finding) bool { return f.State != StateProblem })
		}
		if err := errors.Join(printFindings(s.App, news), err); err != nil {
			return err
		}
	}
	if problems(s.Findings) > 0 {
		return errors.New("not all is set up; mend what is said above and run `tabhub setup` again")
	}
	return s.next()
}

// next prints what the user should know now, and does next.
func (s *setup) next() error {
	s.Headline("What comes next")
	t := s.Table()
	if keep := &s.Config.LogArguments; *keep > 0 {
		t.Row("recorded", fmt.Sprintf(`arguments of calls that act, without secrets, for %s; log-arguments = "0" in %s ends that`, keep, s.ConfigPath()))
	}
	t.Row("look", "`tabhub dashboard` shows what is done in your tabs, `tabhub doctor` what is wrong")
	if s.extension != none {
		t.Row("pin", "the icon: click the puzzle piece in the browser's toolbar, then the pin beside tabhub")
	}
	t.Row("ask", "your client: which tabs are open, and what can you do there?")
	return t.Print()
}

func (s *setup) checkFlags() error {
	if err := checkHome(s.App); err != nil {
		return err
	}
	if !s.yes && !terminal.Is(s.In) {
		return command.Usagef("nothing is changed, as there is no terminal to ask on; --yes does all of it")
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

// startHub starts the hub as a client does.
func (s *setup) startHub(ctx context.Context) error {
	if _, err := tryEntry(ctx, s.entry, "tabhub"); err != nil {
		return fmt.Errorf("the hub does not start: %w; `tabhub doctor` says more", err)
	}
	return nil
}

// setUpBrowser writes the extension, and waits until the user has loaded it.
func (s *setup) setUpBrowser(ctx context.Context) error {
	s.Headline("The extension, which connects a browser's pages to the hub")
	if s.joined(ctx) || !s.yes && prompt(ctx, s.App, "Write it to "+s.extension+"? [y/N] ") != "y" {
		return nil
	}
	before, _ := extension.Read(s.extension) // the build that is there stays
	if err := writeExtension(ctx, s.App, s.extension, "", before.TrustedInput); err != nil || s.yes {
		return err
	}
	prompt(ctx, s.App, "Press Enter when that is done, or to go on without ")
	s.awaitJoined(ctx)
	return nil
}

// joinTime is how long a browser may take to connect after it has loaded the extension.
const joinTime = 5 * time.Second

func (s *setup) awaitJoined(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	for !s.joined(ctx) {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// joined reports whether a browser is connected with the extension.
func (s *setup) joined(ctx context.Context) bool {
	var browsers []state.BrowserInfo
	err := command.Ask(ctx, s.App, "/api/browsers", &browsers)
	return err == nil && slices.ContainsFunc(browsers, hasExtension)
}

// setUpClients puts tabhub into the configurations of clients.
func (s *setup) setUpClients(ctx context.Context) error {
	all, err := clientReports(s.App, nil)
	if err != nil {
		return err
	}
	s.Headline("Your MCP clients")
	for _, r := range all {
		if !slices.Contains(s.clients, r.Name) && !(s.clients[0] == "all" && r.Installed) || r.Problem != "" {
			continue // the check names the problem
		}
		entry := s.entry
		err := editClient(ctx, s.App, r.Name, &clientEdit{name: connectName, yes: s.yes, brief: true, entry: &entry})
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errLeft):
			s.Note("%s is left as it is.", r.Title)
		case err != nil:
			s.bad("clients", s.Doctor.command("install", r.Name), "%s: %v", r.Title, err)
		}
	}
	return nil
}

// tryTimeout is how long a hub may take to start and to answer.
const tryTimeout = 30 * time.Second

// tryEntry starts the server of an entry as the client of that name does, and returns how many tools
// it lists for that client. After it, a hub runs.
func tryEntry(ctx context.Context, e clientconf.Entry, name string) (tools int, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Command, e.Args...)
	cmd.Env = os.Environ()
	for key, value := range e.Env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // a hub that it starts does not keep its stderr
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
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`, name) // a program that cannot read it ends, or does not answer
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
		err = fmt.Errorf("it does not speak MCP, and ended (%v): %s", ended, command.OneLine(said.String()))
	case answer.Error != nil:
		err = errors.New(command.OneLine(answer.Error.Message))
	}
	return len(answer.Result.Tools), err
}
