package httpd

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/pages"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// attacks say what each caller may do at each route of a hub on one's own machine. A cell
// is x: refused, n: not there, t: needs the token in the request, h: needs it in the
// request or in the first message, u: needs a pairing, p: needs nothing, but a token that
// is shown must be right, o: open, r: refused also with the token.
var attacks = []struct {
	targets                                                                string // separated by commas
	program, owner, companion, extension, loopback, allowed, self, foreign string
	session                                                                int // what the hub's page is answered that shows its session
	writer                                                                 int // what it is answered at an origin of its own
	client                                                                 int // what a client is answered, which shows its own token by the port or, at /attach, by the socket
}{
	{"/mcp", "t", "n", "x", "x", "x", "t", "x", "x", 403, 404, 200},
	{"/mcp ws", "h", "n", "x", "x", "x", "h", "x", "x", 403, 404, 200},
	{"/sse, POST /message", "t", "n", "x", "x", "x", "t", "x", "x", 403, 404, 200},
	{"/tabs, /tabs ws", "h", "n", "u", "o", "o", "o", "o", "x", 401, 404, 403},
	{"/ ws", "t", "n", "x", "x", "o", "o", "o", "x", 401, 404, 403},
	{"/extension ws, /relay ws", "h", "n", "x", "o", "x", "h", "x", "x", 403, 404, 403},
	{"/attach", "n", "p", "x", "x", "x", "x", "x", "x", 403, 404, 200},
	{"POST /api/extension", "n", "p", "x", "x", "x", "x", "x", "x", 403, 404, 403},
	{"/api/status, /api/tabs, /api/browsers, /api/browser, /api/tools, /api/explain, /api/log, /api/log/sites, /api/site, /api/packs, /api/policy, /api/policy/test, /api/preflight, /api/pair, /api/pair/wait, /api/clients, /api/questions, /api/watch, /api/nothing, /readyz, /api/doctor, /api/resources, /api/prompts, /api/sites, /api/sessions, /api/lease, /api/connect", "t", "p", "x", "x", "x", "x", "t", "x", 200, 200, 403},
	{"POST /api/pair, DELETE /api/pair, POST /api/clients", "r", "p", "x", "x", "x", "x", "r", "x", 401, 404, 403},
	{"DELETE /api/clients, PUT /api/packs, DELETE /api/packs, POST /api/packs/accept, POST /api/packs/reject, POST /api/packs/record, POST /api/policy/rule, DELETE /api/policy/rule, PUT /api/policy/mode, PUT /api/policy/private, PUT /api/policy/binding, PUT /api/browser, DELETE /api/browser, POST /api/pause, DELETE /api/pause, DELETE /api/lease, POST /api/questions, /api/questions/watch, /api/questions/all, /api/log/payloads, /api/log/carried", "r", "p", "x", "x", "x", "x", "r", "x", 403, 200, 403},
	{"/api/cluster, POST /api/cluster/drain, DELETE /api/cluster/drain, POST /api/stop, POST /api/signin, POST /api/token, POST /api/nothing, /metrics", "t", "p", "x", "x", "x", "x", "t", "x", 401, 404, 403},
	{"POST /api/call, /api/resource, POST /api/prompt, DELETE /api/calls, PUT /api/site, DELETE /api/site/cache", "t", "p", "x", "x", "x", "x", "t", "x", 403, 200, 403},
	{"POST /api/session", "x", "n", "x", "x", "x", "x", "h", "x", 401, 401, 403},
	{"DELETE /api/session", "t", "p", "x", "x", "x", "x", "t", "x", 200, 200, 403},
	{"PUT /api/session", "x", "n", "x", "x", "x", "x", "r", "x", 403, 200, 403},
	{"/api/session, POST /api/status", "t", "p", "x", "x", "x", "x", "t", "x", 401, 401, 403},
	{"/.well-known/oauth-protected-resource/mcp, /.well-known/oauth-authorization-server, /.well-known/openid-configuration, POST /oauth/register, POST /oauth/token, POST /oauth/revoke, /oauth/authorize", "o", "o", "o", "o", "o", "o", "o", "o", 200, 404, 200},
	{"POST /oauth/authorize", "x", "n", "x", "x", "x", "x", "o", "x", 200, 404, 403},
	{"/, /dashboard/dashboard.js, POST /, POST /dashboard/dashboard.js", "o", "o", "o", "o", "o", "o", "o", "o", 200, 200, 200},
	{"/healthz, /demo, /tab.js, /embed.js, /widget.html, /dashboard.js", "o", "o", "o", "o", "o", "o", "o", "o", 200, 404, 200},
}

var (
	goodHosts = []string{"127.0.0.1:3300", "localhost:3300", "LOCALHOST:3300", "[::1]:3300", "127.9.9.9:3300", "tabs.localhost:3300", "hub.example.net", "hub.example.net:8443", "gate.example.net:99"}
	badHosts  = []string{"", "127.0.0.1", "127.0.0.1:3301", "evil.example", "evil.example:3300", "127.0.0.1.evil.example:3300", "localhost.evil.example:3300", "gate.example.net", "192.168.1.5:3300", "[::1]", "localhost:3300.evil.example"}
	foreign   = []string{
		"https://evil.example", "null", "", "http://127.0.0.1.evil.example", "http://localhost.evil.example:3300", "http://evillocalhost",
		"http://app.example.com", "https://app.example.com:444", "https://app.example.com.evil.example", "https://app.example.co", "https://xapp.example.com",
		"http://127.0.0.1:3300/", "http://user@127.0.0.1:3300", "file://", "chrome-extension://" + strings.Repeat("p", 32), "chrome-extension://x", "chrome-extension://" + extensionID + "x",
		"http://127.0.0.1:3300, https://app.example.com",
	}
)

// Each route is attacked by every kind of caller, and so is each that is added.
func TestEveryRouteIsAttacked(t *testing.T) {
	attacked := make(map[*route]bool)
	for _, row := range attacks {
		for target := range strings.SplitSeq(row.targets, ", ") {
			if rt, right := routeOf(ask(target, "127.0.0.1:3300", "-")); right {
				attacked[rt] = true
			}
		}
	}
	for i := range routes {
		if rt := &routes[i]; !attacked[rt] {
			t.Errorf("the test knows nothing of %s %s", rt.method, rt.path)
		}
	}
}

func TestAttacks(t *testing.T) {
	local := GuardOptions{
		Verifier:     auth.NewToken(secret),
		AllowOrigins: []string{"https://app.example.com/"},
		AllowHosts:   []string{"hub.example.net", "gate.example.net:99"},
		Companion:    companionID,
		Extensions:   []string{extensionID},
	}
	accounts := local
	accounts.Accounts = true
	for _, row := range attacks {
		for n, host := range goodHosts {
			self := row.self
			if name, _, _ := net.SplitHostPort(host); isLoopbackName(strings.ToLower(name)) && self == "x" {
				self = row.loopback // the hub's own page is a page of this machine, too
			}
			cells := map[string]string{"-": row.program, "owner": row.owner, companion: row.companion, "chrome-extension://" + extensionID: row.extension,
				"http://localhost:5173": row.loopback, "https://[::1]:8443": row.loopback,
				"https://app.example.com": row.allowed, "HTTPS://APP.example.com": row.allowed, "http://" + host: self}
			for _, f := range foreign {
				cells[f] = row.foreign
			}
			for target := range strings.SplitSeq(row.targets, ", ") {
				if n > 0 && !strings.HasPrefix(row.targets, target) {
					continue // the rows' others are reached by the same names
				}
				for origin, cell := range cells {
					checkCell(t, newGuard(t, local), target, host, origin, cell)
					checkCell(t, newGuard(t, accounts), target, host, origin, ofAccounts(target, cell))
				}
			}
		}
		for target := range strings.SplitSeq(row.targets, ", ") {
			checkSession(t, newGuard(t, local), target, row.session)
			checkSession(t, newGuard(t, accounts), target, row.session)
			checkWriter(t, newGuard(t, local), target, row.writer)
			checkWriter(t, newGuard(t, accounts), target, row.writer)
			checkClient(t, newGuard(t, local), target, row.client)
			checkClient(t, newGuard(t, accounts), target, row.client)
			checkPaired(t, newGuard(t, local), target, row.companion == "u")
			for _, host := range badHosts {
				r := ask(target, host, "-")
				r.Header.Set("Authorization", "Bearer "+secret)
				if _, err := newGuard(t, local).check(r); status(err) != http.StatusForbidden {
					t.Errorf("%s, Host %q: got %v, want 403: a rebound name would reach the hub", target, host, err)
				}
			}
		}
	}
}

// ofAccounts is what a cell is on a hub with accounts: no origin says whose a caller is,
// and the owner has only the process.
func ofAccounts(target, cell string) string {
	ws := strings.Contains(target, " ws")
	switch {
	case cell == "o" && target == "/ ws", cell == "p" && !slices.Contains([]string{"/api/status", "POST /api/status", "/api/doctor", "/metrics", "POST /api/stop", "/api/cluster", "POST /api/cluster/drain", "DELETE /api/cluster/drain"}, target):
		return "t"
	case cell == "t" && slices.Contains([]string{"POST /api/stop", "/metrics", "/api/cluster", "POST /api/cluster/drain", "DELETE /api/cluster/drain"}, target):
		return "r"
	case cell == "r" && target != "PUT /api/session":
		return "t"
	case cell == "o" && (ws || target == "/tabs"):
		return "h"
	}
	return cell
}

// checkSession has the hub's own page show its session.
func checkSession(t *testing.T, g *Guard, target string, want int) {
	t.Helper()
	session, _, _ := g.signIns.logins.add(auth.Identity{User: spec.LocalUser}, "")
	r := ask(target, "127.0.0.1:3300", "http://127.0.0.1:3300")
	r.Header.Set("Authorization", "Bearer "+session)
	if _, err := g.check(r); status(err) != want {
		t.Errorf("%s, with the session of a page: got %v, want %d", target, err, want)
	}
}

// checkWriter has a page at an origin of its own show its session, there and elsewhere.
func checkWriter(t *testing.T, g *Guard, target string, want int) {
	t.Helper()
	const host, other = "tabhub-a.localhost:3300", "tabhub-b.localhost:3300"
	session, _, _ := g.signIns.logins.add(auth.Identity{User: spec.LocalUser}, host)
	try := func(host, origin, site string) int {
		r := ask(target, host, origin)
		r.Header.Set("Authorization", "Bearer "+session)
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		r, err := g.check(r)
		if err == nil && passOf(r.Context()).route.need != credNone {
			err = g.checkOwner(passOf(r.Context()))
		}
		return status(err)
	}
	if got := try(host, "http://"+host, "same-origin"); got != want {
		t.Errorf("%s, with the session of a page that may write: got %d, want %d", target, got, want)
	}
	if rt, right := routeOf(ask(target, host, "-")); !right || rt.need == credNone {
		return
	}
	for _, c := range []struct{ host, origin, site string }{
		{other, "http://" + other, "same-origin"}, {"127.0.0.1:3300", "http://127.0.0.1:3300", "same-origin"}, {"localhost:3300", "http://localhost:3300", "same-origin"},
		{host, "http://" + other, "same-site"}, {host, "http://" + other, "cross-site"}, {host, "http://" + other, "same-origin"},
		{host, "http://" + host, "cross-site"}, {host, "http://" + host, ""}, {host, "http://" + host, "none"},
	} {
		if got := try(c.host, c.origin, c.site); got == http.StatusOK {
			t.Errorf("%s, Host %s, Origin %s, Sec-Fetch-Site %q: good for a session of %s", target, c.host, c.origin, c.site, host)
		}
	}
}

// checkClient has a client show its own token wherever it could, alone and beside the hub's.
func checkClient(t *testing.T, g *Guard, target string, want int) {
	t.Helper()
	const token = "the client's"
	g.verifier = named{
		secret: {User: spec.LocalUser, Kind: auth.KindOwner, Principal: policy.Token},
		token:  {User: spec.LocalUser, Kind: auth.KindClient, Principal: &policy.Principal{ID: "client"}},
	}
	origin := "-"
	if target == "POST /api/session" {
		origin = "http://127.0.0.1:3300"
	}
	rt, _ := routeOf(ask(target, "127.0.0.1:3300", origin))
	for _, c := range []struct {
		header, first string
		want          int
	}{
		{token, "", want}, {"", token, want},
		{token, secret, http.StatusUnauthorized}, {secret, token, http.StatusUnauthorized},
	} {
		r := ask(target, "127.0.0.1:3300", origin)
		if target == "/attach" || target == "POST /api/extension" { // these are for programs at the socket
			r = r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
		}
		if c.header != "" {
			r.Header.Set("Authorization", "Bearer "+c.header)
		}
		r, err := g.check(r)
		if err == nil && rt.need != credNone {
			_, who, e := g.admit(r, c.first)
			if err = e; err == nil && who.ID != "client" {
				t.Errorf("%s: a client is taken for %+v", target, who)
			}
		}
		switch got := status(err); {
		case c.first != "" && rt.need != credHandshake: // nobody reads it there
		case got != c.want && !(c.header != "" && c.first != "" && got == http.StatusForbidden):
			t.Errorf("%s, with a client's token (%q, then %q): got %v, want %d", target, c.header, c.first, err, c.want)
		}
	}
}

// checkPaired has a browser prove its pairing, which is good for tabs alone.
func checkPaired(t *testing.T, g *Guard, target string, want bool) {
	t.Helper()
	r := ask(target, "127.0.0.1:3300", companion)
	p := &pass{from: fromCompanion}
	p.route, p.rightMethod = routeOf(r)
	r = r.WithContext(context.WithValue(r.Context(), passKey{}, p))
	if _, err := g.AdmitPaired(r, pairing.Credential{Pairing: "copy.x"}); (err == nil) != want {
		t.Errorf("%s, with a browser's pairing: %v", target, err)
	}
}

// checkCell makes requests of an origin, or of the owner, with and without tokens.
func checkCell(t *testing.T, g *Guard, target, host, origin, cell string) {
	t.Helper()
	try := func(bearer, first string) int {
		r := ask(target, host, origin)
		if origin == "owner" {
			delete(r.Header, "Origin")
			r = r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
		}
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		r, err := g.check(r)
		if err != nil {
			return status(err)
		}
		p := passOf(r.Context())
		if p.route.need == credNone {
			return http.StatusOK
		}
		if err := g.checkOwner(p); err != nil {
			return status(err)
		}
		a, err := g.Admit(r, first)
		if err == nil && a.User != spec.LocalUser && !(p.route.process && g.accounts && origin == "owner") {
			t.Errorf("%s, Host %q, Origin %q: let in as nobody", target, host, origin)
		}
		return status(err)
	}
	const ok, no401, no403, no404, notPaired = http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, -1
	type attempt struct{ bearer, first string }
	want := map[attempt]int{}
	switch cell {
	case "x":
		want = map[attempt]int{{"", ""}: no403, {secret, ""}: no403, {"wrong", ""}: no403}
	case "n":
		want = map[attempt]int{{"", ""}: no404, {secret, ""}: no404, {"wrong", ""}: no404}
	case "t":
		want = map[attempt]int{{"", ""}: no401, {secret, ""}: ok, {"wrong", ""}: no401, {secret + "x", ""}: no401, {secret[:5], ""}: no401}
	case "h":
		want = map[attempt]int{
			{"", ""}: no401, {secret, ""}: ok, {"wrong", ""}: no401, {"", secret}: ok, {"", "wrong"}: no401,
			{secret, secret}: ok, {secret, "wrong"}: no401, {"wrong", secret}: no401,
		}
	case "u":
		want = map[attempt]int{{"", ""}: notPaired, {secret, ""}: notPaired, {"", secret}: notPaired, {"wrong", ""}: no401}
	case "r":
		want = map[attempt]int{{"", ""}: no401, {secret, ""}: no403, {"wrong", ""}: no401}
	case "p":
		want = map[attempt]int{{"", ""}: ok, {secret, ""}: ok, {"wrong", ""}: no401}
	case "o":
		want = map[attempt]int{{"", ""}: ok, {secret, ""}: ok}
	}
	for a, code := range want {
		if got := try(a.bearer, a.first); got != code {
			t.Errorf("%s, Host %q, Origin %q, Bearer %q, first message %q: got %d, want %d", target, host, origin, a.bearer, a.first, got, code)
		}
	}
}

// An operator finds in the guide each path that a hub answers at.
func TestGuideNamesTheEndpoints(t *testing.T) {
	guide, err := os.ReadFile("../../../spec/docs/OPERATE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "\n| endpoint |")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`/.*?) \\|").FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, m[1])
		}
	}
	want := slices.Clone(pages.Paths)
	for _, r := range routes {
		switch path := r.path; {
		case path == "/*" || path == "/dashboard/*": // pages, and the files of the one at "/"
		case strings.Count(path, "/") > 1:
			want = append(want, path[:strings.Index(path[1:], "/")+2]+"…")
		default:
			want = append(want, path)
		}
	}
	for _, list := range []*[]string{&got, &want} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the guide has %q, and the hub %q", got, want)
	}
}

// Targets that are no path, as proxies are sent, are refused like any path that is not there.
func TestTargetsThatAreNoPath(t *testing.T) {
	d := open(t, nil)
	for _, line := range []string{"GET * HTTP/1.1", "OPTIONS * HTTP/1.1", "GET x:y HTTP/1.1", "GET http://" + d.addr + " HTTP/1.1", "CONNECT " + d.addr + " HTTP/1.1"} {
		conn, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s\r\nHost: %s\r\n\r\n", line, d.addr)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", line, err) // nobody answers who panics
		} else if resp.StatusCode >= 500 || resp.StatusCode == http.StatusSwitchingProtocols {
			t.Errorf("%s: %s", line, resp.Status)
		}
		conn.Close()
	}
}
