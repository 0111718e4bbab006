package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
)

// What belongs to one user of a hub is out of another's reach: a session by its id,
// tools, calls, and the log. (CVE-2026-25536)
func TestUsersAreApart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.serve("--auth", "jwt", "--jwt-secret", secret)
	tokens := map[string]string{}
	for _, user := range []string{"alice", "bob"} {
		tokens[user] = signed(t, secret, map[string]any{"user_id": user, "exp": time.Now().Add(time.Hour).Unix()})
	}
	p.refused("a page of this machine, without a token", door{"WS", "/", ""}, http.Header{"Origin": {"http://localhost:5173"}}, http.StatusUnauthorized)

	ran := make(chan string, 10)
	for user, token := range tokens {
		p.open(&tab{key: "same", token: token, tools: fmt.Sprintf(`[{"name":"same"},{"name":"only_%s"}]`, user), run: func(string, json.RawMessage) string {
			ran <- user
			return fmt.Sprintf(`{"content":[{"type":"text","text":"of %s"}]}`, user)
		}})
	}

	sessions, streams := map[string]*httpClient{}, map[string]*sseClient{}
	for user, token := range tokens {
		sessions[user] = p.httpAs(token)
		streams[user] = p.sseAs(token)
	}
	for user, c := range sessions {
		list := listTools(t, c)
		if len(list.names()) != 2 || list.named("_only_"+user) == "" {
			t.Errorf("%s lists %q, want two tools", user, list.names())
		}
		a := c.ask("tools/call", fmt.Sprintf(`{"name":%q}`, list.named("_same")))
		if got := <-ran; got != user || !strings.Contains(string(a.result), "of "+user) {
			t.Errorf("the call of %s ran with %s: %s%s", user, got, a.result, a.err)
		}
		other := strings.Replace(list.named("_only_"+user), user, map[string]string{"alice": "bob", "bob": "alice"}[user], 1)
		if a := c.ask("tools/call", fmt.Sprintf(`{"name":%q}`, other)); codeOf(a) != spec.CodeInvalidParams {
			t.Errorf("%s calls %s: %s%s", user, other, a.result, a.err)
		}
	}
	// Bob knows the ids of Alice's sessions.
	stolen := bearer(tokens["bob"])
	stolen.Set("Mcp-Session-Id", sessions["alice"].header.Get("Mcp-Session-Id"))
	for _, method := range []string{"POST", "GET", "DELETE"} {
		d := door{method, "/mcp", ""}
		if method == "POST" {
			d.body = toolsListBody
		}
		p.refused("another's session", d, stolen, http.StatusNotFound)
	}
	_, query, _ := strings.Cut(streams["alice"].endpoint, "?")
	p.refused("another's stream", door{"POST", "/message?" + query, toolsListBody}, bearer(tokens["bob"]), http.StatusNotFound)
	for what, f := range map[string]face{"session": sessions["alice"], "stream": streams["alice"]} {
		if a := f.ask("tools/list", `{}`); a.err != nil {
			t.Errorf("Alice's %s is gone: %s", what, a.err)
		}
	}
	var log []json.RawMessage
	p.apiAs(tokens["bob"], "/api/log", &log)
	// Of what is Alice's there is but the name that he has asked for in vain.
	if text := strings.Replace(fmt.Sprintf("%s", log), "_only_alice", "", 1); len(log) != 4 || strings.Contains(text, "alice") {
		t.Errorf("Bob reads in the log %s, want its first line, his registration, his call and the one that was refused", text)
	}
}

// signed makes a JSON Web Token with any claims.
func signed(t *testing.T, secretFile string, claims map[string]any) string {
	t.Helper()
	secret, err := os.ReadFile(secretFile)
	if err != nil {
		t.Fatal(err)
	}
	return rig.Sign(secret, claims)
}
