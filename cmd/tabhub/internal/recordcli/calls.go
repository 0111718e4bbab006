package recordcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	hubstate "tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

func CallsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calls",
		Short: "Show the calls that are under way, and end one",
		Long: `List the calls that are under way, or with --follow show what is done for your clients, as
it begins, goes on and ends, until Ctrl-C.

What ends is shown as "tabhub log" has it; so is what waits for you, browsers that come and go, and
what you change. The last line of a terminal has the calls under way; with --all, and in a pipe, a
call is also shown when it begins, with its ID, which "tabhub calls cancel" takes.`,
		Example: `  tabhub calls
  tabhub calls -f
  tabhub calls -f --json | jq -c .running`,
		Args: command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	all := cmd.Flags().Bool("all", false, "with --follow, show also calls that begin, and what pages register")
	follow := cmd.Flags().BoolP("follow", "f", false, "show what begins, goes on and ends; with --json a line for each change")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !*follow {
			all, err := underWay(cmd.Context(), a)
			if err != nil {
				return err
			}
			if *asJSON {
				return a.PrintValue(append([]call.Running{}, all...))
			}
			return printUnderWay(a, all)
		}
		w := &watcher{entryPrinter: newEntryPrinter(a), now: a.Status(), brief: !*all}
		show := w.show
		if *asJSON {
			show = w.showJSON
		}
		err := watch(cmd.Context(), a, show)
		w.now.Clear()
		if cmd.Context().Err() != nil {
			return nil
		}
		if _, _, ended := a.Running(); w.headed && errors.Is(ended, home.ErrNoHub) {
			return errors.Join(w.printAt(time.Now(), "", "the hub", "", command.StateCell(command.Absent)), ended)
		}
		return err
	}
	cmd.AddCommand(cancelCommand(a))
	return cmd
}

// watch calls f with what has changed since the last time, beginning with what is now, until
// it fails or the hub ends.
func watch(ctx context.Context, a *command.App, f func([]byte) error) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	for b, err := range r.Events(ctx, http.MethodGet, "/api/watch", nil) {
		if err == nil {
			err = f(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watcher prints what goes on: a line for each thing that happens, and below them, where a line
// can be rewritten, how far the calls under way are.
type watcher struct {
	*entryPrinter
	now   *terminal.Status
	brief bool                     // without what pages offer
	said  map[string]terminal.Cell // of each call that is under way, by its ID
	// browsers are those that are connected, by their ids; nil until they were asked for.
	browsers map[spec.PeerID]string
	paused   bool
	hinted   bool // how to answer
}

func (w *watcher) showJSON(event []byte) error {
	_, err := w.Out.Write(describe.VisibleJSON(event))
	return err
}

func (w *watcher) show(event []byte) error {
	var e admin.WatchEvent
	if err := command.Decode(event, &e); err != nil {
		return err
	}
	w.now.Clear()
	if err := w.printHeader(); err != nil {
		return err
	}
	said := make(map[string]terminal.Cell, len(e.Running))
	var under []string
	for i := range e.Running {
		c := &e.Running[i]
		is := stage(c)
		said[c.ID] = is
		under = append(under, c.Tool+" "+is.Text)
		if err := w.printStage(c, is); err != nil {
			return err
		}
	}
	w.said = said
	if e.Missed > 0 {
		w.Hint("%d entries came too fast to be shown; `tabhub log` has them", e.Missed)
	}
	for i := range e.Entries {
		l := &e.Entries[i]
		l.Time = l.Time.Add(l.Duration) // its end
		if w.brief && (l.Event == record.Begun || !strings.Contains(","+briefEvents+",", ","+string(l.Event)+",") || isAside(l)) {
			continue
		}
		if err := w.print(l, record.Payload{}); err != nil {
			return err
		}
	}
	if err := w.showState(e.Changed); err != nil {
		return err
	}
	if n := len(under) + e.More; n > 0 {
		w.now.Show(w.now.Screen.Paint(terminal.Accent, terminal.OneLine(fmt.Sprintf("%d under way: %s", n, strings.Join(under, ", ")), maxUnderWay)))
	}
	return nil
}

// showState prints which browsers have come or gone, and whether all is paused, if that is news.
func (w *watcher) showState(changed []string) error {
	if !slices.Contains(changed, "tabs") && !slices.Contains(changed, "policy") {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), command.AnswerTimeout)
	defer cancel()
	r, err := w.Remote()
	if err != nil {
		return err
	}
	state := func(what, state string) error { return w.printAt(time.Now(), "", what, "", command.StateCell(state)) }
	if slices.Contains(changed, "tabs") {
		var all []hubstate.BrowserInfo
		if err := r.Call(ctx, http.MethodGet, "/api/browsers", nil, &all); err != nil {
			return err
		}
		is := map[spec.PeerID]string{}
		for _, b := range all {
			if b.Connected && !b.Single {
				is[b.Peer] = cmp.Or(b.Label, b.Name, "a browser")
			}
		}
		for peer, name := range is {
			if w.browsers[peer] == "" {
				err = errors.Join(err, state("browser "+name, command.Connected))
			}
		}
		for peer, name := range w.browsers {
			if is[peer] == "" {
				err = errors.Join(err, state("browser "+name, command.Away))
			}
		}
		if w.browsers == nil && len(is) == 0 {
			var s admin.StatusReport
			if err := r.Call(ctx, http.MethodGet, "/api/status", nil, &s); err != nil {
				return err
			}
			if s.Paired == 0 {
				err = state("no browser", command.Unpaired)
			}
		}
		if w.browsers = is; err != nil {
			return err
		}
	}
	if !slices.Contains(changed, "policy") {
		return nil
	}
	var p admin.PolicyReport
	if err := r.Call(ctx, http.MethodGet, "/api/policy", nil, &p); err != nil {
		return err
	}
	was := w.paused
	w.paused = p.Paused()
	if w.paused && !was {
		return state("all clients; `tabhub resume` lets them go on", command.Paused)
	}
	return nil
}

// printStage prints how far a call has come, if that is news.
func (w *watcher) printStage(c *call.Running, is terminal.Cell) error {
	at := time.Now()
	print := func(is terminal.Cell) error {
		return w.printAt(at, clientOf(c), through(ofPack(command.ToolAt(c.Tool, c.Domain), c.Pack), c.Via), "", is)
	}
	was, known := w.said[c.ID]
	if !known {
		was = begun
		at = c.Began                            // a call may have been under way before this command was
		if !w.brief || !w.now.Screen.Rewrites { // else the last line has it
			if err := print(terminal.Cell{Text: "begun, " + c.ID, Tone: begun.Tone}); err != nil {
				return err
			}
		}
	}
	if is == was || is.Tone == begun.Tone && w.now.Screen.Rewrites {
		return nil
	}
	if err := print(is); err != nil || c.Phase != call.PhaseAsking || w.hinted || !w.OnTerminal() {
		return err
	}
	w.hinted = true
	w.Hint("`tabhub approve` answers, and so do the dashboard and the browser's window.")
	return nil
}

// maxUnderWay is how much is said of the calls under way.
const maxUnderWay = 200

// begun is the stage of a call that says nothing yet. Those that say something have its tone.
var begun = terminal.Cell{Text: "begun", Tone: terminal.Accent}

// stage says how far a call under way has come.
func stage(c *call.Running) terminal.Cell {
	p := c.Progress
	switch {
	case c.Phase == call.PhaseAsking, p != nil && p.Waiting:
		return command.StateCell(command.Waiting)
	case c.Phase == call.PhaseWaiting:
		return terminal.Cell{Text: "waiting for a tab", Tone: terminal.Soft}
	case p == nil:
		return begun
	}
	text := fmt.Sprint(p.Progress)
	if p.Total != nil && *p.Total > 0 {
		text = fmt.Sprintf("%.0f %%", 100*p.Progress/(*p.Total))
	}
	return terminal.Cell{Text: strings.TrimSpace(text + " " + p.Message), Tone: begun.Tone}
}

func cancelCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "End a call that is under way",
		Long: `End a call that is under way: its tab is told to stop, and its client that you have
stopped it. Of the ID the first characters are enough.`,
		Example: `  tabhub calls cancel 7QK3`,
		Args:    command.Args(cobra.ExactArgs(1)),
	}
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		all, err := underWay(cmd.Context(), a)
		if err != nil {
			return err
		}
		found := slices.DeleteFunc(all, func(c call.Running) bool { return !strings.HasPrefix(c.ID, strings.ToUpper(pos[0])) })
		switch {
		case len(found) == 0 || pos[0] == "":
			return fmt.Errorf("no call %q is under way; `tabhub calls` lists those that are", pos[0])
		case len(found) > 1:
			return fmt.Errorf("the IDs of %d calls begin with %q; write more of it", len(found), pos[0])
		}
		if err = a.Send(cmd.Context(), http.MethodDelete, "/api/calls?id="+url.QueryEscape(found[0].ID), nil); err == nil {
			a.Note("cancelled; `tabhub log call=%s` says how it has ended", found[0].ID)
		}
		return err
	}
	return cmd
}

// underWay returns the calls that are.
func underWay(ctx context.Context, a *command.App) (all []call.Running, err error) {
	ctx, cancel := context.WithTimeout(ctx, command.AnswerTimeout)
	defer cancel()
	r, err := a.Remote()
	if err != nil {
		return nil, err
	}
	for b, err := range r.Events(ctx, http.MethodGet, "/api/watch", nil) {
		var e admin.WatchEvent
		if err == nil {
			err = command.Decode(b, &e)
		}
		return e.Running, err
	}
	return nil, nil
}

func printUnderWay(a *command.App, all []call.Running) error {
	if len(all) == 0 {
		a.Note("no call is under way; `tabhub calls -f` shows those that begin")
		return nil
	}
	t := a.Table("ID", "CLIENT", "SITE", "WHAT", "SINCE", "STATE")
	for i := range all {
		c := &all[i]
		t.Row(c.ID, clientOf(c), c.Domain, through(ofPack(c.Tool, c.Pack), c.Via), c.Began.Local().Format(time.TimeOnly), stage(c))
	}
	return t.Print()
}

func clientOf(c *call.Running) string { return cmp.Or(c.Name, c.Said, c.Client) }
