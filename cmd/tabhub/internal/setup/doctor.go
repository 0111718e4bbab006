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

// What a finding may be. Only a problem makes the command fail: a machine where no hub
// has run yet, or where only one client is used, has none.
const (
	StateOK      = "ok"
	StateNote    = "note"
	StateProblem = "problem"
)

// Doctor looks at everything that tabhub needs, and changes nothing.
type Doctor struct {
	*command.App
	Config   *settings.Config
	Dir      home.Dir
	named    bool             // dir is one that other commands must be told, too
	Addrs    []string         // where the hub that runs listens
	Joined   []spec.PairingID // of the browsers that are connected
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
		c := settings.New()
		d, err := NewDoctor(a, c)
		if err != nil {
			return err
		}
		if err := c.Load(a, nil); err != nil {
			d.bad("settings", "mend that; no hub starts with it", "%v", err)
		}
		d.Examine(cmd.Context())
		n := 0
		for _, f := range d.Findings {
			if f.State == StateProblem {
				n++
			}
		}
		if *asJSON {
			err = d.PrintValue(struct {
				Problems int             `json:"problems"`
				Findings []admin.Finding `json:"findings"`
			}{n, d.Findings})
		} else {
			err = d.print()
		}
		if err != nil || n == 0 {
			return err
		}
		return fmt.Errorf("%s found", command.Plural(n, "problem"))
	}
	return cmd
}

// NewDoctor returns a doctor that has found nothing yet.
func NewDoctor(a *command.App, c *settings.Config) (*Doctor, error) {
	dir, err := a.Dir()
	return &Doctor{App: a, Config: c, Dir: dir, named: a.DataDir != a.Env("TABHUB_DATA_DIR")}, err
}

// Diagnose is the command for who looks at the hub's dashboard: the hub in this process
// finds what `tabhub doctor` finds on its machine. It asks itself by its socket, as that does.
func Diagnose(ctx context.Context, a *command.App, c *settings.Config) []admin.Finding {
	d, err := NewDoctor(a, c)
	if err != nil {
		return nil // the hub would not run
	}
	d.Examine(ctx)
	return d.Findings
}

func (d *Doctor) Examine(ctx context.Context) {
	d.directory()
	d.hub(ctx)
	d.program()
	d.autostart(ctx)
	d.Browser()
	d.clients()
}

// command is one of tabhub's commands, to be pasted: it is for the data directory that
// was looked at.
func (d *Doctor) command(words ...string) string {
	words = append([]string{"tabhub"}, words...)
	if d.named {
		words = append(words, "--data-dir", string(d.Dir))
	}
	return shell.Here(words...)
}

// restart is what has a hub of this program in place of one that runs.
func (d *Doctor) restart() string {
	return "`" + d.command("stop") + "`; the next client starts a hub again"
}

func (d *Doctor) fine(check, format string, args ...any) {
	d.Findings = append(d.Findings, admin.Finding{State: StateOK, Check: check, Text: fmt.Sprintf(format, args...)})
}

// Note says what need not be wrong. fix, if not "", says what would change it.
func (d *Doctor) Note(check, fix, format string, args ...any) {
	d.Findings = append(d.Findings, admin.Finding{State: StateNote, Check: check, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *Doctor) bad(check, fix, format string, args ...any) {
	d.Findings = append(d.Findings, admin.Finding{State: StateProblem, Check: check, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *Doctor) print() error {
	t := d.Table()
	for _, f := range d.Findings {
		t.Row(command.StateCell(f.State), f.Check, command.OneLine(f.Text))
		if f.Fix != "" {
			t.Row("", "", "fix: "+f.Fix)
		}
	}
	return t.Print()
}
