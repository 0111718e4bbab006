package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport/tabtest/chromium"
)

const callback = "http://127.0.0.1:4000/callback"

// withOAuth has a test server let clients in whom approve lets in.
func withOAuth(t *testing.T, approve func(context.Context, consent.SignIn) (consent.Answer, error)) func(*GuardOptions, *Options) {
	return func(g *GuardOptions, o *Options) {
		clients := newClients(t)
		o.OAuth = oauth.New(oauth.Options{Clients: clients, Approve: approve})
		if err := o.OAuth.Load(private.Document{Save: func([]byte, bool) error { return nil }}); err != nil {
			t.Fatal(err)
		}
		g.Verifier = &auth.Hub{Owner: g.Verifier, Clients: clients, OAuth: o.OAuth}
	}
}

func yes(context.Context, consent.SignIn) (consent.Answer, error) {
	return consent.Answer{Reach: spec.ReachOnce}, nil
}

// click opens the page at an address and clicks on it. It returns the answer's lines.
func click(t *testing.T, ctx context.Context, address, choice string) *json.Decoder {
	t.Helper()
	page, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	if page.StatusCode != http.StatusOK {
		t.Fatalf("the page: %s", page.Status)
	}
	req, err := http.NewRequestWithContext(ctx, "POST", address, strings.NewReader(choice))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", req.URL.Scheme+"://"+req.URL.Host)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the click: %s", resp.Status)
	}
	return json.NewDecoder(bufio.NewReader(resp.Body))
}

// The Go SDK's client gets from a 401 to calling a tool, by whichever of the hub's names it
// was given: it compares all that the hub says of itself with that.
func TestGoSDKSignsIn(t *testing.T) {
	d := open(t, withOAuth(t, yes))
	_, port, _ := net.SplitHostPort(d.addr)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		handler, err := sdkauth.NewAuthorizationCodeHandler(&sdkauth.AuthorizationCodeHandlerConfig{
			DynamicClientRegistrationConfig: &sdkauth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "Go client", RedirectURIs: []string{callback},
			}},
			AuthorizationCodeFetcher: func(ctx context.Context, args *sdkauth.AuthorizationArgs) (*sdkauth.AuthorizationResult, error) {
				var last AuthorizeEvent
				for lines := click(t, ctx, args.URL, `{"sites":[]}`); last.Location == ""; {
					if err := lines.Decode(&last); err != nil || last.Error != "" {
						t.Fatalf("%v %s", err, last.Error)
					}
				}
				to, err := url.Parse(last.Location)
				if err != nil || !strings.HasPrefix(last.Location, callback) {
					t.Fatalf("the page goes on to %s", last.Location)
				}
				q := to.Query()
				return &sdkauth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: "http://" + net.JoinHostPort(host, port) + "/mcp", OAuthHandler: handler, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "own"}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		session.Close()
	}
}

// A 401 says where a client gets a token, in the name that the client has used.
func TestChallenge(t *testing.T) {
	d := open(t, withOAuth(t, yes))
	for path, want := range map[string]string{
		"/mcp": "/mcp", "/sse": "/sse", "/message": "/sse", "/api/status": "",
	} {
		for _, token := range []string{"", "Bearer wrong"} {
			status, body, h := d.ask("POST", path, "", "Authorization", token, "Host", "localhost"+d.addr[strings.LastIndex(d.addr, ":"):])
			challenge := h.Get("WWW-Authenticate")
			if status != http.StatusUnauthorized || strings.Contains(body, "can sign in") != (want != "" && token == "") {
				t.Errorf("%s: %d %s", path, status, body)
			}
			address := `resource_metadata="http://localhost` + d.addr[strings.LastIndex(d.addr, ":"):] + resourceMetadata + want + `"`
			if strings.Contains(challenge, address) != (want != "") || strings.Contains(challenge, `error="invalid_token"`) != (want != "" && token != "") {
				t.Errorf("%s: %s", path, challenge)
			}
		}
	}
}

// Metadata name the hub as it was asked for, and are there for what it serves alone.
func TestMetadata(t *testing.T) {
	public := func(g *GuardOptions, _ *Options) {
		g.PublicURL, g.BehindProxy = "https://hub.example.com/tabs/", true
	}
	for name, c := range map[string]struct {
		change       func(*GuardOptions, *Options)
		host         string
		base, issuer string
	}{
		"loopback":  {withOAuth(t, yes), "", "", ""},
		"localhost": {withOAuth(t, yes), "localhost", "http://localhost", ""},
		"IPv6":      {withOAuth(t, yes), "[::1]", "http://[::1]", ""},
		"public": {func(g *GuardOptions, o *Options) { withOAuth(t, yes)(g, o); public(g, o) },
			"hub.example.com", "https://hub.example.com/tabs", ""},
		"accounts": {func(g *GuardOptions, o *Options) {
			g.Accounts, o.Issuer = true, "https://login.example.com"
		}, "", "", "https://login.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, c.change)
			host, base := c.host, c.base
			port := d.addr[strings.LastIndex(d.addr, ":"):]
			switch {
			case host == "":
				host, base = d.addr, "http://"+d.addr
			case !strings.HasPrefix(base, "https"):
				host, base = host+port, base+port
			}
			issuer := c.issuer
			if issuer == "" {
				issuer = base
			}
			for path, found := range map[string]bool{"": true, "/mcp": true, "/sse": true, "/api": false, "mcp": false, "/mcp/": false} {
				status, body, _ := d.ask("GET", resourceMetadata+path, "", "Authorization", "", "Host", host)
				var m oauth.ResourceMetadata
				if (status == http.StatusOK) != found {
					t.Errorf("%s: %d", path, status)
				}
				if json.Unmarshal([]byte(body), &m); found && (m.Resource != base+path || m.AuthorizationServers[0] != issuer) {
					t.Errorf("%s: %s", path, body)
				}
			}
			for _, path := range []string{serverMetadata, openIDMetadata} {
				status, body, _ := d.ask("GET", path, "", "Authorization", "", "Host", host)
				var m oauth.ServerMetadata
				if json.Unmarshal([]byte(body), &m); (m.Issuer == base && m.Token == base+"/oauth/token") != (c.issuer == "") {
					t.Errorf("%s: %d %s", path, status, body)
				}
				if status, _, _ := d.ask("GET", path+"/other", "", "Authorization", "", "Host", host); status != http.StatusNotFound {
					t.Errorf("%s/other: %d", path, status)
				}
			}
		})
	}
}

// A hub that asks for no credential, or takes those of others, signs no client in.
func TestNoOAuth(t *testing.T) {
	d := open(t, func(g *GuardOptions, _ *Options) { g.Verifier = nil })
	for _, target := range []string{"GET " + resourceMetadata, "GET " + serverMetadata, "POST " + oauth.RegisterPath, "POST " + oauth.TokenPath, "GET " + oauth.AuthorizePath, "POST " + oauth.AuthorizePath} {
		method, path, _ := strings.Cut(target, " ")
		if status, body, _ := d.ask(method, path, "", "Origin", "http://"+d.addr); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
}

// Pages that are clients, as the Inspector is, read metadata, register and get tokens; no
// page of another site asks the owner.
func TestOAuthOfPages(t *testing.T) {
	d := open(t, withOAuth(t, yes))
	const inspector = "http://localhost:6274"
	for target, reads := range map[string]bool{
		"GET " + resourceMetadata + "/mcp": true, "GET " + serverMetadata: true, "POST " + oauth.RegisterPath: true,
		"POST " + oauth.TokenPath: true, "POST " + oauth.RevokePath: true,
		"GET " + oauth.AuthorizePath: false, "POST " + oauth.AuthorizePath: false,
	} {
		method, path, _ := strings.Cut(target, " ")
		_, _, h := d.ask(method, path, "", "Authorization", "", "Origin", inspector)
		if got := h.Get("Access-Control-Allow-Origin"); (got == inspector) != reads || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", target, h)
		}
		_, _, h = d.ask("OPTIONS", path, "", "Authorization", "", "Origin", inspector, "Access-Control-Request-Method", method, "Access-Control-Request-Headers", "mcp-protocol-version")
		if got := h.Get("Access-Control-Allow-Headers"); (got != "") != reads {
			t.Errorf("preflight of %s: %v", target, h)
		}
	}
}

// register returns the address of the page for a client that calls itself name.
func (d *testServer) register(name string) string {
	d.t.Helper()
	body, _ := json.Marshal(oauth.Registration{ClientName: name, RedirectURIs: []string{callback, "cursor://agent/callback"}})
	status, answer, _ := d.ask("POST", oauth.RegisterPath, string(body), "Authorization", "")
	var made oauth.Registration
	if json.Unmarshal([]byte(answer), &made); status != http.StatusCreated {
		d.t.Fatalf("%d %s", status, answer)
	}
	return "http://" + d.addr + oauth.AuthorizePath + "?" + url.Values{
		"response_type": {"code"}, "client_id": {made.ClientID}, "redirect_uri": {callback}, "state": {"s"},
		"code_challenge": {strings.Repeat("x", 43)}, "code_challenge_method": {"S256"},
	}.Encode()
}

// What a client calls itself is text on the page, and the page cannot be framed.
func TestAuthorizePage(t *testing.T) {
	d := open(t, withOAuth(t, yes))
	address := strings.TrimPrefix(d.register(`<img src=x onerror=alert(1)>`), "http://"+d.addr)
	status, body, h := d.ask("GET", address, "", "Authorization", "")
	if status != http.StatusOK || strings.Contains(body, "<img") || !strings.Contains(body, "&lt;img") || !strings.Contains(body, "a program on this computer, port 4000") {
		t.Errorf("%d %s", status, body)
	}
	if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "script-src 'self';") || h.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%v", h)
	}
	cursor := strings.Replace(address, url.QueryEscape(callback), url.QueryEscape("cursor://agent/callback"), 1)
	if _, body, _ := d.ask("GET", cursor, ""); !strings.Contains(body, `href="cursor://agent/callback?error=access_denied`) || !strings.Contains(body, "the program that opens cursor: addresses on this computer") {
		t.Errorf("%s", body)
	}
	wrong := strings.Replace(address, "S256", "plain", 1)
	status, body, _ = d.ask("GET", wrong, "")
	if status != http.StatusBadRequest || !strings.Contains(body, "S256") || !strings.Contains(body, callback+"?error=invalid_request") {
		t.Errorf("%d %s", status, body)
	}
	unknown := strings.Replace(address, "dcr_", "dcr_x", 1)
	status, body, _ = d.ask("GET", unknown, "")
	if status != http.StatusBadRequest || strings.Contains(body, "href=\"http") || !strings.Contains(body, "does not know this client") {
		t.Errorf("%d %s", status, body)
	}
}

// Closing the page withdraws the question, and what the page shows comes before the
// answer.
func TestClosedPage(t *testing.T) {
	withdrawn := make(chan struct{})
	d := open(t, withOAuth(t, func(ctx context.Context, _ consent.SignIn) (consent.Answer, error) {
		<-ctx.Done()
		close(withdrawn)
		return consent.Answer{}, ctx.Err()
	}))
	ctx, closePage := context.WithCancel(t.Context())
	var first AuthorizeEvent
	if err := click(t, ctx, d.register("An agent"), `{}`).Decode(&first); err != nil || len(first.Code) != 4 {
		t.Fatalf("%+v, %v", first, err)
	}
	closePage()
	<-withdrawn
}

func TestOAuthErrors(t *testing.T) {
	d := open(t, withOAuth(t, yes))
	for _, c := range []struct{ method, path, body, contentType, want string }{
		{"POST", oauth.RegisterPath, `{`, "application/json", "invalid_client_metadata"},
		{"POST", oauth.RegisterPath, `{"redirect_uris":["http://evil.example/"]}`, "application/json", "invalid_redirect_uri"},
		{"POST", oauth.RegisterPath, `redirect_uris=x`, "application/x-www-form-urlencoded", "invalid_client_metadata"},
		{"POST", oauth.TokenPath, `{}`, "application/json", "invalid_request"},
		{"POST", oauth.TokenPath, `grant_type=password`, "application/x-www-form-urlencoded", "unsupported_grant_type"},
		{"POST", oauth.TokenPath, `grant_type=authorization_code&code=x`, "application/x-www-form-urlencoded", "invalid_grant"},
		{"POST", oauth.TokenPath, `grant_type=refresh_token&refresh_token=x`, "application/x-www-form-urlencoded", "invalid_grant"},
		{"POST", oauth.TokenPath + "?grant_type=refresh_token", ``, "application/x-www-form-urlencoded", "invalid_request"},
	} {
		status, body, h := d.ask(c.method, c.path, c.body, "Authorization", "", "Content-Type", c.contentType)
		var no struct {
			Error string `json:"error"`
			Text  string `json:"error_description"`
		}
		if json.Unmarshal([]byte(body), &no); status != http.StatusBadRequest || no.Error != c.want || no.Text == "" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, status, body)
		}
	}
	if status, body, h := d.ask("GET", oauth.TokenPath, ""); status != http.StatusMethodNotAllowed || h.Get("Allow") != "POST" {
		t.Errorf("%d %s", status, body)
	}
}

// A person chooses on the page, sees the number, and is led on by the owner's answer; what
// is wrong with the choice the page says, and can be asked again.
func TestAuthorizePageInABrowser(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan consent.SignIn), make(chan struct{})
	d := open(t, withOAuth(t, func(ctx context.Context, s consent.SignIn) (consent.Answer, error) {
		asked <- s
		<-answer
		return yes(ctx, s)
	}))
	back := make(chan url.Values, 1)
	client := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			back <- r.URL.Query()
		}
	}))
	defer client.Close()
	address := strings.Replace(d.register("An agent"), url.QueryEscape(callback), url.QueryEscape(client.URL+"/callback"), 1)

	page := chromium.Shared(t, chromium.Options{}).Open(address)
	page.WaitFor(`document.querySelector("h1").textContent.includes("An agent")`)
	page.Click("#sites")
	page.Type("not a site!")
	page.Click("button")
	page.WaitFor(`document.querySelector("#trouble").textContent.includes("no site")`)
	page.Eval(`document.querySelector("#sites").value = ""`)
	page.Click("#sites")
	page.Type("example.com, *.example.org")
	page.Click("input[value=read]")
	page.Click("button")
	s := <-asked
	page.WaitFor(`document.querySelector("p.number").checkVisibility() && document.querySelector("p.number").textContent === "` + s.Code + `"`)
	if why := strings.Join(s.Why, " "); !strings.Contains(why, "read, on example.com, *.example.org and no other site") {
		t.Errorf("the owner is asked: %s", why)
	}
	close(answer)
	if q := <-back; q.Get("code") == "" || q.Get("state") != "s" {
		t.Errorf("the client is sent %v", q)
	}
}
