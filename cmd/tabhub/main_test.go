package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/trust/consent"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tabhub": main})
}

// TestScript runs the program as a user does. Each script has a data directory of its
// own, $WORK/data.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for _, v := range os.Environ() {
				if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TABHUB_") {
					e.Setenv(name, "")
				}
			}
			e.Setenv("TABHUB_DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("TABHUB_LISTEN", "127.0.0.1:0")
			e.Setenv("HOME", e.WorkDir)
			// The race detector has each process rest for a second before it ends.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"hub":    startHubCmd,
			"taken":  takenCmd,
			"status": statusCmd,
			"setenv": setenvCmd,
			"usage":  usageCmd,
			"exits":  exitsCmd,

			"question": questionCmd,
		},
	})
}

// startHubCmd runs `tabhub serve ARG…` and returns when it listens; $HUB is then its
// address. At the end of the script the hub is stopped as by Ctrl-C.
func startHubCmd(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command("tabhub", append([]string{"serve"}, args...)...) // testscript.Main has put it on the PATH
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), "TABHUB_DATA_DIR="+ts.Getenv("TABHUB_DATA_DIR"), "TABHUB_LISTEN="+ts.Getenv("TABHUB_LISTEN"), "GORACE="+ts.Getenv("GORACE"))
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait()
	})
	var log bytes.Buffer
	s := bufio.NewScanner(stderr)
	for s.Scan() {
		log.WriteString(s.Text() + "\n")
		if addr, ok := strings.CutPrefix(s.Text(), "listening on http://"); ok {
			ts.Setenv("HUB", addr)
			go func() {
				for s.Scan() {
				}
			}()
			return
		}
	}
	ts.Fatalf("the hub does not listen: %s", log.String())
}

// takenCmd listens on a port as some web server, and sets $TAKEN to its address.
func takenCmd(ts *testscript.TestScript, neg bool, args []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Listener.Close()
	s.Listener = ln
	s.Start()
	ts.Defer(s.Close)
	ts.Setenv("TAKEN", ln.Addr().String())
}

// statusCmd gets a path of the hub without a credential and checks the HTTP status:
// status 401 /api/tabs.
func statusCmd(ts *testscript.TestScript, neg bool, args []string) {
	resp, err := http.Get("http://" + ts.Getenv("HUB") + args[1])
	ts.Check(err)
	resp.Body.Close()
	if got := strings.Fields(resp.Status)[0]; got != args[0] {
		ts.Fatalf("%s: %s, want %s", args[1], got, args[0])
	}
}

// setenvCmd sets a variable to what a file holds: setenv NAME FILE.
func setenvCmd(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// questionCmd sets $ID to the ID of the one question that can be answered.
func questionCmd(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("tabhub", "approve", "--json"))
	var all []consent.Question
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &all))
	if len(all) != 1 {
		ts.Fatalf("%d questions can be answered", len(all))
	}
	ts.Setenv("ID", all[0].ID)
}

// usageCmd runs a command that must end with exitUsage: usage tabhub ARG…
func usageCmd(ts *testscript.TestScript, neg bool, args []string) {
	exitsCmd(ts, neg, append([]string{strconv.Itoa(command.ExitUsage)}, args...))
}

// exitsCmd runs a command that must end with an exit code: exits 5 tabhub preflight TOOL.
func exitsCmd(ts *testscript.TestScript, neg bool, args []string) {
	code, err := 0, ts.Exec(args[1], args[2:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%v: exit code %d, want %s", args[1:], code, args[0])
	}
}

// serveTest runs a hub with the demo until the test ends, and returns it with its port.
func serveTest(t *testing.T, flags ...string) (*daemon.Process, string) {
	t.Helper()
	a := &command.App{Env: noEnv, DataDir: filepath.Join(t.TempDir(), "data")}
	f := pflag.NewFlagSet("serve", pflag.PanicOnError)
	c := settings.New()
	c.AddFlags(f)
	if err := errors.Join(f.Parse(append([]string{"--listen", "127.0.0.1:0", "--demo"}, flags...)), c.Load(a, f)); err != nil {
		t.Fatal(err)
	}
	p, err := daemon.Start(t.Context(), daemon.Options{App: a, Config: c, Dir: home.Dir(a.DataDir), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close("stop"); err != nil {
			t.Error(err)
		}
	})
	_, port, err := net.SplitHostPort(p.Info.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	return p, port
}
