//go:build nightly

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/hub/trust/auth/oauth"
)

// noBrowser is the environment of a client that would open a browser.
func noBrowser(t *testing.T) []string {
	if runtime.GOOS != "linux" {
		t.Skip("the client would open a browser")
	}
	home := t.TempDir()
	return append(os.Environ(), "BROWSER=true", "DISPLAY=", "WAYLAND_DISPLAY=", "HOME="+home, "XDG_CONFIG_HOME="+home, "MCP_REMOTE_CONFIG_DIR="+home)
}

// mcp-remote brings clients that know stdio alone to a URL. It compares what the hub says of
// itself with the address that it was given.
func TestMCPRemoteSignsIn(t *testing.T) {
	t.Parallel()
	const proxy = "node_modules/mcp-remote/dist/proxy.js"
	nodeScript(t, proxy)
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, args := range [][]string{
		{hub.url + "/mcp", "--transport", "http-only"},
		{strings.Replace(hub.url, "127.0.0.1", "localhost", 1) + "/mcp"},
		{hub.url + "/sse", "--transport", "sse-only"},
	} {
		cmd := nodeScript(t, proxy, args...)
		cmd.Env = noBrowser(t)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewScanner(stdout)
		answers.Buffer(nil, 1<<20)
		hub.letIn(t, started(t, cmd, cmd.StderrPipe))
		for _, request := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a client","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		} {
			fmt.Fprintln(stdin, request)
			if !answers.Scan() {
				t.Fatalf("%s: no answer to %s", args, request)
			}
		}
		if !strings.Contains(answers.Text(), `"name":"proxy"`) {
			t.Errorf("%s: %s", args, answers.Text())
		}
		stdin.Close()
		_ = cmd.Wait() // its code says how the stream has ended
	}
}

// Claude Code, which shows a description of its own at its maker's address.
func TestClaudeCodeSignsIn(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob(clients + "/node_modules/@anthropic-ai/claude-code-linux-*/claude")
	if err != nil || len(programs) == 0 {
		t.Skip("needs the packages of cmd/tabhub/testdata/clients, on Linux: npm ci")
	}
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("needs script(1), for a terminal")
	}
	program, err := filepath.Abs(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	hub := serve(t, "--listen", "127.0.0.1:0")
	env := append(noBrowser(t), "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run("mcp", "add", "--scope", "user", "--transport", "http", "tabs", hub.url+"/mcp")
	if out := run("mcp", "list"); !strings.Contains(out, "Needs authentication") {
		t.Errorf("before the sign-in: %s", out)
	}
	cmd := exec.CommandContext(t.Context(), script, "-qefc", program+" mcp login tabs", "/dev/null")
	cmd.Env = env
	hub.letIn(t, started(t, cmd, cmd.StdoutPipe))
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if out := run("mcp", "list"); !strings.Contains(out, "Connected") {
		t.Errorf("after the sign-in: %s", out)
	}
}

// The official conformance suite for authorization servers.
func TestAuthorizationConformance(t *testing.T) {
	t.Parallel()
	const suite = "node_modules/conformance-next/dist/index.js"
	nodeScript(t, suite)
	hub := serve(t, "--listen", "127.0.0.1:0")
	_, port, err := net.SplitHostPort(porttest.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	registration := `{"redirect_uris":["http://127.0.0.1:` + port + `/callback"]}`
	resp, err := http.Post(hub.url+oauth.RegisterPath, "application/json", strings.NewReader(registration))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var client oauth.Registration
	if err := json.NewDecoder(resp.Body).Decode(&client); err != nil {
		t.Fatal(err)
	}
	cmd := nodeScript(t, suite, "authorization", "--url", hub.url, "--client-id", client.ClientID, "--resource", hub.url+"/mcp", "--port", port)
	hub.letIn(t, started(t, cmd, cmd.StdoutPipe))
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
