package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
)

// connection is what comes of asking over a socket of a path.
type connection struct {
	Err    string
	Answer string
}

// playConnector asks whatever listens on a path for the tabs.
func playConnector(in *json.Decoder, out *json.Encoder) error {
	var path string
	if err := in.Decode(&path); err != nil {
		return err
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return out.Encode(connection{Err: err.Error()})
	}
	defer conn.Close()
	io.WriteString(conn, "GET /api/tabs HTTP/1.1\r\nHost: hub.sock\r\nConnection: close\r\n\r\n")
	answer, _ := io.ReadAll(conn)
	return out.Encode(connection{Answer: string(answer)})
}

// placeOfOthers is a place whose directory other users can get to, as far as its own mode
// lets them. (They cannot get to what t.TempDir makes.)
func placeOfOthers(t *testing.T) *place {
	t.Helper()
	base, err := os.MkdirTemp("", "tabhub-others-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	p := newPlace(t)
	p.dir = home.Dir(filepath.Join(base, "data"))
	return p
}

// hub.sock asks for no token, so it is the user's alone, also where a careless chmod lets
// others connect to it.
func TestOtherUserAtTheSocket(t *testing.T) {
	t.Parallel()
	p := placeOfOthers(t)
	hub := p.serve()
	ask := func() connection { return play[connection](t, asOther(t, "connect"), p.dir.Socket()) }
	if got := ask(); !strings.Contains(got.Err, "permission denied") {
		t.Errorf("another user connects to hub.sock: %+v", got)
	}
	for path, mode := range map[string]os.FileMode{string(p.dir): 0o711, p.dir.Socket(): 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(); got.Err != "" || got.Answer != "" {
		t.Errorf("another user is answered: %+v", got)
	}
	hub.Stderr.Await(t, "it belongs to user 65534")
	if got := play[connection](t, partOf(t, "connect"), p.dir.Socket()); !strings.HasPrefix(got.Answer, "HTTP/1.1 200") {
		t.Errorf("the hub's own user gets %+v", got)
	}
	// What lies beside it is not theirs either.
	files, err := os.ReadDir(string(p.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if fi, err := f.Info(); err != nil || fi.Mode().Perm()&0o077 != 0 && f.Name() != "hub.sock" {
			t.Errorf("others may use %s: %v %v", f.Name(), fi.Mode(), err)
		}
	}
}

// A directory in which another user can put files, or that is another user's, would have
// them say who the hub is and what its token is.
func TestDataDirOfAnotherUser(t *testing.T) {
	needsOther(t)
	t.Parallel()
	const foreignToken = "known-to-another-user-known-to-another-user"
	putToken := func(dir string) error {
		file := filepath.Join(dir, "token")
		return errors.Join(os.WriteFile(file, []byte(foreignToken), 0o600), os.Chmod(file, 0o644), os.Chown(file, otherUser-1, otherUser-1))
	}
	for name, set := range map[string]func(dir string) error{
		"owned": func(dir string) error {
			return errors.Join(putToken(dir), os.Chown(dir, otherUser-1, otherUser-1))
		},
		"open to all": func(dir string) error { return os.Chmod(dir, 0o777) },
		"open to a group": func(dir string) error {
			return errors.Join(os.Chown(dir, otherUser, otherUser-1), os.Chmod(dir, 0o770))
		},
		"another's token in it": func(dir string) error {
			return errors.Join(putToken(dir), os.Chown(dir, otherUser, otherUser))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := placeOfOthers(t)
			if err := os.Mkdir(string(p.dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := set(string(p.dir)); err != nil {
				t.Fatal(err)
			}
			// Root may be given anybody's directory; another user may not.
			p.prepare = func(cmd *exec.Cmd) {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
			}
			commands := [][]string{{"serve", "--listen", p.listen}, {"extension", filepath.Join(filepath.Dir(string(p.dir)), "copy")}}
			if _, err := os.Stat(p.dir.TokenFile()); err == nil {
				commands = append(commands, []string{"token"})
			}
			for _, args := range commands {
				stdout, stderr, exit := p.run(args...)
				if exit == 0 || !strings.Contains(stderr, string(p.dir)) || strings.Contains(stdout, foreignToken) {
					t.Errorf("%s ended with %d: %s%s", args[0], exit, stdout, stderr)
				}
			}
			c := p.stdioRaw()
			if a := c.ask("initialize", initializeParams); !strings.Contains(string(a.err), string(p.dir)) {
				t.Errorf("a client is told %s%s", a.result, a.err)
			}
		})
	}
}
