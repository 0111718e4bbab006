package extension_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// What people write for a site becomes one that can match, or is refused with how to write it;
// what they write for a hub becomes the address of its WebSocket.
func TestAddresses(t *testing.T) {
	t.Parallel()
	b := newHub(t).browse(chromium.Options{})
	p := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	p.Eval(`import("/addresses.js").then((module) => void Object.assign(window, module))`)
	const (
		noSite    = "is no site"
		noPattern = "matches no site here"
		noWeb     = "Only sites at"
		noHub     = "looks like ws://"
	)
	for _, test := range []struct{ of, text, want string }{
		{"siteOf", "example.com", "https://example.com"},
		{"siteOf", " https://Example.com/some/page?q#x ", "https://example.com"},
		{"siteOf", "http://example.com:8080", "http://example.com:8080"},
		{"siteOf", "localhost:5173", "http://localhost:5173"},
		{"siteOf", "app.localhost:5173/x", "http://app.localhost:5173"},
		{"siteOf", "127.0.0.1", "http://127.0.0.1"},
		{"siteOf", "[::1]:8080", "http://[::1]:8080"},
		{"siteOf", "192.168.1.2", "https://192.168.1.2"},
		{"siteOf", "bücher.example", "https://xn--bcher-kva.example"},
		{"siteOf", "intranet", "https://intranet"},
		{"siteOf", "", "Write a site"},
		{"siteOf", "*.example.com", noPattern},
		{"siteOf", "https://*.example.com/*", noPattern},
		{"siteOf", "not a site!", noSite},
		{"siteOf", "example.com:port", noSite},
		{"siteOf", "exam ple.com", noSite},
		{"siteOf", "example..com", noSite},
		{"siteOf", "chrome://settings", noWeb},
		{"siteOf", "file:///etc/passwd", noWeb},
		{"siteOf", "ftp://example.com", noWeb},
		{"hubOf", "ws://127.0.0.1:3300/tabs", "ws://127.0.0.1:3300/tabs"},
		{"hubOf", "http://127.0.0.1:3300/", "ws://127.0.0.1:3300/tabs"},
		{"hubOf", "http://localhost:3300/#code=secret", "ws://localhost:3300/tabs"},
		{"hubOf", "127.0.0.1:3300", "ws://127.0.0.1:3300/tabs"},
		{"hubOf", "https://hub.example.com", "wss://hub.example.com/tabs"},
		{"hubOf", "wss://hub.example.com/team/tabs", "wss://hub.example.com/team/tabs"},
		{"hubOf", "hub.example.com", "wss://hub.example.com/tabs"},
		{"hubOf", "", noHub},
		{"hubOf", "ftp://127.0.0.1/", noHub},
		{"hubOf", "not a hub", noHub},
	} {
		got := p.Eval(fmt.Sprintf(`(({origin, address, problem}) => origin === %[3]q || address === %[3]q || (problem?.includes(%[3]q) ?? false) || [origin, address, problem])(%[1]s(%[2]q))`, test.of, test.text, test.want))
		if got != "true" {
			t.Errorf("%s(%q) is %s, want %s", test.of, test.text, got, test.want)
		}
	}
}
