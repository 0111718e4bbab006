package clientconf

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// Link makes a program add a server by its URL, after it has asked its user.
type Link struct {
	Title string // of the program
	HRef  string
}

// Links returns the links by which the client adds a server at a URL. It may have none.
func (c Client) Links(name, at string) []Link {
	if c.link == nil {
		return nil
	}
	return c.link(name, at)
}

// cursorLinks are as cursor.com/docs/mcp/install-links says.
func cursorLinks(name, at string) []Link {
	config := base64.StdEncoding.EncodeToString(asJSON(map[string]string{"url": at}))
	return []Link{{"Cursor", "cursor://anysphere.cursor-deeplink/mcp/install?name=" + escape(name) + "&config=" + escape(config)}}
}

// vscodeLinks are as the MCP developer guide at code.visualstudio.com says.
func vscodeLinks(name, at string) []Link {
	config := escape(string(asJSON(map[string]string{"name": name, "type": "http", "url": at})))
	return []Link{{"VS Code", "vscode:mcp/install?" + config}, {"VS Code Insiders", "vscode-insiders:mcp/install?" + config}}
}

// gooseLinks are as "Using extensions" in goose's documentation says.
func gooseLinks(name, at string) []Link {
	return []Link{{"goose", "goose://extension?url=" + escape(at) + "&type=streamable_http&id=" + escape(name) + "&name=" + escape(name) + "&description=" + escape("The tools of the pages that are open")}}
}

// escape is encodeURIComponent: these programs do not read a plus as a space.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func asJSON(v any) []byte {
	b, _ := json.Marshal(v) // strings
	return b
}
