package packcli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/admin"
	"tabhub/spec"
)

// recordFor is how long `tabhub pack record` waits for a recording, of which the browser ends one after
// ten minutes.
const recordFor = 15 * time.Minute

func packRecordCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record [NAME]",
		Short: "Record in your browser what you do, as the draft of a pack",
		Long: `Record in your browser what you do on a site, as the draft of a pack. The extension asks you
first. Passwords, card numbers and one-time codes are never written down. The draft does
nothing until you accept it.

With --again, do the same once more with other values: what is different becomes an argument.`,
		Example: `  tabhub pack record shop-order
  tabhub pack record shop-order --again`,
		Args: command.Args(cobra.MaximumNArgs(1)),
	}
	again := cmd.Flags().Bool("again", false, "once more for NAME: what is different becomes an argument")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if *again && len(pos) == 0 {
			return command.Usagef("--again is for what was recorded before; name it")
		}
		return recordPack(cmd.Context(), a, pos, *again)
	}
	return cmd
}

func recordPack(ctx context.Context, a *command.App, name []string, again bool) error {
	ctx, cancel := context.WithTimeout(ctx, recordFor)
	defer cancel()
	var before []admin.PackReport
	if err := command.Ask(ctx, a, "/api/packs", &before); err != nil {
		return err
	}
	var in spec.Record
	if len(name) > 0 {
		in.Name = name[0]
		i := slices.IndexFunc(before, func(p admin.PackReport) bool { return p.Name == in.Name })
		switch {
		case i < 0 && again:
			return fmt.Errorf("there is no pack %s; `%s` records it", in.Name, a.Tabhub("pack", "record", in.Name))
		case i >= 0 && !again:
			return fmt.Errorf("there is a pack %s; `%s` records it once more, `%s` removes it", in.Name, a.Tabhub("pack", "record", in.Name, "--again"), a.Tabhub("pack", "remove", in.Name))
		}
	}
	r, err := a.Remote()
	if err != nil {
		return err
	}
	var asked admin.PackRecording
	if err := r.Call(ctx, http.MethodPost, "/api/packs/record", in, &asked); err != nil {
		return err
	}
	a.Note("%s asks you whether to record; Ctrl+C ends the waiting here, the button there the recording", asked.Browser)
	for b, err := range r.Events(ctx, http.MethodGet, "/api/watch", nil) {
		var e admin.WatchEvent
		if err == nil {
			err = command.Decode(b, &e)
		}
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return errors.New("nothing was recorded; was the question in the browser declined?")
		case err != nil:
			return err
		case !slices.Contains(e.Changed, "packs"):
			continue
		}
		var now []admin.PackReport
		if err := command.Ask(ctx, a, "/api/packs", &now); err != nil {
			return err
		}
		for i := range now {
			if p := &now[i]; p.Waiting != nil && !slices.ContainsFunc(before, func(was admin.PackReport) bool { return was.Waiting != nil && was.Waiting.Hash == p.Waiting.Hash }) {
				return printDraft(a, p)
			}
		}
	}
	return nil
}

func printDraft(a *command.App, p *admin.PackReport) error {
	if err := printPack(a, p); err != nil {
		return err
	}
	a.Hint("`%s` writes it into a file: say there what the tool is for, and add a read as its last step for what it answers. `%s` finds what its arguments are.", a.Tabhub("pack", "show", p.Name, "--json")+" > FILE", a.Tabhub("pack", "record", p.Name, "--again"))
	return nil
}
