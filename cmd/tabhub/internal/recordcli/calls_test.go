package recordcli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// `tabhub calls -f` prints lines that a person can follow.
func TestWatchLines(t *testing.T) {
	var b bytes.Buffer
	a := &command.App{Out: command.Visible{W: &b}, Err: command.Visible{W: &b}, Stdout: &b, Stderr: &b, Env: func(string) string { return "" }}
	w := &watcher{entryPrinter: newEntryPrinter(a), now: a.Status(), brief: true}
	one := call.Running{ID: "CALL", Began: time.Date(2026, 1, 31, 12, 0, 0, 0, time.Local), Name: "claude", Domain: "e.com", Tool: "buy", Phase: call.PhaseAsking}
	half := one
	half.Phase, half.Progress = call.PhaseRunning, &spec.Progress{Progress: 1, Total: new(2.0), Message: "half\x1b[2J"}
	end := record.Line{Entry: record.Entry{Time: time.Now(), Event: record.Call, Name: "claude", Domain: "e.com", Tool: "buy", Outcome: "ok", Duration: time.Second}}
	for _, e := range []admin.WatchEvent{
		{Changed: []string{"questions"}},
		{Running: []call.Running{one}},
		{Running: []call.Running{half}},
		{Running: []call.Running{half}},
		{Entries: []record.Line{end, {Entry: record.Entry{Event: record.Register, Domain: "e.com", Reason: "0 prompts", Outcome: "ok"}}}, Missed: 3},
	} {
		event, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.show(event); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Replace(b.String(), "01-31 12:00:00", "BEGAN", 2)
	got = regexp.MustCompile(`\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(got, "TIME")
	want := `TIME            CLIENT          WHAT                                      OUTCOME
BEGAN  claude          buy@e.com                                 begun, CALL
BEGAN  claude          buy@e.com                                 waiting for you
TIME  claude          buy@e.com                                 50 % half\x1b[2J
3 entries came too fast to be shown; ` + "`tabhub log`" + ` has them
TIME  claude          buy@e.com                                 ok · 1.0 s
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
