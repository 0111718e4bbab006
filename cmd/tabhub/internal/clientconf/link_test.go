package clientconf

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

const hubURL = "http://127.0.0.1:3300/mcp"

// A client that is given the hub's address must understand the entry, of which no part is
// left of how it started the hub before.
func TestAddURL(t *testing.T) {
	for _, c := range []struct{ client, before, after string }{
		{"cursor", `{}`, `{"mcpServers": {"tabhub": {"url": "http://127.0.0.1:3300/mcp"}}}`},
		{"claude-code", `{}`, `{"mcpServers": {"tabhub": {"type": "http", "url": "http://127.0.0.1:3300/mcp"}}}`},
		{"vscode", `{"servers":{"tabhub":{"type":"stdio","command":"x","args":["stdio"],"env":{"TABHUB_TOKEN":"t"}}}}`, `{"servers":{"tabhub":{"url": "http://127.0.0.1:3300/mcp","type":"http"}}}`},
		{"windsurf", `{"mcpServers":{"tabhub":{"command":"x","args":[]}}}`, `{"mcpServers":{"tabhub":{"serverUrl": "http://127.0.0.1:3300/mcp"}}}`},
		{"gemini", `{}`, `{"mcpServers": {"tabhub": {"httpUrl": "http://127.0.0.1:3300/mcp"}}}`},
		{"zed", `{}`, `{"context_servers": {"tabhub": {"url": "http://127.0.0.1:3300/mcp"}}}`},
	} {
		got, err := named(t, c.client).Add([]byte(c.before), "tabhub", Entry{URL: hubURL})
		if words := strings.NewReplacer("\n", "", " ", ""); err != nil || words.Replace(string(got)) != words.Replace(c.after) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.client, err, got, c.after)
		}
	}
	line := strings.Join(named(t, "claude-code").Command(User, "tabhub", &Entry{URL: hubURL}), " ")
	if want := "claude mcp add --transport http --scope user tabhub " + hubURL; line != want {
		t.Errorf("got %s, want %s", line, want)
	}
}

// A program that is opened by a link must find in it what it needs, however odd the address.
func TestLinks(t *testing.T) {
	const at = "https://hub.example/a+b/mcp?x=1&y=%20#z"
	links := map[string]string{}
	for _, c := range All {
		for _, link := range c.Links("tab hub", at) {
			links[link.Title] = link.HRef
		}
	}
	if len(links) != 4 {
		t.Errorf("links for %v", links)
	}
	parse := func(title, scheme string) *url.URL {
		u, err := url.Parse(links[title])
		if err != nil || u.Scheme != scheme || strings.ContainsAny(links[title], " +") {
			t.Errorf("%s: %q, %v", title, links[title], err)
		}
		return u
	}
	cursor := parse("Cursor", "cursor").Query()
	config, err := base64.StdEncoding.DecodeString(cursor.Get("config"))
	if err != nil || cursor.Get("name") != "tab hub" || !strings.Contains(string(config), `{"url":"https://hub.example/a+b/mcp?x=1`) {
		t.Errorf("Cursor is given %v, %s, %v", cursor, config, err)
	}
	for title, scheme := range map[string]string{"VS Code": "vscode", "VS Code Insiders": "vscode-insiders"} {
		text, err := url.PathUnescape(parse(title, scheme).RawQuery)
		if err != nil || !strings.HasPrefix(text, `{"name":"tab hub","type":"http","url":"https://hub.example/a+b/mcp?x=1`) {
			t.Errorf("%s is given %s, %v", title, text, err)
		}
	}
	goose := parse("goose", "goose").Query()
	if goose.Get("url") != at || goose.Get("type") != "streamable_http" || goose.Get("name") != "tab hub" {
		t.Errorf("goose is given %v", goose)
	}
}
