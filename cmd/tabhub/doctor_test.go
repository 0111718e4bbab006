package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub"
	"tabhub/hub/httpd"
	"tabhub/spec"
)

// A capability that the doctor does not know would let an old extension pass for the
// current one, and one that the extension does not have would call all of them old.
func TestDoctorKnowsTheExtension(t *testing.T) {
	b, err := os.ReadFile("../../tabtransport/extension/worker/control.js")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)CAPABILITIES = \[(.*?)\]`).FindSubmatch(b)
	if list == nil {
		t.Fatal("the extension lists no capabilities")
	}
	var has []spec.Capability
	for _, word := range regexp.MustCompile(`"(\w+)"`).FindAllSubmatch(list[1], -1) {
		has = append(has, spec.Capability(word[1]))
	}
	if lacks := missing(has); len(lacks) > 0 || len(has) != len(extensionCan) {
		t.Errorf("the extension can %v, the doctor expects %v", has, extensionCan)
	}
}

func TestDoctorOnExtensions(t *testing.T) {
	old := slices.DeleteFunc(slices.Clone(extensionCan), func(c spec.Capability) bool { return c == spec.CapElicit })
	for _, c := range []struct {
		name    string
		browser hub.BrowserInfo
		state   string
		text    string
	}{
		{"current", hub.BrowserInfo{Name: "Chromium 150", Connected: true, Attested: true, Capabilities: extensionCan, Tabs: 3}, stateOK, "Chromium 150 is connected; tabs: 3"},
		{"older", hub.BrowserInfo{Name: "Chromium 150", Connected: true, Attested: true, Capabilities: old}, stateProblem, "cannot do elicit"},
		{"gone", hub.BrowserInfo{Attested: true, Capabilities: extensionCan}, stateNote, "no browser is connected"},
		{"another program", hub.BrowserInfo{Connected: true}, stateNote, "no browser is connected"},
		{"a page", hub.BrowserInfo{Connected: true, Attested: true, Single: true}, stateNote, "no browser is connected"},
	} {
		d := new(doctor)
		d.browsers([]hub.BrowserInfo{c.browser})
		if len(d.findings) != 1 || d.findings[0].State != c.state || !strings.Contains(d.findings[0].Text, c.text) {
			t.Errorf("%s: %+v", c.name, d.findings)
		}
	}
}

func TestDoctorOnTheHub(t *testing.T) {
	at := home.Hub{Addr: "127.0.0.1:3300", PID: 7}
	for _, c := range []struct {
		name, state, text string
		status            httpd.StatusReport
	}{
		{"as it should be", stateOK, "http://127.0.0.1:3300 (process 7", httpd.StatusReport{Info: httpd.Info{Version: "v1.0.0"}}},
		{"started with go run", stateOK, "version dev", httpd.StatusReport{Info: httpd.Info{Version: "dev"}}},
		{"older", stateProblem, "is of version v0.0.1, this program of v1.0.0", httpd.StatusReport{Info: httpd.Info{Version: "v0.0.1"}}},
		{"disk full", stateProblem, "no space left", httpd.StatusReport{Info: httpd.Info{Version: "v1.0.0"}, Hub: hub.Status{StoreError: "no space left"}}},
	} {
		d := new(doctor)
		d.running(at, c.status, "v1.0.0")
		if len(d.findings) != 1 || d.findings[0].State != c.state || !strings.Contains(d.findings[0].Text, c.text) || (d.findings[0].Fix == "") != (c.state == stateOK) {
			t.Errorf("%s: %+v", c.name, d.findings)
		}
	}
}

func TestDoctorOnPorts(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := other.Addr().String()
	other.Close()
	busy, elsewhere := ln.Addr().String(), []string{"127.0.0.1:1"}
	for _, c := range []struct {
		name, addr string
		own        []string
		auto       bool
		state      string
		text       string
	}{
		{"free before a hub runs", free, nil, false, stateOK, "free for the hub"},
		{"taken before a hub runs", busy, nil, false, stateProblem, "is in use by"},
		{"the hub's", busy, []string{busy}, true, stateOK, "the hub listens"},
		{"free, but the hub had to go elsewhere", free, elsewhere, true, stateNote, "the hub is at 127.0.0.1:1"},
		{"taken, so that the hub had to go elsewhere", busy, elsewhere, true, stateProblem, "is in use by"},
		{"taken, and the hub was told to go elsewhere", busy, elsewhere, false, stateNote, "was started for 127.0.0.1:1"},
	} {
		d := &doctor{listen: []string{c.addr}, own: c.own}
		d.ports(c.auto)
		if len(d.findings) != 1 || d.findings[0].State != c.state || !strings.Contains(d.findings[0].Text, c.text) {
			t.Errorf("%s: %+v", c.name, d.findings)
		}
	}
}

// runIn runs the command as run does, with the data directory dir and nothing else in
// the environment.
func runIn(t *testing.T, dir string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	env := map[string]string{"TABHUB_DATA_DIR": dir, "TABHUB_LISTEN": "127.0.0.1:0", "HOME": t.TempDir()}
	code = run(t.Context(), args, strings.NewReader(""), &o, &e, func(k string) string { return env[k] })
	return code, o.String(), e.String()
}

func TestDoctorOnTheClock(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("0123456789012345678901234567890\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for ahead, want := range map[time.Duration]string{0: stateOK, time.Minute: stateOK, time.Hour: stateProblem} {
		at := time.Now().Add(ahead)
		if err := os.Chtimes(token, at, at); err != nil {
			t.Fatal(err)
		}
		code, out, _ := runIn(t, dir, "doctor")
		line := regexp.MustCompile(`(?m)^(\w+) +clock .*$`).FindStringSubmatch(out)
		if line == nil || line[1] != want || (code == exitError) != (want == stateProblem) {
			t.Errorf("a token written in %s: %d\n%s", ahead, code, out)
		}
	}
}

func TestDoctorOnANamedBrowser(t *testing.T) {
	var d doctor
	for named, want := range map[string]string{"/nonexistent/chromium": stateProblem, os.Args[0]: stateOK} {
		d = doctor{app: &app{env: func(string) string { return named }}}
		d.browser()
		if len(d.findings) != 1 || d.findings[0].State != want {
			t.Errorf("%s: %+v", named, d.findings)
		}
	}
}
