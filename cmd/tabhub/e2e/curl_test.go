package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
)

// curlSession is the example session of Moonsurf's MCP over SSE, as its document has
// it. The first command runs in the background there, too.
var curlSession = []string{
	`curl -N "http://localhost:3300/sse"`,
	`curl -X POST "http://localhost:3300/message?sessionId=abc-123" \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'`,
	`curl -X POST "http://localhost:3300/message?sessionId=abc-123" \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'`,
	`curl -X POST "http://localhost:3300/message?sessionId=abc-123" \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"browser_instance","arguments":{"action":"new","mode":"chromium"}}}'`,
}

// A script that somebody wrote for Moonsurf drives tabhub, with nothing changed but
// the port and the token. The token is in no log afterwards.
func TestCurlSession(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	p := newPlace(t, "DISPLAY=", "WAYLAND_DISPLAY=") // a browser without a window
	flags := []string{"--log-level", "debug"}
	if browser, ok := chromium.Path(); ok {
		flags = append(flags, "--set", "browser-program="+browser)
	}
	hub := p.serve(flags...)
	token := p.token()
	_, port, err := net.SplitHostPort(p.listen)
	if err != nil {
		t.Fatal(err)
	}
	curl := func(command string) *exec.Cmd {
		command = strings.NewReplacer("localhost:3300", "localhost:"+port,
			`/sse"`, `/sse?token=`+url.QueryEscape(token)+`"`,
			`-H "Content`, `-H "Authorization: Bearer `+token+`" -H "Content`).Replace(command)
		cmd := exec.Command("sh", "-c", "exec "+command)
		cmd.Env = append(p.env, "no_proxy=*")
		return cmd
	}

	stream := curl(curlSession[0])
	stdout, err := stream.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Start(); err != nil {
		t.Fatal(err)
	}
	got := make(chan rig.Event, 100)
	go func() {
		defer close(got)
		for e := range rig.Events(bufio.NewReader(stdout)) {
			if e.Data != nil {
				got <- e
			}
		}
	}()
	t.Cleanup(func() {
		stream.Process.Kill()
		for range got {
		}
		_ = stream.Wait()
	})
	next := func(want func(rig.Event) bool) []byte {
		t.Helper()
		late := time.After(timeout)
		for {
			select {
			case e, ok := <-got:
				if !ok {
					t.Fatal("curl has ended")
				}
				if want(e) {
					return e.Data
				}
			case <-late:
				t.Fatal("the hub says nothing more on the event stream")
			}
		}
	}

	endpoint := string(next(func(e rig.Event) bool { return e.Name == "endpoint" }))
	session, ok := strings.CutPrefix(endpoint, "http://localhost:"+port+"/message?sessionId=")
	if !ok {
		t.Fatalf("the endpoint is %s", endpoint)
	}
	ask := func(command string) answer {
		t.Helper()
		command = strings.ReplaceAll(command, "abc-123", session)
		if stdout, stderr, exit := runCommand(t, curl(command)); exit != 0 || stdout != "" {
			t.Fatalf("%s: exit code %d\n%s%s", command, exit, stdout, stderr)
		}
		return answerOf(next(func(e rig.Event) bool { return e.Name == "message" && rawjson.Get(e.Data, "id") != nil }))
	}

	a := ask(curlSession[1])
	var begun struct {
		ProtocolVersion string
		ServerInfo      struct{ Name, Version string }
		Capabilities    struct{ Tools *struct{} }
	}
	if json.Unmarshal(a.result, &begun) != nil || begun.ProtocolVersion != "2024-11-05" || begun.ServerInfo.Name == "" || begun.Capabilities.Tools == nil {
		t.Errorf("initialize: %s %s", a.err, a.result)
	}

	a = ask(curlSession[2])
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Type       string
				Properties struct{ Action struct{ Enum []string } }
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(a.result, &list); err != nil {
		t.Fatalf("tools/list: %s %s", a.err, a.result)
	}
	found := false
	for _, tool := range list.Tools {
		s := tool.InputSchema
		found = found || tool.Name == "browser_instance" && s.Type == "object" && slices.Contains(s.Required, "action") &&
			slices.Equal(s.Properties.Action.Enum, []string{"list", "new", "close", "profiles"})
	}
	if !found {
		t.Errorf("browser_instance is not listed as the document has it: %s", a.result)
	}

	t.Run("a browser", func(t *testing.T) {
		chromium.Require(t)
		a := ask(curlSession[3])
		var called struct{ Content content }
		var started struct{ InstanceID, BrowserType string }
		if a.outcome() != "ok" || json.Unmarshal(a.result, &called) != nil || len(called.Content) != 1 || called.Content[0].Type != "text" ||
			json.Unmarshal([]byte(called.Content[0].Text), &started) != nil || started.InstanceID == "" || started.BrowserType != "Chromium" {
			t.Errorf("%s %s", a.err, a.result)
		}
	})

	hub.Stop()
	log, err := os.ReadFile(p.dir.LogFile())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if all := hub.Stderr.String() + string(log); !strings.Contains(all, "why=stop") || strings.Contains(all, token) {
		t.Errorf("the log is empty or has the token: %s", rig.LastOf(all))
	}
}
