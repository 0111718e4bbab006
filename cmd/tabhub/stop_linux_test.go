package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
)

// A hub that hangs does not hang the user's terminal, too: its process is told to end,
// and if that does not help the user is told what does. The process of an older version,
// which has no socket, is told at once.
func TestStopOfAHubThatHangs(t *testing.T) {
	for _, c := range []struct {
		name           string
		older, ignores bool
	}{{"hangs", false, false}, {"is older", true, false}, {"does not end", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			dir := home.Dir(filepath.Join(t.TempDir(), "data"))
			if err := dir.Make(); err != nil {
				t.Fatal(err)
			}
			socket := dir.Socket()
			if c.older {
				socket = ""
			}
			process := exec.Command("hang", string(dir), socket, fmt.Sprint(c.ignores)) // testscript.Main has put it on the PATH
			out, err := process.StdoutPipe()
			if err == nil {
				err = process.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer process.Process.Kill()
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
				t.Fatalf("%s%v", line, err)
			}
			a := &app{env: func(string) string { return "" }, config: config{dataDir: string(dir)}}
			if c.ignores {
				err := a.stop(t.Context(), dir, time.Millisecond, time.Millisecond)
				if want := fmt.Sprintf("`kill -9 %d`", process.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("stop says %v, want %s", err, want)
				}
				return
			}
			if err := a.stop(t.Context(), dir, time.Millisecond, time.Minute); err != nil {
				t.Errorf("stop says %v", err)
			}
			if err := process.Wait(); err == nil {
				t.Error("the process was not told")
			}
		})
	}
}
