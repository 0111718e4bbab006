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

	"tabhub/cmd/tabhub/internal/porttest"
)

// clients is where the scripts and packages of the Node clients are.
const clients = "testdata/clients"

// node returns a command that runs a script with the Node of the clients' packages.
// A test that needs them is skipped where they are not installed.
func node(t *testing.T, script string, args ...string) *exec.Cmd {
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

// The TypeScript SDKs, old and new, over all transports and eras; each plays a tab
// too.
func TestTypeScriptClients(t *testing.T) {
	t.Parallel()
	node(t, "check.mjs")
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, args := range []string{
		"v1 stdio 2025-11-25", "v1 sse 2024-11-05", "v1 http 2025-11-25",
		"v2 stdio 2025-11-25", "v2 stdio 2026-07-28", "v2 stdio auto",
		"v2 http 2025-11-25", "v2 http 2026-07-28", "v2 http auto",
	} {
		t.Run(args, func(t *testing.T) {
			cmd := node(t, "check.mjs", strings.Fields(args)...)
			cmd.Env = hub.env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The owner is asked by the clients, where no browser is paired. Each has a hub of its own, as
// an owner is asked only so often.
func TestOwnerAtTypeScriptClients(t *testing.T) {
	t.Parallel()
	node(t, "consent.mjs")
	for _, args := range []string{"v1 stdio 2025-11-25", "v1 sse 2024-11-05", "v1 http 2025-11-25", "v2 http 2025-11-25", "v2 stdio 2026-07-28", "v2 http 2026-07-28"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			cmd := node(t, "consent.mjs", strings.Fields(args)...)
			cmd.Env = serve(t, "--listen", "127.0.0.1:0", "--policy", "careful").env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A host of MCP Apps, made of the packages that hosts are made of, shows an app of a page,
// and what the app asks for reaches that page.
func TestApps(t *testing.T) {
	t.Parallel()
	node(t, "apps.mjs")
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, args := range []string{"stdio 2025-11-25", "stdio auto", "http 2025-11-25", "http 2026-07-28"} {
		t.Run(args, func(t *testing.T) {
			cmd := node(t, "apps.mjs", strings.Fields(args)...)
			cmd.Env = hub.env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The Inspector's command line, which a developer of a page would use.
func TestInspector(t *testing.T) {
	t.Parallel()
	const inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	node(t, inspector)
	hub := serve(t, "--listen", "127.0.0.1:0", "--demo")
	header := []string{"--header", "Authorization: Bearer " + hub.token}
	for name, to := range map[string][]string{
		"stdio": {"--", "tabhub", "stdio", "--data-dir", hub.dir},
		"sse":   append([]string{"--transport", "sse", "--server-url", hub.url + "/sse"}, header...),
		"http":  append([]string{"--transport", "http", "--server-url", hub.url + "/mcp"}, header...),
	} {
		for _, era := range []string{"legacy", "modern"} {
			if name == "sse" && era == "modern" {
				continue
			}
			t.Run(name+" "+era, func(t *testing.T) {
				run := func(args ...string) string {
					args = append(append([]string{"--cli", "--format", "json", "--protocol-era", era}, args...), to...)
					cmd := node(t, inspector, args...)
					cmd.Env = append(hub.env(), "HOME="+t.TempDir())
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					return string(out)
				}
				if out := run("--method", "tools/list", "--strict"); !strings.Contains(out, `"website_tool_demo_tabhub_`) {
					t.Errorf("%s", out)
				}
				if out := run("--method", "tools/call", "--tool-name", "proxy", "--tool-args-json", `{"action":"list","type":"tool"}`); !strings.Contains(out, "proxy:list/tool") {
					t.Errorf("%s", out)
				}
			})
		}
	}
}

// The official conformance suites. None of their scenarios is expected to fail.
func TestConformance(t *testing.T) {
	t.Parallel()
	node(t, "fixtures.mjs")
	addr := porttest.Free(t)
	hub := serve(t, "--auth", "none", "--plain-names", "--listen", addr, "--allow-origin", "http://"+addr, "--task-after", "200ms")
	tab := node(t, "fixtures.mjs")
	tab.Env, tab.Stderr = hub.env(), os.Stderr
	stdin, _ := tab.StdinPipe()
	stdout, _ := tab.StdoutPipe()
	if err := tab.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = tab.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the tab with the fixtures: %q, %v", line, err)
	}
	type suite struct {
		suite string
		args  []string
	}
	suites := map[string]suite{
		"0.1.16 active":    {"@modelcontextprotocol/conformance", []string{"--suite", "active"}},
		"0.2.0 2025-11-25": {"conformance-next", []string{"--requirements", "2025-11-25"}},
		"0.2.0 2026-07-28": {"conformance-next", []string{"--requirements", "2026-07-28"}},
	}
	// Of the extension's scenarios only tasks-required-task-error is left out, which is for
	// servers that have tools without an answer for clients that take no tasks, and
	// tasks-status-notifications, which checks nothing.
	for _, name := range []string{
		"tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal", "tasks-mrtr-input",
		"tasks-request-headers", "tasks-dispatch-and-envelope", "tasks-mrtr-composition",
	} {
		suites[name] = suite{"conformance-next", []string{"--scenario", name}}
	}
	for name, tt := range suites {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"server", "--url", hub.url + "/mcp", "--output-dir", t.TempDir()}, tt.args...)
			out, err := node(t, "node_modules/"+tt.suite+"/dist/index.js", args...).CombinedOutput()
			_, summary, all := strings.Cut(string(out), "=== SUMMARY ===")
			if !all { // of a single scenario
				summary = string(out)
			}
			if err != nil || !strings.Contains(summary, "Total:") && !strings.Contains(summary, ", 0 failed, 0 warnings") {
				t.Errorf("%v\n%s", err, summary)
			}
		})
	}
}
