//go:build nightly

package pages_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/shapes"
)

// A page that joins works in Firefox, which has an older WebMCP or none, as it does in Chromium. The
// frame in it does not join.
func TestFirefox(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		native bool
		shape  shapes.Shape
	}{
		{"navigator.modelContext of the browser", true, shapes.Shape{Firefox: true}},
		{"document.modelContext of the script", false, shapes.Shape{OutputSchema: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			tab := s.tab()
			tab.Page = openFirefox(t, c.native, s.host(joining+shapes.Page, ""))
			tab.Lacks = []string{"framed"}
			tab.Check(t, c.shape)
		})
	}
}

// firefox is a page in a Firefox, driven over WebDriver BiDi.
type firefox struct {
	t       *testing.T
	conn    *websocket.Conn
	context string
	id      int
}

// openFirefox starts a Firefox, with WebMCP of its own if native, and opens url in it.
func openFirefox(t *testing.T, native bool, url string) *firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		const reason = "no firefox-esr on PATH"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	profile := t.TempDir()
	// Without the second pref pages can register tools, and nothing can list them.
	prefs := fmt.Sprintf(`user_pref("dom.modelcontext.enabled", %[1]t); user_pref("dom.modelcontext.testing.enabled", %[1]t);`, native)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &firefox{t: t}
	late := time.AfterFunc(2*chromium.Timeout, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		if f.conn == nil || f.send("browser.close", struct{}{}) != nil {
			_ = cmd.Process.Kill()
		}
		late.Reset(chromium.Timeout)
		_ = cmd.Wait()
		late.Stop()
	})
	address := ""
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`ws://\S+`).FindString(lines.Text())
	}
	late.Stop()
	go io.Copy(io.Discard, said)
	if f.conn, _, err = websocket.DefaultDialer.Dial(address+"/session", nil); err != nil {
		t.Fatalf("connecting to Firefox at %q: %v", address, err)
	}
	f.ask("session.new", map[string]any{"capabilities": struct{}{}}, nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.ask("browsingContext.getTree", struct{}{}, &tree)
	f.context = tree.Contexts[0].Context
	f.ask("browsingContext.navigate", map[string]any{"context": f.context, "url": url, "wait": "complete"}, nil)
	return f
}

func (f *firefox) send(method string, params any) error {
	f.id++
	return f.conn.WriteJSON(map[string]any{"id": f.id, "method": method, "params": params})
}

// ask sends a command, and decodes its result into result unless that is nil.
func (f *firefox) ask(method string, params, result any) {
	f.t.Helper()
	if err := f.send(method, params); err != nil {
		f.t.Fatalf("%s: %v", method, err)
	}
	_ = f.conn.SetReadDeadline(time.Now().Add(chromium.Timeout))
	var got struct {
		ID      int
		Type    string
		Message string
		Result  json.RawMessage
	}
	for got.ID != f.id { // what comes between are events
		if err := f.conn.ReadJSON(&got); err != nil {
			f.t.Fatalf("%s: %v", method, err)
		}
	}
	if got.Type == "error" {
		f.t.Fatalf("%s: %s", method, got.Message)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(got.Result, result); err != nil {
		f.t.Fatalf("%s: %v in %s", method, err, got.Result)
	}
}

// Eval implements shapes.Tab's Page.
func (f *firefox) Eval(expr string) string {
	f.t.Helper()
	var got struct {
		Type   string
		Result struct{ Value string }
	}
	f.ask("script.evaluate", map[string]any{
		"expression":   "(async () => JSON.stringify(await (" + expr + ")) ?? '')()",
		"awaitPromise": true, "target": map[string]any{"context": f.context},
	}, &got)
	if got.Type != "success" {
		f.t.Fatalf("evaluating %s: %+v", expr, got)
	}
	return got.Result.Value
}

// WaitFor implements shapes.Tab's Page.
func (f *firefox) WaitFor(expr string) {
	f.t.Helper()
	f.Eval("(async () => { while (!(" + expr + ")) await new Promise((done) => setTimeout(done, 20)) })()")
}
