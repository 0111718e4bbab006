package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/face/admin"
	"tabhub/spec"
)

// What a finding may be. Only a problem makes the command fail: a machine where no hub
// has run yet, or where only one client is used, has none.
const (
	stateOK      = "ok"
	stateNote    = "note"
	stateProblem = "problem"
)

// doctor looks at everything that tabhub needs, and changes nothing.
type doctor struct {
	*app
	config   *config
	dir      home.Dir
	named    bool             // dir is one that other commands must be told, too
	addrs    []string         // where the hub that runs listens
	joined   []spec.PairingID // of the browsers that are connected
	findings []admin.Finding
}

func doctorCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong, and say how to mend it",
		Long: `Find what is wrong, and say how to mend it: the data directory, the hub, its ports,
the browser and its extension, the configurations of clients. The exit code
is 1 if there is a problem; notes are none.`,
		Example: `  tabhub doctor
  tabhub doctor --json`,
		Args: args(cobra.NoArgs),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c := newConfig()
		d, err := newDoctor(a, c)
		if err != nil {
			return err
		}
		if err := c.load(a, nil); err != nil {
			d.bad("settings", "mend that; no hub starts with it", "%v", err)
		}
		d.examine(cmd.Context())
		n := 0
		for _, f := range d.findings {
			if f.State == stateProblem {
				n++
			}
		}
		if *asJSON {
			err = d.printValue(struct {
				Problems int             `json:"problems"`
				Findings []admin.Finding `json:"findings"`
			}{n, d.findings})
		} else {
			err = d.print()
		}
		if err != nil || n == 0 {
			return err
		}
		return fmt.Errorf("%s found", plural(n, "problem"))
	}
	return cmd
}

// doctor returns a doctor that has found nothing yet.
func newDoctor(a *app, c *config) (*doctor, error) {
	dir, err := a.dir()
	return &doctor{app: a, config: c, dir: dir, named: a.dataDir != a.env("TABHUB_DATA_DIR")}, err
}

// diagnose is the command for who looks at the hub's dashboard: the hub in this process
// finds what `tabhub doctor` finds on its machine. It asks itself by its socket, as that does.
func diagnose(ctx context.Context, a *app, c *config) []admin.Finding {
	d, err := newDoctor(a, c)
	if err != nil {
		return nil // the hub would not run
	}
	d.examine(ctx)
	return d.findings
}

func (d *doctor) examine(ctx context.Context) {
	d.directory()
	d.hub(ctx)
	d.program()
	d.autostart(ctx)
	d.browser()
	d.clients()
}

// command is one of tabhub's commands, to be pasted: it is for the data directory that
// was looked at.
func (d *doctor) command(words ...string) string {
	words = append([]string{"tabhub"}, words...)
	if d.named {
		words = append(words, "--data-dir", string(d.dir))
	}
	return shell.Here(words...)
}

// restart is what has a hub of this program in place of one that runs.
func (d *doctor) restart() string {
	return "`" + d.command("stop") + "`; the next client starts a hub again"
}

func (d *doctor) fine(check, format string, args ...any) {
	d.findings = append(d.findings, admin.Finding{State: stateOK, Check: check, Text: fmt.Sprintf(format, args...)})
}

// note says what need not be wrong. fix, if not "", says what would change it.
func (d *doctor) note(check, fix, format string, args ...any) {
	d.findings = append(d.findings, admin.Finding{State: stateNote, Check: check, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *doctor) bad(check, fix, format string, args ...any) {
	d.findings = append(d.findings, admin.Finding{State: stateProblem, Check: check, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *doctor) print() error {
	t := d.table()
	for _, f := range d.findings {
		t.Row(stateCell(f.State), f.Check, oneLine(f.Text))
		if f.Fix != "" {
			t.Row("", "", "fix: "+f.Fix)
		}
	}
	return t.Print()
}
