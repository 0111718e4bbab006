package e2e

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/wsserver/wstest"
)

// door is an endpoint of the hub that an attacker tries.
type door struct {
	method, path string // the method "WS" is an upgrade to a WebSocket
	body         string
}

func (d door) String() string { return d.method + " " + d.path }

const toolsListBody = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// doors are those behind which there is something to be had or done.
var doors = []door{
	{"POST", "/mcp", toolsListBody}, {"GET", "/mcp", ""}, {"DELETE", "/mcp", ""}, {"WS", "/mcp", ""},
	{"GET", "/sse", ""}, {"POST", "/message?sessionId=x", toolsListBody},
	{"WS", "/tabs", ""}, {"WS", "/", ""}, {"WS", "/extension", ""}, {"WS", "/relay", ""},
	{"GET", "/attach", ""}, {"GET", "/readyz", ""},
	{"GET", "/api/tabs", ""}, {"GET", "/api/log", ""}, {"POST", "/api/call", `{"name":"x"}`}, {"POST", "/api/token", `{}`}, {"POST", "/api/signin", `{}`}, {"POST", "/api/stop", `{"reason":"stop"}`},
}

// doors are those of this place. Whether a node is ready is for all to know.
func (p *place) doors() []door {
	if p.nodes == nil {
		return doors
	}
	return slices.DeleteFunc(slices.Clone(doors), func(d door) bool { return d.path == "/readyz" })
}

// knock tries a door and returns the response. A door that opens is closed again.
func (p *place) knock(d door, header http.Header) *http.Response {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if d.method == "WS" {
		peer, resp, err := wstest.Connect(ctx, "ws://"+p.listen+d.path, header, spec.Subprotocol, "webmcp.v1")
		if err == nil {
			peer.Close()
		}
		if resp == nil {
			p.t.Fatalf("%s: %v", d, err)
		}
		return resp
	}
	req, err := http.NewRequestWithContext(ctx, d.method, "http://"+p.listen+d.path, strings.NewReader(d.body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header = header.Clone()
	req.Host = header.Get("Host")
	if d.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // redirects are answers, too
	if err != nil {
		p.t.Fatalf("%s: %v", d, err)
	}
	resp.Body.Close()
	return resp
}

// refused checks that a door stays shut, and that a page may not even read why.
func (p *place) refused(what string, d door, header http.Header, status int) {
	p.t.Helper()
	resp := p.knock(d, header)
	if resp.StatusCode != status {
		p.t.Errorf("%s: %s is answered %s, want %d", what, d, resp.Status, status)
	}
	if allowed := resp.Header.Values("Access-Control-Allow-Origin"); len(allowed) > 0 {
		p.t.Errorf("%s: pages of %q may read the answer of %s", what, allowed, d)
	}
}

// with adds headers, given as pairs, to one with the hub's token.
func (p *place) with(pairs ...string) http.Header {
	h := bearer(p.token())
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// A page whose name was rebound to this machine, a page of another site, and a program that
// lacks the token get in nowhere, and may not read why. (CVE-2025-9611, CVE-2025-49596,
// CVE-2025-52882, CVE-2025-66414, CVE-2026-34742)
func TestAttacks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const friend = "https://app.example.com"
	p.serve("--allow-origin", friend)
	_, port, _ := net.SplitHostPort(p.listen)
	cookie := http.Header{"Cookie": {"tabhub-" + port + "=" + p.token()}}
	for _, d := range p.doors() {
		for _, host := range []string{"evil.example:" + port, "localhost.evil.example:" + port, "127.0.0.1:1"} {
			p.refused("Host "+host, d, p.with("Host", host, "Origin", "http://"+host), http.StatusForbidden)
		}
		for _, origin := range []string{"https://evil.example", "null", friend + ".evil.example", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"} {
			p.refused("Origin "+origin, d, p.with("Origin", origin), http.StatusForbidden)
		}
		status := http.StatusUnauthorized
		if d.path == "/attach" { // which is not on the network at all
			status = http.StatusNotFound
		}
		p.refused("a wrong token", d, bearer("wrong"), status)
		if d.method != "WS" { // some of which take a credential in the first message
			p.refused("a cookie alone", d, cookie, status)
		}
	}
	for _, origin := range []string{"", friend} {
		header := p.with("Accept", "application/json, text/event-stream")
		if origin != "" {
			header.Set("Origin", origin)
		}
		resp := p.knock(door{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + initializeParams + `}`}, header)
		if got := resp.Header.Get("Access-Control-Allow-Origin"); resp.StatusCode != http.StatusOK || got != origin {
			t.Errorf("Origin %q: %s, readable by %q; the attacks would be refused for nothing", origin, resp.Status, got)
		}
	}
}
