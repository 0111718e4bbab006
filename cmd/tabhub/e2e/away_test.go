package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
)

// The hub is killed under the clients that the SDKs' authors ship. What they have begun goes on:
// the session is the same, and they learn that what they follow may have changed.
func TestHubKilledUnderOfficialClients(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"v1 http 2025-06-18", "v1 stdio 2025-06-18", "v2 http 2025-11-25", "v2 http 2026-07-28", "v2 stdio 2026-07-28"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve()
			cmd := node(t, append([]string{"away.mjs"}, strings.Fields(args)...)...)
			bridge, err := json.Marshal(p.command("stdio", "--listen", p.listen).Args)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(p.command().Env, "TABHUB_URL="+p.url(), "TABHUB_TOKEN="+p.token(), "TABHUB_COMMAND="+string(bridge), "PATH="+os.Getenv("PATH"))
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out := rig.NewOutput()
			cmd.Stdout = out
			client := rig.Start(t, cmd)
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				client.AwaitEnd()
			})
			out.Await(t, "ready\n")
			p.kill()
			if strings.Contains(args, "http") { // a bridge starts one by itself
				p.serveAgain()
			}
			if _, err := io.WriteString(stdin, "back\n"); err != nil {
				t.Error(err)
			}
			out.Await(t, "done\n")
		})
	}
}

// A session is worth something to the credential that has begun it, and to nobody else: also
// after a restart, when the hub knows of it from its store alone.
func TestKeptSessionIsOneCredentials(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	mint := func(name string) string {
		t.Helper()
		out, diag, exit := p.run("token", "mint", "--name", name)
		if exit != 0 {
			t.Fatal(diag)
		}
		return strings.TrimSpace(out)
	}
	mine, other, revoked := mint("mine"), mint("other"), mint("revoked")
	begin := func(token string) string {
		t.Helper()
		resp, body, err := post(t.Context(), p.url()+"/mcp", bearer(token), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+initializeParams+`}`)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v %s", err, body)
		}
		return resp.Header.Get("Mcp-Session-Id")
	}
	ping := func(token, session string) int {
		t.Helper()
		header := bearer(token)
		header.Set("Mcp-Session-Id", session)
		resp, body, err := post(t.Context(), p.url()+"/mcp", header, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK && !strings.Contains(string(body), `{"jsonrpc":"2.0","id":2,"result":{}}`) {
			t.Errorf("ping: %s", body)
		}
		return resp.StatusCode
	}
	session, gone := begin(mine), begin(revoked)
	p.kill()
	p.serveAgain()
	if _, diag, exit := p.run("token", "revoke", "revoked"); exit != 0 {
		t.Fatal(diag)
	}
	again := mint("revoked")
	for _, tt := range []struct {
		what, token, session string
		want                 int
	}{
		{"another client's session", other, session, 404},
		{"the hub's own token with a client's session", p.token(), session, 404},
		{"a session of nobody", mine, "QWERTYUIOPASDFGHJKLZXCVBNM", 404},
		{"a session that is no name", mine, strings.Repeat("x", 4000), 404},
		{"a revoked credential", revoked, gone, 401},
		{"a new credential by the same name", again, gone, 404},
		{"its own", mine, session, 200},
	} {
		if got := ping(tt.token, tt.session); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, got, tt.want)
		}
	}
	p.kill()
	p.serveAgain()
	if got := ping(mine, session); got != 200 {
		t.Errorf("after another restart: %d", got)
	}
}
