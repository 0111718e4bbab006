package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/trust/auth"
)

// A minted token is let in by a hub with the same secret; what is wrong on the
// command line is said, with exit code 2.
func TestTokenMint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	secret := strings.Repeat("s", 32)
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mint := func(args ...string) (code int, out, errOut string) {
		var o, e bytes.Buffer
		env := map[string]string{"TABHUB_DATA_DIR": t.TempDir(), "TABHUB_JWT_ISSUER": "https://hub.example.com", "TABHUB_JWT_AUDIENCE": "a,b"}
		code = run(t.Context(), append([]string{"token", "mint"}, args...), nil, &o, &e, func(key string) string { return env[key] })
		return code, strings.TrimSpace(o.String()), e.String()
	}
	code, token, errOut := mint("--user", "ann", "--jwt-secret", path, "--connection-url", "wss://hub.example.com/mcp", "--expires", "1h")
	if code != command.ExitOK {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	hub, err := auth.NewJWT(auth.Options{
		Secret: []byte(secret), Endpoints: []string{"https://hub.example.com"},
		Issuer: "https://hub.example.com", Audiences: []string{"b", "c"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := hub.Verify(token); err != nil || id.User != "ann" {
		t.Errorf("%+v, %v", id, err)
	}
	for _, args := range [][]string{
		{"--jwt-secret", path},
		{"--user", "ann"},
		{"--user", "a b", "--jwt-secret", path},
		{"--user", "ann", "--jwt-secret", path + ".none"},
		{"--user", "ann", "--jwt-secret", path, "--connection-url", "hub.example.com"},
		{"--user", "ann", "--jwt-secret", path, "--expires", "-1h"},
	} {
		if code, out, errOut := mint(args...); code != command.ExitUsage || out != "" || !strings.HasPrefix(errOut, "tabhub: ") {
			t.Errorf("%q: exit %d, %q, %q", args, code, out, errOut)
		}
	}
}
