package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// door is an endpoint of the hub, as somebody who wants in tries it.
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

// A page whose name was rebound to this machine is same-origin with the hub, for the
// browser. The Host header gives it away. (CVE-2025-9611, CVE-2025-66414,
// CVE-2025-66416, CVE-2026-34742)
func TestDNSRebinding(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	_, port, _ := net.SplitHostPort(p.listen)
	for _, host := range []string{"evil.example:" + port, "evil.example", "127.0.0.1.evil.example:" + port, "localhost.evil.example:" + port, "evillocalhost:" + port, "127.0.0.1:1", "[::ffff:8.8.8.8]:" + port} {
		for _, d := range append(p.doors(), door{"GET", "/demo", ""}, door{"GET", "/tab.js", ""}, door{"GET", "/widget.html", ""}, door{"GET", "/healthz", ""}) {
			p.refused("Host "+host, d, p.with("Host", host), http.StatusForbidden)
			p.refused("Host and Origin "+host, d, p.with("Host", host, "Origin", "http://"+host), http.StatusForbidden)
		}
	}
	for _, host := range []string{p.listen, "localhost:" + port} {
		if resp := p.knock(door{"GET", "/api/tabs", ""}, p.with("Host", host)); resp.StatusCode != http.StatusOK {
			t.Errorf("Host %s: %s, so the attack would be refused for nothing", host, resp.Status)
		}
	}
}

// A page of another site sends what a form can send, or opens a WebSocket, to which
// no browser's same-origin policy applies; and looks for a check that compares
// only a part of its origin. (CVE-2025-52882, CVE-2026-59950, CVE-2026-33252)
func TestOtherSites(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--allow-origin", "https://app.example.com")
	_, port, _ := net.SplitHostPort(p.listen)
	for _, origin := range []string{
		"https://evil.example", "null", "file://", "http://127.0.0.1.evil.example", "http://localhost.evil.example:" + port, "http://evillocalhost", "http://127.0.0.1:" + port + "@evil.example",
		"https://app.example.com.evil.example", "https://app.example.com:444", "http://app.example.com", "https://xapp.example.com", "https://app.example.com/", "https://app.example.com, https://evil.example",
		"chrome-extension://abcdefghijklmnopabcdefghijklmnop",
	} {
		for _, d := range p.doors() {
			p.refused("Origin "+origin, d, p.with("Origin", origin), http.StatusForbidden)
		}
	}
	two := p.with()
	two["Origin"] = []string{"https://app.example.com", "https://evil.example"}
	p.refused("two origins", door{"POST", "/mcp", toolsListBody}, two, http.StatusForbidden)

	// Without an Origin, a request needs the token, and a type that no form has.
	for _, d := range p.doors() {
		if d.method == "POST" && !strings.HasPrefix(d.path, "/message") {
			for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain; charset=application/json"} {
				want := http.StatusUnsupportedMediaType
				if d.path == "/api/token" || d.path == "/api/signin" {
					continue // takes no body
				}
				p.refused("a body of type "+kind, d, p.with("Content-Type", kind), want)
			}
		}
	}

	// Cookies would come along with what other ports of this machine send, and are sent
	// to them. There are none.
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	base, err := url.Parse(p.url())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/?token=" + p.token(), "/demo", "/api/tabs", "/sse?token=wrong"} {
		resp, err := browser.Get(p.url() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if cookies := jar.Cookies(base); len(cookies) > 0 {
			t.Errorf("%s sets the cookies %v", path, cookies)
		}
	}
	for _, path := range []string{"/api/stop", "/api/token", "/api/call"} {
		d := door{"POST", path, `{"reason":"stop","name":"x"}`}
		cookie := []string{"tabhub-" + port + "=" + p.token()}
		p.refused("another port with a cookie", d, http.Header{"Cookie": cookie, "Origin": {"http://127.0.0.1:1"}}, http.StatusForbidden)
		p.refused("another site with a cookie", d, http.Header{"Cookie": cookie, "Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden)
		p.refused("another port without a word", d, http.Header{"Cookie": cookie, "Sec-Fetch-Site": {"same-site"}}, http.StatusForbidden)
		p.refused("a cookie alone", d, http.Header{"Cookie": cookie}, http.StatusUnauthorized)
	}
	if resp := p.knock(door{"GET", "/healthz", ""}, http.Header{}); resp.StatusCode != http.StatusOK {
		t.Errorf("the hub is no longer there: %s", resp.Status)
	}
}

// noCredential is the status for who shows no credential at a door. One of them is not
// on the network at all.
func noCredential(d door) int {
	if d.path == "/attach" {
		return http.StatusNotFound
	}
	return http.StatusUnauthorized
}

// A program of another user of this machine has no Origin and needs no browser. It
// lacks the token. (CVE-2025-49596)
func TestNoCredential(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	handshakes := []string{"/mcp", "/tabs", "/extension", "/relay"} // take it in the first message
	for _, header := range []http.Header{{}, bearer(""), bearer("wrong"), bearer(p.token()[:10]), bearer(p.token() + "x"), {"Authorization": {"Basic " + p.token()}}, {"Cookie": {"tabhub=" + p.token()}}} {
		for _, d := range p.doors() {
			if d.method == "WS" && slices.Contains(handshakes, d.path) && !strings.HasPrefix(header.Get("Authorization"), "Bearer") {
				continue
			}
			p.refused(fmt.Sprint(header), d, header, noCredential(d))
		}
	}
	for _, d := range p.doors() {
		// In an address the token gets into logs and histories.
		if d.path != "/sse" && !strings.HasPrefix(d.path, "/message") && d.method != "WS" {
			p.refused("the token in the address", door{d.method, d.path + "?token=" + p.token(), d.body}, http.Header{}, noCredential(d))
		}
	}

	hello := func(params string) (json.RawMessage, spec.CloseCode) {
		t.Helper()
		peer, _, err := wstest.Connect(p.within(), "ws://"+p.tabsAt()+"/tabs", nil, spec.Subprotocol)
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
		peer.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":` + params + `}`))
		frame, err := peer.Receive()
		if err != nil {
			return nil, wstest.CloseCode(err)
		}
		a := answerOf(frame)
		if a.result != nil {
			return a.result, 0
		}
		_, err = peer.Receive()
		return nil, wstest.CloseCode(err)
	}
	token := fmt.Sprintf("%q", p.token())
	for _, params := range []string{
		`{"protocolVersion":"tabhub.v1"}`, `{"protocolVersion":"tabhub.v1","token":""}`, `{"protocolVersion":"tabhub.v1","token":"wrong"}`,
		// Only one reading of a message may exist. (CVE-2026-27896)
		`{"protocolVersion":"tabhub.v1","TOKEN":` + token + `}`, `{"protocolVersion":"tabhub.v1","token":"wrong","Token":` + token + `}`,
	} {
		if result, code := hello(params); result != nil || code != spec.CloseRefused {
			t.Errorf("hello %s: %s, close code %d; want a refusal", strings.Replace(params, token, "TOKEN", 1), result, code)
		}
	}
	if result, code := hello(`{"protocolVersion":"tabhub.v1","token":` + token + `}`); result == nil {
		t.Errorf("hello with the token is refused with %d", code)
	}
}

// Pages read what is sent with Access-Control-Allow-Origin, so only the pages that
// the user has allowed are named there. (CVE-2026-9739)
func TestCORS(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const friend = "https://app.example.com"
	p.serve("--allow-origin", friend)
	for _, d := range p.doors() {
		if d.method == "WS" {
			continue
		}
		for _, origin := range []string{friend, "https://evil.example", "null", "http://localhost:5173"} {
			for _, preflight := range []bool{false, true} {
				try, header := d, p.with("Origin", origin)
				if preflight {
					try.method, try.body = "OPTIONS", ""
					header = http.Header{"Origin": {origin}, "Access-Control-Request-Method": {d.method}, "Access-Control-Request-Headers": {"authorization"}}
				}
				resp := p.knock(try, header)
				got := resp.Header.Values("Access-Control-Allow-Origin")
				open := origin == friend && (strings.HasPrefix(d.path, "/mcp") || d.path == "/sse" || strings.HasPrefix(d.path, "/message"))
				if open && !slices.Equal(got, []string{friend}) || !open && len(got) > 0 {
					t.Errorf("%s from %s: readable by %q", try, origin, got)
				}
				if resp.Header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s from %s: with credentials", try, origin)
				}
			}
		}
	}
}

// Revisions of MCP differ in what a client must send, not in who may send it.
// (CVE-2026-11719)
func TestOlderRevisionsCheckAsMuch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.http()
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", ""} {
		initialize := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, version)
		for _, body := range []string{toolsListBody, initialize, "[" + toolsListBody + "]", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`} {
			for _, path := range []string{"/mcp", "/message?sessionId=" + c.header.Get("Mcp-Session-Id")} {
				d := door{"POST", path, body}
				about := []string{"Mcp-Protocol-Version", version, "Mcp-Session-Id", c.header.Get("Mcp-Session-Id"), "Mcp-Method", "tools/list"}
				what := "revision " + version
				p.refused(what, d, p.with(append(about, "Host", "evil.example")...), http.StatusForbidden)
				p.refused(what, d, p.with(append(about, "Origin", "https://evil.example")...), http.StatusForbidden)
				p.refused(what, d, p.with(append(about, "Authorization", "Bearer wrong")...), http.StatusUnauthorized)
			}
		}
	}
	if a := c.ask("tools/list", `{}`); a.err != nil {
		t.Errorf("the session that others tried to use: %s", a.err)
	}
}

// Two programs that read one message differently can be played off against each
// other: member names are what they are, letter by letter. (CVE-2026-27896)
func TestMemberNamesAreExact(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	calls := make(chan string, 10)
	x := p.open(&tab{key: "one", tools: `[{"name":"mild"},{"name":"wild"}]`, run: func(tool string, args json.RawMessage) string {
		calls <- tool
		return echo(args)
	}})
	c := p.http()
	list := listTools(t, c)
	mild, wild := list.named("_mild"), list.named("_wild")
	ask := func(body string) answer {
		t.Helper()
		_, b, err := post(c.place.within(), c.url, c.header, body)
		if err != nil {
			t.Fatal(err)
		}
		for e := range rig.Events(strings.NewReader(string(b))) {
			b = e.Data
		}
		if rawjson.Valid(b, spec.MaxDepth) != nil {
			t.Fatalf("%s gets %q", body, b)
		}
		return answerOf(b)
	}
	for body, want := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"Method":"tools/list"}`:                                                                          spec.CodeInvalidRequest,
		`{"JSONRPC":"2.0","id":1,"method":"tools/list"}`:                                                                          spec.CodeInvalidRequest,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":%q}}`, wild):                  0,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":%q}}`, wild):                                  spec.CodeInvalidParams,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":%q}}`, wild):                                  spec.CodeInvalidParams,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":%q,"name":"no_such","Name":%q}}`, wild, wild): spec.CodeInvalidParams,
	} {
		if a := ask(body); codeOf(a) != want {
			t.Errorf("%s gets %s%s, want the error %d", body, a.result, a.err, want)
		}
	}
	if a := ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"Name":%q,"arguments":{},"Arguments":{"x":1}}}`, mild, wild)); a.outcome() != "ok" || !strings.Contains(string(a.result), `"{}"`) {
		t.Errorf("a call with members that are alike: %s%s", a.result, a.err)
	}
	if tool := <-calls; tool != "mild" || len(calls) > 0 {
		t.Errorf("the page ran %s, want the tool that the call names", tool)
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":"q","Method":"browser/updateTools","params":{"tools":[]}}`,
		`{"jsonrpc":"2.0","id":"q","method":"browser/ping","METHOD":"browser/updateTools","params":{"tools":[]}}`,
		`{"jsonrpc":"2.0","id":"q","method":"browser/updateTools","params":{"Tools":[]}}`,
		`{"jsonrpc":"2.0","id":"q","method":"browser/updateTools","params":{"tools":[{"name":"mild"},{"name":"wild"},{"Name":"shout"}]}}`,
	} {
		x.send(frame)
	}
	x.ask(`"end"`, `{"jsonrpc":"2.0","id":"end","method":"browser/updateTools","params":{"TOOLS":[],"tools":[{"name":"mild"},{"name":"wild"},{"name":"end"}]}}`)
	if names := listTools(t, c).names(); len(names) != 3 {
		t.Errorf("after messages with members that are alike the tools are %q", names)
	}
}
