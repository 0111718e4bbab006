package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/spec/rawjson"
)

// A hub that was killed while it wrote, or long ago, leaves files behind. They must
// not keep a client from starting.
func TestWhatADeadHubLeaves(t *testing.T) {
	t.Parallel()
	foreign := httptest.NewServer(http.NotFoundHandler())
	defer foreign.Close()
	self, err := json.Marshal(home.Hub{PID: os.Getpid(), Addr: foreign.Listener.Addr().String(), Version: "v9.9.9"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"half written":                     `{"pid": 12, "ad`,
		"empty":                            ``,
		"of another kind":                  `[]`,
		"its address is another program's": string(self),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if err := p.dir.Make(); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{p.dir.HubFile(): text, string(p.dir) + "/hub.lock": "", string(p.dir) + "/start.lock": "", string(p.dir) + "/.hub.json-123": "{"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.stdio().tools()
			if h := p.hub(); h.Addr != p.listen {
				t.Errorf("hub.json says %+v, want the hub at %s", h, p.listen)
			}
		})
	}
}

// A port that another program holds costs a client nothing; whoever asks for that
// very port is told who has it and what to do.
func TestForeignProgramOnThePort(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ln, err := net.Listen("tcp", p.listen)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()

	_, stderr, exit := p.run("serve", "--listen", p.listen)
	if exit != 2 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("serve ended with %d and said %q, want 2 and one sentence", exit, stderr)
	}
	for _, want := range []string{p.listen, fmt.Sprint(os.Getpid()), "--listen"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("serve says %q, want %q in it", stderr, want)
		}
	}

	c := p.stdio()
	c.tools()
	if h := p.hub(); h.Addr == p.listen || h.Addr == "" {
		t.Errorf("the hub says that it is at %q, where another program is", h.Addr)
	}
	log, err := os.ReadFile(p.dir.LogFile())
	if err != nil || !strings.Contains(string(log), p.listen) {
		t.Errorf("the log does not tell of the port: %s %v", log, err)
	}
}

// A second hub for one data directory would tear the store apart.
func TestSecondHub(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hub := p.serve()
	_, stderr, exit := p.run("serve", "--listen", "127.0.0.1:0")
	if exit != 2 || !strings.Contains(stderr, fmt.Sprint(hub.Cmd.Process.Pid)) || !strings.Contains(stderr, "tabhub stop") {
		t.Errorf("a second hub ended with %d and said %q, want 2 and who runs and what to do", exit, stderr)
	}
	c := p.stdioRaw("--standalone")
	c.process.AwaitEnd()
	if exit := c.process.Cmd.ProcessState.ExitCode(); exit != 2 {
		t.Errorf("stdio --standalone beside a hub ended with %d: %s", exit, c.process.Stderr)
	}
}

// A store that is no store is refused and left as it is: it may be all that is left
// of somebody's data.
func TestForeignStore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := p.dir.Make(); err != nil {
		t.Fatal(err)
	}
	const text = "this is no store, but it is somebody's\n"
	if err := os.WriteFile(p.dir.Store(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, exit := p.run("serve", "--listen", "127.0.0.1:0")
	if exit != 2 || !strings.Contains(stderr, p.dir.Store()) {
		t.Errorf("serve ended with %d and said %q, want 2 and the file's name", exit, stderr)
	}
	c := p.stdioRaw()
	if message, _ := rawjson.String(rawjson.Get(c.ask("initialize", initializeParams).err, "message")); !strings.Contains(message, p.dir.Store()) {
		t.Errorf("the client is told %q, want the file's name", message)
	}
	if got, err := os.ReadFile(p.dir.Store()); err != nil || string(got) != text {
		t.Errorf("the file holds %q now: %v", got, err)
	}
}

// An operator's typo is answered with one sentence, not with a hub that does
// something else.
func TestWrongFlags(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("s", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"serve", "--listen", "127.0.0.1:0", "--auth", "jwt", "--jwt-secret", secret, "--tools", "browser_instance"}, "one's own machine"},
		{[]string{"serve", "--listen", "3300"}, "--listen"},
		{[]string{"serve", "--listen", "0.0.0.0:0"}, "--tls-cert"},
		{[]string{"serve", "--no-such-flag"}, "--no-such-flag"},
		{[]string{"serve", "--auth", "jwt"}, "--jwt-secret"},
		{[]string{"serve", "--jwt-secret", "/nowhere", "--auth", "jwt", "--listen", "127.0.0.1:0"}, "/nowhere"},
		{[]string{"serve", "--allow-origin", "example.com", "--listen", "127.0.0.1:0"}, "--allow-origin"},
		{[]string{"serve", "extra"}, "serve"},
		{[]string{"sevre"}, "serve"},
		{[]string{"stdio", "--call-timeout", "soon"}, "--call-timeout"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			stdout, stderr, exit := newPlace(t).run(c.args...)
			if exit != 2 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.says) || stdout != "" {
				t.Errorf("it ended with %d, stdout %q, stderr %q; want 2 and one sentence with %q", exit, stdout, stderr, c.says)
			}
		})
	}
}
