package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/hub/auth/oauth"
	"tabhub/hub/consent"
	"tabhub/hub/httpd"
)

// signInPage matches the address of a sign-in's page in what a client prints.
var signInPage = regexp.MustCompile(`https?://[^\s\x1b\x07?]+/oauth/authorize\?[^\s\x1b\x07]+`)

// letIn opens the page that a client asks for in its output, clicks, repeats the page's
// number as the owner, and goes back to the client. It returns the output up to there, and
// the rest is read in the background.
func (s *serving) letIn(t *testing.T, output io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(output)
	var page string
	for read := new(strings.Builder); page == ""; {
		if !lines.Scan() {
			t.Fatalf("the client asks for no page: %s", read)
		}
		fmt.Fprintln(read, lines.Text())
		page = signInPage.FindString(lines.Text())
	}
	go io.Copy(io.Discard, output)

	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	click, err := http.NewRequestWithContext(t.Context(), "POST", page, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	click.Header.Set("Origin", u.Scheme+"://"+u.Host)
	click.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(click)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := json.NewDecoder(answer.Body)
	next := func() (e httpd.AuthorizeEvent) {
		if err := events.Decode(&e); err != nil || e.Error != "" {
			t.Fatalf("the page: %s, %+v, %v", answer.Status, e, err)
		}
		return e
	}
	code := next().Code
	s.approve(t, code)
	back, err := http.Get(next().Location)
	if err != nil {
		t.Fatal(err)
	}
	back.Body.Close()
}

// approve answers the question that waits, or is the next to.
func (s *serving) approve(t *testing.T, answer string) {
	t.Helper()
	owner := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", home.Dir(s.dir).Socket())
	}}}
	stream, err := owner.Get("http://hub/api/questions/watch")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		var open []consent.Question
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), &open); err != nil {
			t.Fatal(err)
		}
		if len(open) == 0 {
			continue
		}
		if out, err := exec.Command("tabhub", "approve", "--data-dir", s.dir, open[0].ID, answer).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	t.Fatalf("%s: nothing was asked", stream.Status)
}

// started starts a client and returns one of its outputs.
func started(t *testing.T, cmd *exec.Cmd, pipe func() (io.ReadCloser, error)) io.Reader {
	t.Helper()
	output, err := pipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// noBrowser is the environment of a client that would open a browser.
func noBrowser(t *testing.T) []string {
	if runtime.GOOS != "linux" {
		t.Skip("the client would open a browser")
	}
	home := t.TempDir()
	return append(os.Environ(), "BROWSER=true", "DISPLAY=", "WAYLAND_DISPLAY=", "HOME="+home, "XDG_CONFIG_HOME="+home, "MCP_REMOTE_CONFIG_DIR="+home)
}

// The SDKs with which most clients are made sign in with nothing but the hub's address.
func TestTypeScriptSDKsSignIn(t *testing.T) {
	t.Parallel()
	node(t, "signin.mjs")
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, sdk := range []string{"v1", "v2"} {
		t.Run(sdk, func(t *testing.T) {
			cmd := node(t, "signin.mjs", sdk)
			cmd.Env, cmd.Stderr = hub.env(), os.Stderr
			hub.letIn(t, started(t, cmd, cmd.StdoutPipe))
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	if out, err := exec.Command("tabhub", "token", "list", "--data-dir", hub.dir).CombinedOutput(); err != nil || !strings.Contains(string(out), "TypeScript v2") {
		t.Errorf("%v\n%s", err, out)
	}
}

// mcp-remote brings clients that know stdio alone to a URL. It compares what the hub says of
// itself with the address that it was given.
func TestMCPRemoteSignsIn(t *testing.T) {
	t.Parallel()
	const proxy = "node_modules/mcp-remote/dist/proxy.js"
	node(t, proxy)
	hub := serve(t, "--listen", "127.0.0.1:0")
	for _, args := range [][]string{
		{hub.url + "/mcp", "--transport", "http-only"},
		{strings.Replace(hub.url, "127.0.0.1", "localhost", 1) + "/mcp"},
		{hub.url + "/sse", "--transport", "sse-only"},
	} {
		cmd := node(t, proxy, args...)
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
	node(t, suite)
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
	cmd := node(t, suite, "authorization", "--url", hub.url, "--client-id", client.ClientID, "--resource", hub.url+"/mcp", "--port", port)
	hub.letIn(t, started(t, cmd, cmd.StdoutPipe))
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
