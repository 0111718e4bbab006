package cli

import (
	"io"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
	"tabhub/hub/face/admin"
)

// The owner for whom a call waits reads the whole command that answers, for which the line with the
// time has no room.
func TestCallThatWaitsForYou(t *testing.T) {
	terminal, tty := ptytest.Open(t, 80)
	line := "tabhub approve QUESTIONQUESTIONQUESTION26"
	go func() {
		defer tty.Close()
		a := &command.App{Stderr: tty, Env: func(string) string { return "" }}
		shown := newProgress(a)
		for range 2 {
			shown.Add(&admin.ProgressReport{Message: "waiting for the owner's answer (" + line + ")", Waiting: true})
			shown.Show()
		}
	}()
	b, _ := io.ReadAll(terminal) // ends with an error when nobody has the tty any more
	if seen := string(b); strings.Count(seen, line) != 1 || !strings.HasSuffix(seen, "◆ waiting for you\x1b[0m") {
		t.Errorf("seen: %q", seen)
	}
}
