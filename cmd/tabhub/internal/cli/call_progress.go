package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/spec"
)

// cancelWait is how long the hub may take to say what has become of a call that was cancelled.
const cancelWait = 5 * time.Second

// CallTool has the hub call a tool, and shows how it goes until there is a result. When ctx
// ends, the call is cancelled, and the error says whether it may have taken effect.
func CallTool(ctx context.Context, a *command.App, in admin.CallRequest) (json.RawMessage, error) {
	r, err := a.Remote()
	if err != nil {
		return nil, err
	}
	waiting, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	type received struct {
		admin.CallEvent
		err error
	}
	events := make(chan received)
	go func() {
		for b, err := range r.Events(waiting, http.MethodPost, "/api/call", in) {
			got := received{err: err}
			if err == nil {
				got.err = command.Decode(b, &got.CallEvent)
			}
			select {
			case events <- got:
			case <-waiting.Done():
			}
		}
	}()
	shown := newProgress(a)
	defer shown.line.Clear()
	tick := time.NewTicker(terminal.Frame)
	defer tick.Stop()
	var id string
	cancelled, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case got := <-events:
			switch {
			case got.err != nil && id != "":
				return nil, fmt.Errorf("%w; the call may have taken effect", got.err)
			case got.err != nil:
				return nil, got.err
			case got.ErrorReport != nil:
				return nil, errors.New(got.Error)
			case got.Result != nil && cancelled == nil:
				return got.Result, wasStopped(got.Result)
			case got.Result != nil:
				return got.Result, nil
			case got.Call != "":
				id = got.Call
			default:
				shown.Add(got.Progress)
			}
		case <-tick.C:
			shown.Show()
		case <-cancelled:
			cancelled, late = nil, time.After(cancelWait)
			if id == "" {
				leave()
				return nil, errCancelled
			}
			go r.Do(waiting, http.MethodDelete, "/api/calls?id="+url.QueryEscape(id), nil) // what comes of it is among the events
		case <-late:
			return nil, errCancelled
		}
	}
}

var errCancelled = errors.New("cancelled; the call may have taken effect")

// wasStopped returns what a result says of a call that was cancelled, nil if it has ended
// before.
func wasStopped(result json.RawMessage) error {
	f, ok := command.FailureOf(result)
	switch {
	case !ok || f.Code != spec.FailStopped:
		return nil
	case strings.HasSuffix(f.Message, "not sent"):
		return errors.New("cancelled; the call was not sent")
	}
	return errCancelled
}

// progress shows the person who waits for a call how it goes: in a line that is rewritten, or
// where that cannot be, with a line for each thing that is said.
type progress struct {
	*command.App
	line   *terminal.Status
	began  time.Time
	latest string
	asked  string // what the person has to do
}

func newProgress(a *command.App) *progress {
	return &progress{App: a, line: a.Status(), began: time.Now()}
}

// Add takes in what is said.
func (p *progress) Add(said *admin.ProgressReport) {
	var words []string
	message := terminal.OneLine(said.Message, 200)
	if said.Waiting && p.line.Screen.Rewrites { // which would cut it
		if message != p.asked {
			p.line.Clear()
			p.Note("%s", message)
		}
		p.asked, message = message, ""
	}
	switch {
	case said.Waiting:
		words = append(words, p.line.Screen.State(terminal.Wait, "waiting for you"))
	case said.Total != nil && *said.Total > 0:
		words = append(words, p.line.Screen.Bar(said.Progress/(*said.Total)))
	case said.Progress > 0:
		words = append(words, fmt.Sprint(said.Progress))
	}
	if message != "" {
		words = append(words, message)
	}
	latest := strings.Join(words, "  ")
	if !p.line.Screen.Rewrites && latest != p.latest {
		fmt.Fprintln(p.Err, latest)
	}
	p.latest = latest
}

// Show shows how long the call has taken, and what was said last.
func (p *progress) Show() {
	passed := time.Since(p.began)
	p.line.Show(p.line.Screen.Spinner(passed) + fmt.Sprintf("%.1f s  ", passed.Seconds()) + p.latest)
}
