package oauth

import (
	"strings"
	"testing"
)

// A redirect that is accepted is where a code goes, so what a browser would run or send in
// the clear to another machine must not be.
func TestParseRedirect(t *testing.T) {
	for redirect, want := range map[string]string{
		"http://127.0.0.1:33418/callback":    "a program on this computer, port 33418",
		"http://[::1]:7/x":                   "a program on this computer, port 7",
		"http://localhost/oauth/callback":    "a program on this computer, port 80",
		"https://localhost:8443/x":           "a program on this computer, port 8443",
		"https://Claude.ai/api/mcp/callback": "claude.ai",
		"https://app.example.com:8443/?a=b":  "app.example.com:8443",
		"cursor://anysphere.cursor/callback": "the program that opens cursor: addresses on this computer",
		"com.example.app:/callback":          "the program that opens com.example.app: addresses on this computer",
		"com.example.my-app.2://x/y":         "the program that opens com.example.my-app.2: addresses on this computer",
		"vscode://vendor.extension/callback": "the program that opens vscode: addresses on this computer",
		"vscode-insiders://v.e/callback":     "the program that opens vscode-insiders: addresses on this computer",
		"windsurf://codeium.windsurf/auth":   "the program that opens windsurf: addresses on this computer",
		"zed://mcp/callback":                 "the program that opens zed: addresses on this computer",
		"claude://mcp/callback":              "the program that opens claude: addresses on this computer",

		"":                                     "",
		"/callback":                            "",
		"//evil.example/":                      "",
		"http://evil.example/":                 "",
		"http://127.0.0.1.evil.example/":       "",
		"http://localhost.evil.example/":       "",
		"http://localhost@evil.example/":       "",
		"http://evil.example\\@localhost/":     "",
		"http://127.1/":                        "",
		"http://0.0.0.0/":                      "",
		"http://192.168.0.2/":                  "",
		"https:///x":                           "",
		"https:x":                              "",
		"https://a.example/#fragment":          "",
		"https://a.example/#":                  "",
		"https://me@a.example/":                "",
		"https://a.exam\tple/":                 "",
		"https://ä.example/":                   "",
		"https://%D1%81laude.ai/":              "", // another letter than it looks
		"https://claude.ai%E2%81%84x.example/": "",
		"http://localhost%E3%80%82/":           "",
		"javascript:alert(1)":                  "",
		"JavaScript://%0aalert(1)":             "",
		"java\nscript:alert(1)":                "",
		" javascript:alert(1)":                 "",
		"data:text/html,x":                     "",
		"file:///etc/passwd":                   "",
		"blob:http://localhost/x":              "",
		"view-source:https://a.example/":       "",
		"vbscript:x":                           "",
		"ws://localhost/":                      "",
		"jar:https://a.example/x.jar!/y.html":  "",
		"feed:javascript:alert(1)":             "",
		"chrome-untrusted://terminal/":         "",
		"chrome-search://x/":                   "",
		"ms-msdt:/id PCWDiagnostic":            "",
		"ms-msdt:/id":                          "",
		"ms-word:ofe|u|https://a.example/":     "",
		"ms-settings:x":                        "",
		"search-ms:query=x":                    "",
		"ssh://a.example/":                     "",
		"slack://x":                            "",
		"urn:ietf:wg:oauth:2.0:oob":            "",
		"shell:startup":                        "",
		"brandnew://x":                         "",
		"com.:/x":                              "",
		"com..app:/x":                          "",
		"c.app:/x":                             "",
		"com.app+x:/x":                         "",
	} {
		u, err := parseRedirect(redirect)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is accepted", redirect)
		case want != "" && err != nil:
			t.Errorf("%q: %v", redirect, err)
		case want != "" && place(u, true) != want:
			t.Errorf("%q leads to %q, not %q", redirect, place(u, true), want)
		}
	}
}

// The owner must not read that a program is on their computer if it is on another one.
func TestPlaceOfAnotherComputer(t *testing.T) {
	for _, redirect := range []string{"http://127.0.0.1:4000/", "https://localhost/", "cursor://agent"} {
		u, err := parseRedirect(redirect)
		if err != nil {
			t.Fatal(err)
		}
		if at := place(u, false); strings.Contains(at, "this computer") {
			t.Errorf("%s leads to %s", redirect, at)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		registered, asked string
		want              bool
	}{
		{"https://a.example/cb", "https://a.example/cb", true},
		{"https://a.example/cb", "https://a.example/cb/", false},
		{"https://a.example/cb", "https://a.example/cb?x", false},
		{"https://a.example/cb", "https://a.example/CB", false},
		{"https://a.example/cb", "https://a.example:444/cb", false},
		{"https://a.example/cb", "https://b.a.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", true},
		{"http://127.0.0.1:4000/cb", "http://127.0.0.1:5000/cb", true},
		{"http://localhost:4000/cb", "http://localhost/cb", true},
		{"http://[::1]:4000/cb", "http://[::1]:5000/cb", true},
		{"http://127.0.0.1:4000/cb", "http://localhost:4000/cb", false},
		{"http://127.0.0.1:4000/cb", "http://127.0.0.1:4000/other", false},
		{"http://127.0.0.1:4000/a%2Fb", "http://127.0.0.1:4000/a/b", false},
		{"http://127.0.0.1:4000/cb?a=1", "http://127.0.0.1:5000/cb?a=2", false},
		{"https://127.0.0.1:4000/cb", "http://127.0.0.1:4000/cb", false},
		{"cursor://x/cb", "cursor://x:1/cb", false},
	} {
		if got := fits(c.registered, c.asked); got != c.want {
			t.Errorf("fits(%q, %q) = %v", c.registered, c.asked, got)
		}
	}
}

// What is parsed as one address must not be read as another by a browser.
func FuzzParseRedirect(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:1/cb", "https://a.example/cb?x=y", "cursor://x/y", "http://localhost", "javascript:alert(1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := parseRedirect(s)
		if err != nil {
			return
		}
		if u.Scheme == "http" && !isLoopback(u.Hostname()) || place(u, false) == "" {
			t.Errorf("%q leads to %q", s, place(u, false))
		}
		if !fits(s, s) {
			t.Errorf("%q does not fit itself", s)
		}
	})
}

func TestDescribedBy(t *testing.T) {
	for id, want := range map[string]bool{
		"https://claude.ai/oauth/client":       true,
		"https://a.example/c.json?x=1":         true,
		"http://a.example/c":                   false,
		"https://a.example":                    false,
		"https://a.example/":                   false,
		"https://a.example/../c":               false,
		"https://a.example/x/./c":              false,
		"https://a.example:8443/c":             false,
		"https://A.example/c":                  false,
		"https://me:pw@a.example/c":            false,
		"https://a.example/c#x":                false,
		"https://a.example/c\\d":               false,
		"https://%D1%81laude.ai/client":        false,
		"dcr_x":                                false,
		"https://a.example/" + string(rune(0)): false,
	} {
		if _, ok := describedBy(id); ok != want {
			t.Errorf("describedBy(%q) = %v", id, ok)
		}
	}
}
