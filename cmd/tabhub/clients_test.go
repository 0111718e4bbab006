package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clients is where the scripts and packages of the Node clients are.
const clients = "testdata/clients"

// nodeScript returns a command that runs a script with the Node of the clients' packages.
// A test that needs them is skipped where they are not installed.
func nodeScript(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := filepath.Abs(clients + "/node_modules/node/bin/node")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		const reason = "needs the packages of cmd/tabhub/testdata/clients: npm ci"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, append([]string{script}, args...)...)
	cmd.Dir = clients
	return cmd
}

// serving is a hub in a process of its own.
type serving struct {
	url, dir, token string
	process         *os.Process
}

// serve runs `tabhub serve ARG…` until the test ends.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	return serveIn(t, filepath.Join(t.TempDir(), "data"), args...)
}

// serveIn is serve over a data directory, which an earlier hub may have had.
func serveIn(t *testing.T, dir string, args ...string) *serving {
	t.Helper()
	s := &serving{dir: dir}
	cmd := exec.Command("tabhub", append([]string{"serve", "--data-dir", s.dir}, args...)...) // testscript.Main has put it on the PATH
	cmd.Env = append(os.Environ(), "TABHUB_POLICY=open", "GORACE=atexit_sleep_ms=0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	log := make(chan string, 1)
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		text := <-log
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("the hub ended: %v\n%s", err, text)
		}
	})
	s.process = cmd.Process
	lines := bufio.NewReader(stderr)
	for s.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			log <- line
			t.Fatalf("the hub does not listen: %s", line)
		}
		if addr, ok := strings.CutPrefix(line, "listening on "); ok {
			s.url = strings.TrimSpace(addr)
		}
	}
	go func() {
		b, _ := io.ReadAll(lines)
		log <- string(b)
	}()
	if token, err := os.ReadFile(filepath.Join(s.dir, "token")); err == nil {
		s.token = strings.TrimSpace(string(token))
	}
	return s
}

// env says to a script where the hub is.
func (s *serving) env() []string {
	command, _ := json.Marshal([]string{"tabhub", "stdio", "--data-dir", s.dir})
	return append(os.Environ(), "TABHUB_URL="+s.url, "TABHUB_TOKEN="+s.token, "TABHUB_COMMAND="+string(command), "GORACE=atexit_sleep_ms=0")
}

// The clients that tests are made with: the SDK, the transport and the revision, or "auto". These
// are one of each kind.
var (
	typeScriptClients = []string{"v1 stdio 2025-11-25", "v1 sse 2024-11-05", "v2 http 2026-07-28"}
	askedClients      = []string{"v1 http 2025-11-25", "v2 stdio 2026-07-28"}
	cutClients        = []string{"v1 http 2025-11-25"}
)

// The TypeScript SDKs, old and new, over all transports; each plays a tab too.
func TestTypeScriptClients(t *testing.T) {
	t.Parallel()
	nodeScript(t, "check.mjs")
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, args := range typeScriptClients {
		t.Run(args, func(t *testing.T) {
			cmd := nodeScript(t, "check.mjs", strings.Fields(args)...)
			cmd.Env = hub.env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Clients read what pages answer that is not of MCP.
func TestResultsAtTypeScriptClients(t *testing.T) {
	t.Parallel()
	cmd := nodeScript(t, "results.mjs")
	cmd.Env = serve(t, "--listen", "127.0.0.1:0").env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The owner is asked by the clients, where no browser is paired. Each has a hub of its own, as
// an owner is asked only so often.
func TestOwnerAtTypeScriptClients(t *testing.T) {
	t.Parallel()
	runClients(t, "consent.mjs", askedClients, "--policy", "careful")
}

// A page's tool asks the user of a client while it runs, and goes on with the answers.
func TestToolAsksAtTypeScriptClients(t *testing.T) {
	t.Parallel()
	runClients(t, "asks.mjs", askedClients)
}

// The connections of a client are cut while the page works, and while the answer is on its way: the
// page runs each call once, and the client gets its answer.
func TestCutOffTypeScriptClients(t *testing.T) {
	t.Parallel()
	runClients(t, "cut.mjs", cutClients, "--set", "allow-host=127.0.0.1")
}

// runClients runs a script with each kind of client, at a hub of its own.
func runClients(t *testing.T, script string, kinds []string, flags ...string) {
	t.Helper()
	nodeScript(t, script)
	for _, args := range kinds {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			cmd := nodeScript(t, script, strings.Fields(args)...)
			cmd.Env = serve(t, append([]string{"--listen", "127.0.0.1:0"}, flags...)...).env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
