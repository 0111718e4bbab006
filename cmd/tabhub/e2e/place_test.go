package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/porttest"
)

// place is a data directory of a test, with the hubs that run there one after the
// other.
type place struct {
	t       testing.TB
	program string // the tabhub that runs here
	dir     home.Dir
	// listen is the address that hubs here listen on. A restarted hub must listen where its
	// tabs connect.
	listen string
	env    []string
	nodes  *nodes // nil: there is one hub
	// prepare, if not nil, is called with each command before it starts.
	prepare func(*exec.Cmd)
}

func newPlace(t testing.TB, env ...string) *place {
	t.Helper()
	p := &place{t: t, program: program, dir: home.Dir(filepath.Join(t.TempDir(), "data")), listen: porttest.Free(t)}
	p.env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TABHUB_") })
	// Most of these tests are not about the policy, and their pages are unverified.
	p.env = append(p.env, "TABHUB_POLICY=open")
	// The race detector has each process rest for a second before it ends.
	p.env = append(append(p.env, "GORACE=atexit_sleep_ms=0"), env...)
	if os.Getenv(nodesVar) != "" {
		p.join()
	}
	t.Cleanup(p.end)
	return p
}

// within returns a context that ends with the test, or when timeout is over.
func (p *place) within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	p.t.Cleanup(cancel)
	return ctx
}

// until polls for a condition without an event.
func (p *place) until(what string, is func() bool) {
	p.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(timeout); !is(); <-look.C {
		if time.Now().After(late) {
			p.t.Fatal("waited for too long: " + what)
		}
	}
}

// command is tabhub with args in this place. Of several nodes, the others run when it runs one.
func (p *place) command(args ...string) *exec.Cmd {
	if p.nodes != nil && len(args) > 0 && (args[0] == "serve" || args[0] == "stdio") {
		p.nodes.startFor(args)
	}
	return p.commandAt(p.dir, args...)
}

// commandAt is tabhub with args and another data directory.
func (p *place) commandAt(dir home.Dir, args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, append(args, "--data-dir", string(dir))...)
	cmd.Env = p.env
	if p.prepare != nil {
		p.prepare(cmd)
	}
	return cmd
}

// run runs tabhub to its end.
func (p *place) run(args ...string) (stdout, stderr string, exit int) {
	p.t.Helper()
	return runCommand(p.t, p.command(args...))
}

func runCommand(t testing.TB, cmd *exec.Cmd) (stdout, stderr string, exit int) {
	t.Helper()
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	kill := time.AfterFunc(timeout, func() { cmd.Process.Kill() })
	defer kill.Stop()
	err := cmd.Run()
	if bad, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok && bad.ExitCode() < 0 {
		t.Fatalf("%v did not end: %s", cmd.Args, diag.String())
	}
	return out.String(), diag.String(), cmd.ProcessState.ExitCode()
}

// serve starts a hub and waits until it listens.
func (p *place) serve(args ...string) *rig.Process {
	p.t.Helper()
	hub := rig.Start(p.t, p.command(append([]string{"serve", "--listen", p.listen}, args...)...))
	hub.Stderr.Await(p.t, "listening on ")
	p.t.Cleanup(hub.Stop)
	if p.nodes != nil {
		p.nodes.meet()
	}
	return hub
}

// hub returns what hub.json says of the hub that runs.
func (p *place) hub() home.Hub {
	p.t.Helper()
	h, err := p.dir.ReadHub()
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// tabsAt is the address at which tabs reach the hub, also while none runs.
func (p *place) tabsAt() string {
	if p.nodes != nil {
		return p.nodes.tabs
	}
	if h, err := p.dir.ReadHub(); err == nil {
		return h.Addr
	}
	return p.listen
}

// url is the base of the running hub's endpoints.
func (p *place) url() string {
	p.t.Helper()
	return p.hub().URL()
}

func (p *place) token() string {
	p.t.Helper()
	token, err := p.dir.Token()
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

// kill ends the running hub as kill -9 does: of several nodes, that which has the users.
func (p *place) kill() {
	p.t.Helper()
	if p.nodes != nil {
		p.nodes.kill()
		return
	}
	p.killHere()
}

// askToStop does what `tabhub stop` does before it waits for the end: of several nodes, to that
// which has the users.
func (p *place) askToStop() {
	p.t.Helper()
	url := p.users().URL()
	if p.nodes != nil {
		defer p.nodes.startAgain()
	}
	if resp, body, err := post(p.within(), url+"/api/stop", bearer(p.token()), `{"reason":"stop"}`); err != nil || resp.StatusCode != http.StatusAccepted {
		p.t.Fatalf("stop: %v %s %v", resp, body, err)
	}
}

// users returns what hub.json says of the hub that has the users.
func (p *place) users() home.Hub {
	p.t.Helper()
	if p.nodes == nil {
		return p.hub()
	}
	p.nodes.revive.Wait()
	h, err := p.nodes.dir(ownerNode).ReadHub()
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// serveAgain starts a hub after kill. Of several nodes, the one that was killed starts by itself.
func (p *place) serveAgain(args ...string) {
	p.t.Helper()
	if p.nodes == nil {
		p.serve(args...)
		return
	}
	p.nodes.revive.Wait()
}

// killHere ends the process of this data directory as kill -9 does.
func (p *place) killHere() {
	p.t.Helper()
	hub, err := os.FindProcess(p.hub().PID)
	if err == nil {
		err = hub.Kill()
	}
	if err != nil {
		p.t.Errorf("killing the hub: %v", err)
	}
}

// api asks the admin API and decodes the answer into v.
func (p *place) api(path string, v any) {
	p.t.Helper()
	p.apiAs(p.token(), path, v)
}

func (p *place) apiAs(token, path string, v any) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.within(), http.MethodGet, p.url()+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header = bearer(token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %s %v", path, resp.Status, body, err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		p.t.Fatalf("%s: %v in %s", path, err, body)
	}
}

// awaitNoHub waits until no hub runs here.
func (p *place) awaitNoHub() {
	p.t.Helper()
	lock, err := p.dir.Lock(p.within(), home.HubLock)
	if err != nil {
		p.t.Fatalf("a hub still runs: %v", err)
	}
	lock.Unlock()
}

// end ends a hub that a bridge has started, and looks through what it logged.
func (p *place) end() {
	if p.dir.Held(home.HubLock) {
		if _, stderr, exit := p.run("stop"); exit != 0 {
			p.t.Errorf("the hub could not be stopped: %s", stderr)
			p.kill()
		}
		p.awaitNoHub()
	}
	log, err := os.ReadFile(p.dir.LogFile())
	if err == nil {
		rig.CheckLog(p.t, string(log))
	}
	if err == nil && p.t.Failed() {
		p.t.Logf("hub.log:\n%s", rig.LastOf(string(log)))
	}
}

// succeed returns what tabhub prints, which must not fail.
func (p *place) succeed(args ...string) string {
	p.t.Helper()
	stdout, stderr, exit := p.run(args...)
	if exit != 0 {
		p.t.Fatalf("%q: %s", args, stderr)
	}
	return stdout
}
