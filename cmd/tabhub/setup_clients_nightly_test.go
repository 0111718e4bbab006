//go:build nightly

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
)

// A new user on a machine with Claude Code and Gemini CLI types one command, and both list the
// server as connected. The second time nothing changes.
func TestSetupForRealClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths of Linux")
	}
	nodeScript(t, "node_modules/@anthropic-ai/claude-code/package.json")
	modules, err := filepath.Abs(clients + "/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	gemini := filepath.Join(modules, "@google/gemini-cli/bundle/gemini.js")
	if _, err := os.Stat(gemini); err != nil && os.Getenv("CI") != "true" {
		t.Skipf("needs the packages of %s as they are now: npm ci", clients)
	}
	home := t.TempDir()
	var env []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "TABHUB_") && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "CLAUDE") && !strings.HasPrefix(name, "GEMINI") {
			env = append(env, v)
		}
	}
	t.Setenv("PATH", filepath.Join(modules, ".bin")+":"+os.Getenv("PATH"))
	env = append(env, "HOME="+home, "TABHUB_LISTEN=127.0.0.1:0", "GORACE=atexit_sleep_ms=0", "GEMINI_CLI_TRUST_WORKSPACE=true", "PATH="+os.Getenv("PATH"))
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env, cmd.Dir = env, home
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", program, args, err, out)
		}
		return string(out)
	}
	t.Cleanup(func() {
		stop := exec.Command("tabhub", "stop")
		stop.Env = env
		stop.Run() // there may be none
	})

	out := run("tabhub", "setup", "--yes", "--extension", "none", "--client", "claude-code,gemini")
	for _, want := range []string{"Claude Code can use tabhub", "Gemini CLI can use tabhub", "Claude Code: it lists ", "Gemini CLI: it lists "} {
		if !strings.Contains(out, want) {
			t.Errorf("setup does not say %q:\n%s", want, out)
		}
	}
	if out := run("claude", "mcp", "list"); !strings.Contains(out, "tabhub: ") || !strings.Contains(out, "Connected") {
		t.Errorf("Claude Code says\n%s", out)
	}
	if out := run(filepath.Join(modules, "node/bin/node"), gemini, "mcp", "list"); !strings.Contains(out, "tabhub: ") || !strings.Contains(out, "(stdio) - Connected") {
		t.Errorf("Gemini CLI says\n%s", out)
	}
	out = run("tabhub", "setup", "--yes", "--extension", "none", "--client", "claude-code,gemini")
	if strings.Count(out, "has it already") != 2 {
		t.Errorf("the second time:\n%s", out)
	}

	// No token is among the words of `claude mcp add`, which other users of the machine see, also
	// when one that was put there before moves.
	config := filepath.Join(home, ".claude.json")
	text, err := os.ReadFile(config)
	if err != nil || strings.Contains(string(text), "tbh_") || !strings.Contains(string(text), command.TokenFileEnv) {
		t.Errorf("Claude Code has %s (%v)", text, err)
	}
	run("claude", "mcp", "remove", "--scope", "user", "tabhub")
	run("claude", "mcp", "add", "--env", "TABHUB_TOKEN=a secret of mine", "--scope", "user", "tabhub", "--", "/old", "stdio")
	if out := run("tabhub", "install", "claude-code", "--yes"); strings.Contains(out, "a secret of mine") {
		t.Errorf("this was run: %s", out)
	}
	code, err := clientconf.Named("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	text, _ = os.ReadFile(config)
	file := code.Started(text, "tabhub").Env[command.TokenFileEnv]
	if token, err := os.ReadFile(file); string(token) != "a secret of mine\n" || strings.Contains(string(text), "a secret of mine") {
		t.Errorf("%s holds %q (%v), and Claude Code has %s", file, token, err, text)
	}

	// An entry that has become wrong is replaced, one at a time.
	if out := run("tabhub", "install", "claude-code", "--no-token", "--data-dir", filepath.Join(home, "other"), "--yes"); !strings.Contains(out, "This is run:") || strings.Contains(out, "tbh_") {
		t.Errorf("another entry:\n%s", out)
	}
	if out := run("claude", "mcp", "get", "tabhub"); !strings.Contains(out, "other") {
		t.Errorf("Claude Code has\n%s", out)
	}
	run("claude", "mcp", "remove", "--scope", "user", "tabhub")
	run("claude", "mcp", "add", "--transport", "http", "--scope", "user", "tabhub", "http://127.0.0.1:1/mcp")
	if out := run("tabhub", "install", "claude-code", "--yes"); !strings.Contains(out, "can use tabhub now, in all you do") {
		t.Errorf("an entry by URL:\n%s", out)
	}
	if out := run("tabhub", "install", "claude-code", "--remove", "--yes"); !strings.Contains(out, "claude mcp remove --scope user tabhub") {
		t.Errorf("taken out:\n%s", out)
	}
	if out := run("tabhub", "install", "--json"); strings.Contains(out, "claude.json") {
		t.Errorf("still there:\n%s", out)
	}
}
