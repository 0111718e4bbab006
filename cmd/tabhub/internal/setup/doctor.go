package setup

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/face/admin"
	"tabhub/spec"
)

// The states of a finding. Only a problem makes the command fail: a machine where no hub
// has run yet, or where only one client is used, has none.
const (
	StateOK      = "ok"
	StateNote    = "note"
	StateProblem = "problem"
)

// check examines one thing that tabhub needs.
type check struct {
	name string
	look func(*Doctor, context.Context) // adds what it finds, and changes nothing
	// mend is what setup does before it looks; nil: the user mends it, as the finding says.
	mend func(*setup, context.Context) error
}

// checks are all of them: doctor looks, setup mends and looks. A check may use what an earlier one
// has learned.
func checks() []check {
	return []check{
		{"data", (*Doctor).directory, nil},
		{"hub", (*Doctor).hub, (*setup).startHub},
		{"store", (*Doctor).store, nil},
		{"ports", (*Doctor).Ports, nil},
		{"token", (*Doctor).token, nil},
		{"extension", (*Doctor).extension, (*setup).setUpBrowser},
		{"program", (*Doctor).program, nil},
		{"autostart", (*Doctor).autostart, nil},
		{"browser", (*Doctor).Browser, nil},
		{"clients", (*Doctor).clients, (*setup).setUpClients},
	}
}

// Doctor runs checks.
type Doctor struct {
	*command.App
	Config *settings.Config
	Dir    home.Dir
	named  bool // other commands need Dir as a flag
	start  bool // the servers of the user's clients are started, as the clients do

	// What the checks have learned.
	Running  home.Hub
	Status   *admin.StatusReport // of the hub that runs; nil: it has not said
	silent   bool                // a hub seems to run, but does not answer
	Addrs    []string            // where the hub that runs listens
	Joined   []spec.PairingID    // of the browsers that are connected
	Findings []admin.Finding
}

func DoctorCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong, and say how to mend it",
		Long: `Find what is wrong, and say how to mend it: the data directory, the hub, its ports,
the browser and its extension, the configurations of clients. The exit code
is 1 if there is a problem; notes are none.`,
		Example: `  tabhub doctor
  tabhub doctor --json`,
		Args: command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		all := Diagnose(cmd.Context(), a, nil)
		n := problems(all)
		if *asJSON {
			err = a.PrintValue(struct {
				Problems int             `json:"problems"`
				Findings []admin.Finding `json:"findings"`
			}{n, all})
		} else {
			err = printFindings(a, all)
		}
		if err != nil || n == 0 {
			return err
		}
		return fmt.Errorf("%s found", command.Plural(n, "problem"))
	}
	return cmd
}

// newDoctor returns a doctor that has run no check yet. If c is nil, it loads the settings, and
// what is wrong with them is its first finding.
func newDoctor(a *command.App, c *settings.Config) (*Doctor, error) {
	dir, err := a.Dir()
	d := &Doctor{App: a, Config: c, Dir: dir, named: a.DataDir != a.Env("TABHUB_DATA_DIR")}
	if c == nil {
		d.Config = settings.New()
		if err := d.Config.Load(a, nil); err != nil {
			d.bad("settings", "mend that; no hub starts with it", "%v", err)
		}
	}
	return d, err
}

// Diagnose runs all checks. A hub's dashboard shows the findings, too; even in the hub's own process
// the checks reach it through its socket. If c is nil, the settings are loaded.
func Diagnose(ctx context.Context, a *command.App, c *settings.Config) []admin.Finding {
	d, err := newDoctor(a, c)
	if err != nil {
		d.bad("data", "pass --data-dir", "%v", err)
		return d.Findings
	}
	for _, c := range checks() {
		c.look(d, ctx)
	}
	return d.Findings
}

func problems(all []admin.Finding) (n int) {
	for _, f := range all {
		if f.State == StateProblem {
			n++
		}
	}
	return n
}

// command returns one of tabhub's commands, to be pasted, for the data directory d.Dir.
func (d *Doctor) command(words ...string) string {
	words = append([]string{"tabhub"}, words...)
	if d.named {
		words = append(words, "--data-dir", string(d.Dir))
	}
	return shell.Here(words...)
}

// restart says how to replace the hub that runs by one of this program.
func (d *Doctor) restart() string {
	return "`" + d.command("stop") + "`; the next client starts a hub again"
}

func (d *Doctor) fine(check, format string, args ...any) {
	d.Findings = append(d.Findings, admin.Finding{State: StateOK, Check: check, Text: fmt.Sprintf(format, args...)})
}

// note adds what need not be wrong. fix, if not "", says what would change it.
func (d *Doctor) note(check, fix, format string, args ...any) {
	d.Findings = append(d.Findings, admin.Finding{State: StateNote, Check: check, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *Doctor) bad(check, fix, format string, args ...any) {
	d.Findings = append(d.Findings, admin.Finding{State: StateProblem, Check: check, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func printFindings(a *command.App, all []admin.Finding) error {
	t := a.Table()
	for _, f := range all {
		t.Row(command.StateCell(f.State), f.Check, command.OneLine(f.Text))
		if f.Fix != "" {
			t.Row("", "", "fix: "+f.Fix)
		}
	}
	return t.Print()
}
