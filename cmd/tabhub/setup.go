package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
)

// setup guides a user from a program that is there to a call of a client. What a step finds as
// it is to be, it leaves.
type setup struct {
	*app
	yes       bool
	clients   []string
	extension string // the directory; "none": leave it out
	browser   string
	autostart string        // yes, no; "": ask
	wait      time.Duration // how long a browser may take to join; 0: it is not waited for
	noCall    bool
	asJSON    bool

	asks    bool        // somebody answers
	dry     bool        // nobody does, and nothing was said to do it all the same
	lines   chan string // that they type
	program string      // what clients start
	report  setupReport
}

// setupReport is the outcome for a program.
type setupReport struct {
	Done  bool        `json:"done"` // all steps are done, or left out as was said
	Steps []setupStep `json:"steps"`
	Next  []string    `json:"next"` // what is left to the user
}

// setupStep is what became of a step.
type setupStep struct {
	Step  string `json:"step"`
	State string `json:"state"` // as a Finding's
	Text  string `json:"text"`
}

// none is what a flag says to leave a step out.
const none = "none"

func (a *app) setupCommand() *cobra.Command {
	s := &setup{app: a}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up the extension and your MCP clients, and make a test call",
		Long: `Set up the extension and your MCP clients, and make a test call.

On a terminal you are asked before anything is changed; --yes does all without asking.
What is there already stays, so you can run it again at any time, also after Ctrl-C.`,
		Example: `  tabhub setup
  tabhub setup --yes --client claude-code,cursor --extension none`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context(), cmd.Flags().Changed("wait"))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&s.yes, "yes", false, "do not ask")
	f.StringSliceVar(&s.clients, "client", []string{"all"}, "`clients` to set up, as \"tabhub install\" lists them; all: those found here; none")
	f.StringVar(&s.extension, "extension", "", "`directory` for the browser extension; none: leave it out (default: ~/tabhub-extension)")
	f.StringVar(&s.browser, "browser", "", "the `browser` to load the extension in, if several are found: chromium, chrome, edge, brave, arc, vivaldi, opera")
	f.StringVar(&s.autostart, "autostart", "", "yes or no: whether the hub is to run whenever you are logged in (default: ask; without questions: no)")
	f.DurationVar(&s.wait, "wait", 10*time.Minute, "how long to wait for the browser to join; without questions: 0s")
	f.BoolVar(&s.noCall, "no-call", false, "make no test call")
	f.BoolVar(&s.asJSON, "json", false, "print the outcome as JSON; asks nothing")
	return cmd
}

// errStopped ends a setup that the user has stopped.
var errStopped = errors.New("stopped; what is marked ok is done, and `tabhub setup` goes on from here")

func (s *setup) run(ctx context.Context, waits bool) error {
	if err := s.check(); err != nil {
		return err
	}
	s.asks = terminal.Is(s.in) && !s.yes && !s.asJSON
	s.dry = !s.asks && !s.yes
	if !s.asks && !waits {
		s.wait = 0
	}
	if s.asks {
		s.lines = make(chan string)
		go s.readLines(ctx)
	}
	var err error
	for _, step := range []func(context.Context) error{s.findProgram, s.findHub, s.setUpBrowser, s.setUpClients, s.setUpAutostart, s.testCalls} {
		if err = step(ctx); err != nil {
			break
		}
	}
	if err != nil && ctx.Err() != nil {
		err = errStopped
	}
	s.report.Done = err == nil && !s.dry && !slices.ContainsFunc(s.report.Steps, func(st setupStep) bool { return st.State == stateProblem })
	if err == nil && !s.dry {
		s.sayNext()
	}
	if s.asJSON {
		err = errors.Join(s.printValue(s.report), err)
	}
	switch {
	case err != nil:
		return err
	case s.dry:
		return usagef("nothing is changed, as nobody can be asked; --yes does all of this")
	case !s.report.Done:
		return errors.New("not all is set up; mend what is marked as a problem and run `tabhub setup` again")
	}
	return nil
}

// check looks at the flags.
func (s *setup) check() error {
	if err := s.checkHome(); err != nil {
		return err
	}
	for _, name := range s.clients {
		if name == "all" || name == none {
			if len(s.clients) > 1 {
				return usagef("--client %s stands alone", name)
			}
			continue
		}
		if _, err := clientconf.Named(name); err != nil {
			return &usageError{err}
		}
	}
	if s.extension == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return usagef("%w; say where the extension is to be with --extension DIR, or none", err)
		}
		s.extension = filepath.Join(home, "tabhub-extension")
	}
	if s.autostart != "" && s.autostart != "yes" && s.autostart != "no" {
		return usagef("--autostart is %q; it may be yes or no", s.autostart)
	}
	if s.wait < 0 {
		return usagef("--wait is negative")
	}
	return nil
}

// readLines passes on what is typed, until nothing more can be.
func (s *setup) readLines(ctx context.Context) {
	defer close(s.lines)
	r := bufio.NewReader(s.in)
	for {
		line, err := r.ReadString('\n')
		if err != nil && line == "" {
			return
		}
		select {
		case s.lines <- strings.TrimSpace(line):
		case <-ctx.Done():
			return
		}
	}
}

// choose asks for one of the words in choices, of which the first is taken if nothing is typed.
func (s *setup) choose(ctx context.Context, question string, choices ...string) (string, error) {
	if !s.asks {
		return choices[0], nil
	}
	shown := slices.Clone(choices)
	shown[0] = strings.ToUpper(shown[0][:1]) + shown[0][1:]
	for {
		fmt.Fprintf(s.err, "%s [%s] ", describe.Visible(question), strings.Join(shown, "/"))
		select {
		case line, ok := <-s.lines:
			if !ok {
				fmt.Fprintln(s.err)
				return "", errStopped
			}
			line = strings.ToLower(cmp.Or(line, choices[0]))
			for _, c := range choices {
				if c == line || c[:1] == line {
					return c, nil
				}
			}
		case <-ctx.Done():
			fmt.Fprintln(s.err)
			return "", errStopped
		}
	}
}

func (s *setup) confirms(ctx context.Context, question string) (bool, error) {
	answer, err := s.choose(ctx, question, "yes", "no")
	return answer == "yes", err
}

// Widths of the columns that say prints.
const (
	stateWidth = len("x problem")
	stepWidth  = len("autostart")
)

// say reports what has become of a step, or is to become of it where nothing is done.
func (s *setup) say(state, step, format string, args ...any) {
	st := setupStep{Step: step, State: state, Text: fmt.Sprintf(format, args...)}
	s.report.Steps = append(s.report.Steps, st)
	if s.asJSON {
		return
	}
	t := s.table()
	text := 0
	if columns := s.screen().Columns; columns > 0 {
		text = max(columns-stateWidth-stepWidth-4, 20)
	}
	t.SetWidths(stateWidth, stepWidth, text)
	t.Row(stateCell(state), step, oneLine(st.Text))
	t.Print()
}

// show prints what helps to answer a question, or to do what is asked for.
func (s *setup) show(text string) {
	if !s.asJSON {
		io.WriteString(s.out, text)
	}
}

// sayNext says what is left to the user.
func (s *setup) sayNext() {
	next := s.report.Next
	next = append(next, "Then ask, in words: which tabs are open, and what can you do there?")
	next = append(next, "`tabhub dashboard` shows what is done in your tabs, `tabhub doctor` what is wrong.")
	s.report.Next = next
	if s.asJSON {
		return
	}
	fmt.Fprintln(s.out, "\nNext:")
	t := s.table()
	for _, line := range next {
		t.Row("-", line)
	}
	t.Print()
}
