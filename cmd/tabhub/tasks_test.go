package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/porttest"
)

// script is a Node client that runs until the test ends.
type script struct {
	*exec.Cmd
	t     *testing.T
	stdin io.Writer
	lines *bufio.Reader
}

func startScript(t *testing.T, url string, hub *serving, args ...string) *script {
	t.Helper()
	one := nodeScript(t, args[0], args[1:]...)
	cmd := exec.CommandContext(t.Context(), one.Path, one.Args[1:]...)
	cmd.Dir = one.Dir
	cmd.Env, cmd.Stderr = append(hub.env(), "TABHUB_URL="+url), os.Stderr
	stdin, _ := cmd.StdinPipe()
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	return &script{cmd, t, stdin, bufio.NewReader(stdout)}
}

func (s *script) line() string {
	s.t.Helper()
	line, err := s.lines.ReadString('\n')
	if err != nil {
		s.t.Fatalf("%v ended: %v", s.Args[1:], err)
	}
	return strings.TrimSpace(line)
}

func (s *script) want(line string) {
	s.t.Helper()
	if got := s.line(); got != line {
		s.t.Fatalf("%v says %q, want %q", s.Args[1:], got, line)
	}
}

// cuttable forwards connections to an address until they are cut.
type cuttable struct {
	url  string
	mu   sync.Mutex
	open []net.Conn
}

func passOnTo(t *testing.T, to string) *cuttable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cuttable{url: "http://" + l.Addr().String()}
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		c.cut()
		running.Wait()
	})
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			c.open = append(c.open, in, out)
			c.mu.Unlock()
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				running.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					pair[0].Close()
				})
			}
		}
	})
	return c
}

func (c *cuttable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		conn.Close()
	}
	c.open = nil
}

// A client of the official SDK gets the answer of a slow call though its connection is cut, its
// process ends and another one goes on, and the hub is killed under it; the page works once.
func TestTaskIsNotLost(t *testing.T) {
	nodeScript(t, "tasks.mjs")
	works, _ := time.ParseDuration(os.Getenv("TABHUB_TASK_WORKS")) // by hand, for longer
	addr, dir := porttest.Free(t), filepath.Join(t.TempDir(), "data")
	hub := serveIn(t, dir, "--listen", addr, "--set", "task-after=200ms", "--set", "allow-host=127.0.0.1")
	page := startScript(t, hub.url, hub, "tasks.mjs", "page")
	page.want("ready")
	way := passOnTo(t, addr)

	first := startScript(t, way.url, hub, "tasks.mjs", "call")
	reference := first.line()
	page.want("begun 1")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	second := startScript(t, way.url, hub, "tasks.mjs", "resume", reference)
	second.want("listening")
	way.cut()
	second.want("cut")
	second.want("listening")

	if err := hub.process.Kill(); err != nil {
		t.Fatal(err)
	}
	serveIn(t, dir, "--listen", addr, "--set", "task-after=200ms", "--set", "allow-host=127.0.0.1")
	page.want("ready")
	<-time.After(works)
	if _, err := io.WriteString(page.stdin, "finish\n"); err != nil {
		t.Fatal(err)
	}
	page.want("ended 1")
	answer := second.line()
	for answer == "cut" || answer == "listening" {
		answer = second.line()
	}
	if want := `{"outcome":[{"type":"text","text":"run 1"}],"status":"completed","told":"completed"}`; answer != want {
		t.Errorf("the client got %s, want %s", answer, want)
	}
}
