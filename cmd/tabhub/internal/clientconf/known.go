package clientconf

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"tabhub/naming"
)

// All are the known clients. The places and forms of their files come from
//
//   - Claude Code and Gemini CLI: what `claude mcp add` 2.1 and `gemini mcp add` 0.61 write;
//     docs/tools/mcp-server.md in google-gemini/gemini-cli
//   - Codex: what `codex mcp add` 0.169 takes and writes; codex-rs/cli/src/mcp_cmd.rs in openai/codex
//   - Windsurf: docs.windsurf.com/windsurf/cascade/mcp
//   - goose: documentation/docs/guides/config-files.md in aaif-goose/goose
//   - Zed: docs/src/ai/mcp.md and crates/paths/src/paths.rs in zed-industries/zed
//   - Continue: docs/customize/deep-dives/mcp.mdx and core/context/mcp/json in continuedev/continue
//   - Claude Desktop, Cursor, VS Code: their documentation of MCP
//
// Said is from the programs of Claude Code and Gemini CLI, from context_server.rs in Zed,
// MCPConnection.ts in Continue and, for the others, from the list in apify/mcp-client-capabilities.
var All = []Client{
	{
		Name: "claude-desktop", Title: "Claude Desktop", Said: "claude-ai", After: "Quit Claude Desktop and start it again. It calls the tools of pages through its tool proxy.",
		Scopes: []Scope{User}, paths: desktopPaths,
		shape: shape{section: "mcpServers"},
	},
	{
		Name: "claude-code", Title: "Claude Code", Said: "claude-code", After: "Restart Claude Code; /mcp shows its servers. It asks before it uses those of a project.",
		Scopes: []Scope{User, Project}, paths: codePaths, sign: itself, program: "claude", command: claudeCommand,
		reserved: []string{"workspace", "claude-in-chrome", "computer-use"},
		shape:    shape{section: "mcpServers", url: "url", reached: "http"},
	},
	{
		Name: "cursor", Title: "Cursor", Said: "cursor-vscode", After: "Switch the server on in Cursor's settings, under MCP.",
		Scopes: []Scope{User, Project}, paths: below(".cursor", "mcp.json"), link: cursorLinks, program: "cursor",
		shape: shape{section: "mcpServers", url: "url"},
	},
	{
		Name: "vscode", Title: "VS Code", Said: "Visual Studio Code", After: "Run \"MCP: List Servers\" in VS Code to start it.",
		Scopes: []Scope{User, Project}, paths: vscodePaths, link: vscodeLinks, program: "code",
		shape: shape{section: "servers", url: "url", started: "stdio", reached: "http"},
	},
	{
		Name: "windsurf", Title: "Windsurf", Said: "windsurf-client", After: "Press Refresh in Windsurf's settings, under Cascade, MCP servers.",
		Scopes: []Scope{User}, paths: below(".codeium", "windsurf", "mcp_config.json"), program: "windsurf",
		shape: shape{section: "mcpServers", url: "serverUrl"},
	},
	{
		Name: "codex", Title: "Codex", Said: "codex-mcp-client", After: "Restart Codex; /mcp shows its servers.",
		Scopes: []Scope{User}, paths: codexPaths, program: "codex",
		command: codexCommand, snippet: codexEntry, decode: toml.Unmarshal,
		shape: shape{section: "mcp_servers", url: "url"},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Said: "gemini-cli-mcp-client", After: "Restart Gemini CLI; /mcp shows its servers. It starts none in a folder that you do not trust.",
		Scopes: []Scope{User, Project}, paths: below(".gemini", "settings.json"), program: "gemini", noUnderscore: true,
		shape: shape{section: "mcpServers", url: "httpUrl"},
	},
	{
		Name: "goose", Title: "goose", Said: "goose", After: "Start a new session of goose.",
		Scopes: []Scope{User}, paths: goosePaths, link: gooseLinks, program: "goose", snippet: gooseEntry, decode: yaml.Unmarshal,
		shape: shape{section: "extensions", url: "uri"},
	},
	{
		Name: "zed", Title: "Zed", Said: "Zed", After: "Zed starts it at once; its settings show it under AI, MCP Servers.",
		Scopes: []Scope{User}, paths: zedPaths, program: "zed",
		shape: shape{section: "context_servers", url: "url"},
	},
	{
		Name: "continue", Title: "Continue", Said: "continue-client", After: "Reload the window of your editor. Continue uses tools in its agent mode.",
		Scopes: []Scope{User, Project}, paths: below(".continue", "mcpServers", "mcp.json"), sign: above,
		shape: shape{section: "mcpServers", url: "url", reached: "http"},
	},
}

// CheckName returns why the client cannot use the name for a server, whose tools it calls
// mcp__NAME__TOOL.
func (c Client) CheckName(name string) error {
	switch {
	case !plainName.MatchString(name):
		return fmt.Errorf("%.80q has other characters than letters, digits, - and _, or does not begin and end with a letter or digit", name)
	case strings.Contains(name, "__"):
		return fmt.Errorf("%q has __ in it, which ends a server's name in mcp__NAME__TOOL", name)
	case len(name) > maxName:
		return fmt.Errorf("%q has more than %d characters: as mcp__NAME__TOOL a tool would have more than the %d that model APIs take", name, maxName, maxToolName)
	case slices.Contains(c.reserved, name):
		return fmt.Errorf("%s reserves %q", c.Title, name)
	case c.noUnderscore && strings.Contains(name, "_"):
		return fmt.Errorf("%q has _ in it, where %s ends a server's name", name, c.Title)
	}
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$`)

const (
	maxToolName = 64 // of most model APIs
	maxName     = maxToolName - len("mcp____") - naming.DefaultLimit
)

// members returns the members of an entry that say how to start or to reach the server, without its
// environment.
func (c Client) members(e Entry) []member {
	if e.URL != "" {
		return typed(c.reached, member{c.url, e.URL})
	}
	return typed(c.started, member{"command", e.Command}, member{"args", append([]string{}, e.Args...)})
}

func typed(of string, all ...member) []member {
	if of == "" {
		return all
	}
	return append([]member{{"type", of}}, all...)
}

// stale returns the members of an older entry that e replaces.
func (c Client) stale(e Entry) []string {
	if e.URL != "" {
		return []string{"command", "args", "env"}
	}
	return []string{cmp.Or(c.url, "url"), "headers"}
}

// member is one of an entry: a string or a list of strings.
type member struct {
	name  string
	value any
}
