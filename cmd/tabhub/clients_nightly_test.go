//go:build nightly

package main

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/porttest"
)

// The other combinations of SDK, transport and revision.
func init() {
	typeScriptClients = append(typeScriptClients,
		"v1 http 2025-11-25", "v2 stdio 2025-11-25", "v2 stdio 2026-07-28", "v2 stdio auto", "v2 http 2025-11-25", "v2 http auto")
	askedClients = append(askedClients, "v1 stdio 2025-11-25", "v1 sse 2024-11-05", "v2 http 2025-11-25", "v2 http 2026-07-28")
	cutClients = append(cutClients, "v2 http 2025-11-25")
	signInSDKs = append(signInSDKs, "v1")
}

// The Inspector's command line, which a developer of a page would use.
func TestInspector(t *testing.T) {
	t.Parallel()
	const inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	nodeScript(t, inspector)
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
					cmd := nodeScript(t, inspector, args...)
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
	nodeScript(t, "fixtures.mjs")
	addr := porttest.Free(t)
	hub := serve(t, "--auth", "none", "--set=plain-names=true", "--listen", addr, "--allow-origin", "http://"+addr, "--set", "task-after=200ms")
	tab := nodeScript(t, "fixtures.mjs")
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
			out, err := nodeScript(t, "node_modules/"+tt.suite+"/dist/index.js", args...).CombinedOutput()
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
