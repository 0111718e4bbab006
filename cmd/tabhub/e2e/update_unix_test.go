//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/home"
)

// update puts the program at from in the place of the one that runs here, as an installer
// does.
func (p *place) update(from string) {
	p.t.Helper()
	into := filepath.Join(filepath.Dir(string(p.dir)), "tabhub")
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(into+".new", b, 0o755)
	}
	if err == nil {
		err = os.Rename(into+".new", into)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.program = into
}

// An update of the program takes effect in a hub that its user has started, and in one that a
// client has. Clients that call all the time lose no call, and none runs twice; bridges from before
// the update do not bring the old program back.
func TestUpdateUnderCalls(t *testing.T) {
	t.Parallel()
	newer, err := rig.Build(t.TempDir(), "v1.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for name, byHand := range map[string]bool{"by hand": true, "by a client": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.update(program)
			if byHand {
				p.serve("--set=label-results=true")
			}
			old := p.stdio()
			counts := newCounter()
			p.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
				counts.add(tool, args)
				return echo(args)
			}})
			buy := old.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
			first := p.hub()

			var (
				workers  sync.WaitGroup
				stop     atomic.Bool
				next     atomic.Int64
				mu       sync.Mutex
				outcomes = make(map[int]string)
				ended    = make(chan struct{}, 1)
			)
			for range 4 {
				workers.Go(func() {
					for !stop.Load() {
						n := int(next.Add(1))
						got := old.call(buy, fmt.Sprintf(`{"n":%d}`, n)).outcome()
						mu.Lock()
						outcomes[n] = got
						mu.Unlock()
						select {
						case ended <- struct{}{}:
						default:
						}
					}
				})
			}
			more := func(n int) {
				t.Helper()
				for late, want := time.After(timeout), next.Load()+int64(n); next.Load() < want; {
					select {
					case <-ended:
					case <-late:
						t.Fatal("the calls do not go on")
					}
				}
			}
			more(50)
			p.update(newer)
			// The status of a hub of another version shows both versions.
			if out := p.succeed("status"); !strings.Contains(out, "v1.0.0") || !strings.Contains(out, "v1.1.0") {
				t.Errorf("no word of the versions in\n%s", out)
			}
			recent := p.stdio()
			now := p.hub()
			if now.Started.Equal(first.Started) || now.Version != "v1.1.0" {
				t.Errorf("the hub is the one from before: %+v", now)
			}
			if same := now.PID == first.PID; same != byHand {
				t.Errorf("the hub was process %d and is %d", first.PID, now.PID)
			}
			if got := recent.call(buy, `{"n":-1}`).outcome(); got != "ok" {
				t.Errorf("a call of the client that came with the update: %s", got)
			}
			updated := int(next.Load())
			more(50)
			// A bridge from before loses its hub, and comes back to one of the new program.
			p.killHere()
			more(50)
			if h := p.hub(); h.Version != "v1.1.0" {
				t.Errorf("the hub is of %s again", h.Version)
			}
			stop.Store(true)
			workers.Wait()
			most := 4
			if p.nodes != nil {
				most *= 2 // a node cuts off the bridges whose hub is on another
			}
			for n, got := range outcomes {
				if n <= updated && got != "ok" && p.nodes == nil {
					t.Errorf("call %d was lost in the update: %s", n, got)
				}
			}
			if n := countLost(t, outcomes, func(n int) int { return counts.of("buy", n) }); n > most {
				t.Errorf("%d calls were lost, more than were under way when the hub was killed", n)
			}
		})
	}
}

// askToUpgrade asks the hub, as a newer bridge does, to run the program that has replaced its
// file.
func (p *place) askToUpgrade() (status int, said string) {
	p.t.Helper()
	resp, err := p.dir.Client().Post(home.SocketURL+"/api/stop", "application/json", strings.NewReader(`{"reason":"upgrade"}`))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A program that cannot replace the hub would leave all its users without a hub.
func TestUpdateThatDoesNotRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.update(program)
	p.serve("--set=label-results=true")
	first := p.hub()
	for name, text := range map[string]string{
		"for another processor": "\x7fELF",
		"without a flag":        "#!/bin/sh\necho unknown flag: $4; exit 2",
		"gone":                  "",
	} {
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if p.update(bad); text == "" {
			os.Remove(p.program)
		}
		if status, said := p.askToUpgrade(); status != http.StatusConflict || !strings.Contains(said, "does not run with the flags of this hub") {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	p.program = program
	if out, said, exit := p.run("status"); exit != 0 || !p.hub().Started.Equal(first.Started) {
		t.Errorf("the hub is not the one from before: %s %s", out, said)
	}
}

// Ctrl-C ends a hub also while that finishes its calls for an upgrade.
func TestStopDuringUpdate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hub := p.serve()
	c := p.stdio()
	began, finish := make(chan struct{}), make(chan struct{})
	p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string {
		close(began)
		<-finish
		return echo(args)
	}})
	buy := c.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
	c.close()
	call := rig.Start(t, p.command("call", buy, `{"n":1}`))
	<-began
	if status, said := p.askToUpgrade(); status != http.StatusAccepted {
		t.Errorf("%d %s", status, said)
	}
	hub.Stderr.Await(t, "stopping")
	if err := hub.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	close(finish)
	call.AwaitEnd()
	hub.AwaitEnd()
	how := hub.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	if how.Signal() != syscall.SIGTERM && how.ExitStatus() != 0 { // the signal may come to the program that takes over
		t.Errorf("the hub ends with %v", hub.Cmd.ProcessState)
	}
}
