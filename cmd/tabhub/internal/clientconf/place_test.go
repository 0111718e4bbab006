package clientconf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		os, client, env, exists string
		scope                   Scope
		want                    string
	}{
		{"linux", "claude-desktop", "HOME=~", ".config/Claude/", User, ".config/Claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", "HOME=~", ".config/claude/", User, ".config/claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", "HOME=~", ".config/Claude/ .config/claude/claude_desktop_config.json", User, ".config/claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", "HOME=~ XDG_CONFIG_HOME=~/xdg", "xdg/Claude/ .config/Claude/", User, "xdg/Claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", "HOME=~ XDG_CONFIG_HOME=xdg", ".config/Claude/", User, ".config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", "HOME=~ XDG_CONFIG_HOME=~/xdg", "Library/Application_Support/Claude/ xdg/Claude/", User, "Library/Application_Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", "APPDATA=~/Roaming LOCALAPPDATA=~/Local", "Roaming/Claude/", User, "Roaming/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", "APPDATA=~/Roaming LOCALAPPDATA=~/Local", "Roaming/Claude/claude_desktop_config.json Local/Packages/Claude_pz/LocalCache/Roaming/Claude/", User,
			"Local/Packages/Claude_pz/LocalCache/Roaming/Claude/claude_desktop_config.json"},
		{"linux", "claude-code", "HOME=~", "", Project, "project/.mcp.json"},
		{"linux", "claude-code", "HOME=~", ".claude.json", User, ".claude.json"},
		{"linux", "claude-code", "HOME=~ CLAUDE_CONFIG_DIR=~/c", "c/.claude.json", User, "c/.claude.json"},
		{"darwin", "cursor", "HOME=~", ".cursor/", User, ".cursor/mcp.json"},
		{"windows", "cursor", "USERPROFILE=~ HOME=~/wrong", ".cursor/", User, ".cursor/mcp.json"},
		{"linux", "cursor", "HOME=~", "", Project, "project/.cursor/mcp.json"},
		{"linux", "vscode", "HOME=~", ".config/Code/User/", User, ".config/Code/User/mcp.json"},
		{"darwin", "vscode", "HOME=~", "Library/Application_Support/Code/User/", User, "Library/Application_Support/Code/User/mcp.json"},
		{"windows", "vscode", "APPDATA=~/Roaming", "Roaming/Code/User/", User, "Roaming/Code/User/mcp.json"},
		{"linux", "windsurf", "HOME=~", ".codeium/windsurf/", User, ".codeium/windsurf/mcp_config.json"},
		{"linux", "codex", "HOME=~ CODEX_HOME=~/c", "c/", User, "c/config.toml"},
		{"windows", "codex", "USERPROFILE=~", ".codex/", User, ".codex/config.toml"},
		{"linux", "gemini", "HOME=~", ".gemini/", User, ".gemini/settings.json"},
		{"linux", "goose", "HOME=~", ".config/goose/", User, ".config/goose/config.yaml"},
		{"darwin", "goose", "HOME=~", ".config/goose/", User, ".config/goose/config.yaml"},
		{"windows", "goose", "APPDATA=~/Roaming", "Roaming/Block/goose/config/", User, "Roaming/Block/goose/config/config.yaml"},
		{"darwin", "zed", "HOME=~", ".config/zed/", User, ".config/zed/settings.json"},
		{"linux", "zed", "HOME=~ XDG_CONFIG_HOME=~/x", "x/zed/", User, "x/zed/settings.json"},
		{"windows", "zed", "APPDATA=~/Roaming", "Roaming/Zed/", User, "Roaming/Zed/settings.json"},
		{"linux", "continue", "HOME=~", ".continue/", User, ".continue/mcpServers/mcp.json"},
		{"linux", "continue", "HOME=~", "", Project, "project/.continue/mcpServers/mcp.json"},
		{"windows", "vscode", "", "", Project, "project/.vscode/mcp.json"},
	} {
		t.Run(c.os+" "+c.client+" "+string(c.scope)+" "+c.env, func(t *testing.T) {
			home := t.TempDir()
			place := func(s string) string {
				return filepath.FromSlash(strings.ReplaceAll(s, "_Support", " Support"))
			}
			env := make(map[string]string)
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = place(strings.Replace(value, "~", home, 1))
			}
			for _, path := range strings.Fields(c.exists) {
				dir, file := filepath.Split(filepath.Join(home, place(path)))
				if strings.HasSuffix(path, "/") {
					dir, file = filepath.Join(dir, file), ""
				}
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if file != "" {
					os.WriteFile(filepath.Join(dir, file), nil, 0o600)
				}
			}
			got, err := named(t, c.client).Path(System{OS: c.os, Env: func(k string) string { return env[k] }, Dir: filepath.Join(home, "project")}, c.scope)
			if want := filepath.Join(home, place(c.want)); err != nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestNoPlace(t *testing.T) {
	dir := t.TempDir()
	for _, os := range []string{"linux", "darwin", "windows"} {
		for _, c := range All {
			s := System{OS: os, Env: func(string) string { return "" }}
			if path, err := c.Path(s, User); err == nil || !strings.Contains(err.Error(), "is not set") || !strings.Contains(err.Error(), "--config") {
				t.Errorf("%s, %s without an environment: %q, %v", os, c.Name, path, err)
			}
		}
		s := System{OS: os, Env: func(string) string { return dir }}
		if _, err := named(t, "vscode").Path(s, User); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "--config") {
			t.Errorf("%s: %v", os, err)
		}
	}
}

// A client that has not been started yet has left nothing, and is there all the same.
func TestInstalledByItsProgram(t *testing.T) {
	home := t.TempDir()
	s := System{OS: "linux", Env: func(k string) string { return map[string]string{"HOME": home}[k] }}
	codex := named(t, "codex")
	if codex.Installed(s) {
		t.Error("Codex is found where nothing is")
	}
	s.Look = func(program string) (string, error) {
		if program == "codex" {
			return "/usr/bin/codex", nil
		}
		return "", errors.New("no such program")
	}
	if path, err := codex.Path(s, User); !codex.Installed(s) || err != nil || path != filepath.Join(home, ".codex", "config.toml") {
		t.Errorf("%q, %v", path, err)
	}
}
