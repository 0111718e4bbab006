//go:build unix

package home

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSocketIsTheUsersAlone(t *testing.T) {
	d := Dir(t.TempDir())
	listen(t, d)
	if fi, err := os.Lstat(d.Socket()); err != nil || fi.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// nobody is a user other than the one who runs the tests.
const nobody = 65534

// asNobody prepares to run a part of this test program, which is named by the
// environment, as another user; it may use what is in dir.
func asNobody(t *testing.T, part, dir string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		const reason = "needs root, to run a program as another user"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(dir, "test")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestAsNobody$")
	cmd.Dir = dir
	cmd.Env = []string{"TEST_AS_NOBODY=" + part, "TEST_SOCKET=" + Dir(dir).Socket()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// openDir is a directory that others may write to.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tabhub-home-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAsNobody is what the other user does.
func TestAsNobody(t *testing.T) {
	path := os.Getenv("TEST_SOCKET")
	switch os.Getenv("TEST_AS_NOBODY") {
	case "connect":
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "GET /api/tabs HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, _ := io.ReadAll(conn)
		os.Stdout.Write(append([]byte("answer:"), answer...))
	case "listen":
		ln, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o777)
		io.WriteString(os.Stdout, "listening\n")
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(conn)
		os.Stdout.Write(append([]byte("got:"), got...))
	default:
		t.Skip("runs as a part of other tests")
	}
}

// Where the modes of the directory and the socket let another user connect, the hub
// does not.
func TestAnotherUserConnects(t *testing.T) {
	dir := openDir(t)
	cmd := asNobody(t, "connect", dir)
	var log bytes.Buffer
	ln, err := Dir(dir).Listen(slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(Dir(dir).Socket(), 0o777); err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				close(accepted)
				return
			}
			conn.Close()
			accepted <- conn
		}
	}()
	out, err := cmd.CombinedOutput()
	ln.Close()
	for range accepted {
		t.Error("another user's connection was accepted")
	}
	if err != nil || !strings.Contains(string(out), "answer:PASS") {
		t.Errorf("the other user was answered: %v %s", err, out)
	}
	if !strings.Contains(log.String(), "it belongs to user 65534") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log says %q", log.String())
	}
}

// A directory that others can write to is refused before that (checkPrivate). Should one
// become so, what another user has put there still gets nothing.
func TestAnotherUserListens(t *testing.T) {
	dir := openDir(t)
	cmd := asNobody(t, "listen", dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("listening\n"))
	if _, err := io.ReadFull(out, line); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	if conn, err := Dir(dir).Dial(t.Context()); err == nil {
		io.WriteString(conn, "secret")
		conn.Close()
		t.Error("connected to another user's program")
	} else if !strings.Contains(err.Error(), "is not your hub: it belongs to user 65534") {
		t.Error(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil || !strings.HasPrefix(string(rest), "got:PASS") {
		t.Errorf("the other user's program has read %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
