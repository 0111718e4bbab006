package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// secretsOf are what must be in no log and no command line, by what they are.
type secretsOf map[string]string

// notIn checks that a text holds none of the secrets.
func (s secretsOf) notIn(t testing.TB, where, text string) {
	t.Helper()
	for what, secret := range s {
		if secret == "" {
			t.Errorf("the test does not know %s", what)
		} else if strings.Contains(text, secret) {
			t.Errorf("%s: there is %s", where, what)
		}
	}
}

// commandLines are those of all processes, which every user of the machine can read.
func commandLines(t testing.TB) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		line, _ := os.ReadFile(file) // of a process that has ended meanwhile: nothing
		all.Write(line)
		all.WriteByte('\n')
	}
	return all.String()
}

// say opens a WebSocket, says one thing, and waits for the first answer or the end.
func (p *place) say(path, frame string) {
	p.t.Helper()
	peer, resp, err := wstest.Connect(p.within(), "ws://"+p.listen+path, nil)
	if resp == nil {
		p.t.Fatal(err)
	}
	if err != nil { // it is refused before
		return
	}
	defer peer.Close()
	peer.Send([]byte(frame))
	peer.Receive()
}

var signInCode = regexp.MustCompile(`/#code=([\w-]+)`)

// Logs are read, copied and sent to others, and command lines are there for every user of
// the machine: nothing that lets anybody in may be in one.
func TestSecretsStayOutOfLogs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	terminal, tty := ptytest.Open(t, 80)
	cmd := p.command("serve", "--listen", p.listen, "--log-level", "debug")
	cmd.Stdout = tty
	hub := rig.Start(t, cmd)
	t.Cleanup(hub.Stop)
	shown := rig.NewOutput()
	go func() {
		for b := make([]byte, 4096); ; {
			n, err := terminal.Read(b)
			if err != nil {
				return
			}
			shown.Write(b[:n])
		}
	}()
	shown.Await(t, "sets up the extension")
	secrets := secretsOf{}
	m := signInCode.FindStringSubmatch(shown.String())
	switch onNodes := p.nodes != nil; {
	case (m != nil) == onNodes: // on a node a code would be of no use
		t.Fatalf("the person at the terminal sees %s", shown)
	case m != nil:
		secrets["the code that a person at the terminal is shown"] = m[1]
	}
	secrets["the token"] = p.token()
	if p.nodes == nil {
		ring, err := os.ReadFile(p.dir.Pairings())
		if err != nil {
			t.Fatal(err)
		}
		secrets["the key of all copies"], _ = rawjson.String(rawjson.Get(ring, "key"))
	}
	_, copied := p.writeExtension()
	secrets["the key of a copy"] = copied.Key
	p.companion(copied, "copy", bank+"/", transferTool)

	command := p.startPairing()
	id, key := command.invited()
	secrets["the secret of an invitation"] = key.String()
	secrets.notIn(t, "command lines while a browser is paired", commandLines(t))
	x, err := p.pair(id, key, "offered")
	if err != nil {
		t.Fatal(err)
	}
	command.awaitPaired("Browser offered")
	secrets["the key of a paired browser"] = x.next.String()

	stdout, _, _ := p.run("dashboard", "--print")
	code := signInCode.FindStringSubmatch(stdout)
	if code == nil {
		t.Fatalf("dashboard --print prints %s", stdout)
	}
	secrets["the code of an address"] = code[1]
	secrets["a wrong code"] = strings.Repeat("wrong-code", 2)
	page := http.Header{"Origin": {"http://" + p.listen}}
	for _, c := range []string{secrets["a wrong code"], code[1]} {
		resp, body, err := post(p.within(), p.url()+"/api/session", page, fmt.Sprintf(`{"code":%q}`, c))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK {
			secrets["the session of a page"], _ = rawjson.String(rawjson.Get(body, "session"))
		}
	}

	// What is refused is logged, and what was shown may be the wrong hub's.
	secrets["another's token"] = "of-another-hub-of-another-hub-of-another-hub"
	for _, d := range []door{{"GET", "/api/tabs", ""}, {"POST", "/mcp", toolsListBody}, {"GET", "/sse?token=" + secrets["another's token"], ""}, {"WS", "/tabs", ""}, {"GET", "/api/tabs?token=" + p.token(), ""}} {
		p.knock(d, bearer(secrets["another's token"]))
	}
	for _, frame := range []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","token":%q}}`, secrets["another's token"]),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","token":%q}}`, p.token()),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","token":7,"proof":%q}}`, p.token()),
	} {
		p.say("/tabs", frame)
	}
	for _, path := range []string{"/extension", "/relay", "/mcp"} {
		frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":%q}}`, secrets["another's token"])
		p.say(path, frame)
	}
	for _, args := range [][]string{{"status"}, {"doctor"}, {"browser", "forget"}, {"browser", "forget", "all"}, {"token", "rotate"}} {
		if stdout, stderr, exit := p.run(args...); exit != 0 && args[0] != "doctor" {
			t.Errorf("%s: %s", args, stderr)
		} else {
			secrets.notIn(t, "tabhub "+args[0], stdout+stderr)
		}
	}
	secrets["the new token"] = p.token()
	secrets.notIn(t, "command lines", commandLines(t))
	log := hub.Stderr.String() + p.othersLog()
	secrets.notIn(t, "the log", log)
	if !strings.Contains(log, "the token is not this hub's") {
		t.Errorf("the log does not tell what was refused, so it shows nothing: %s", log)
	}
}
