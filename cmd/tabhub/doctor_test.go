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

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/hub"
	"tabhub/hub/face/admin"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
)

// A capability that the doctor does not know would let an old extension pass for the
// current one, and one that the extension does not have would call all of them old.
func TestDoctorKnowsTheExtension(t *testing.T) {
	b, err := os.ReadFile("../../tabtransport/extension/worker/control.ts")
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
	if lacks := setup.Missing(has); len(lacks) > 0 || len(has) != len(setup.ExtensionCan) {
		t.Errorf("the extension can %v, the doctor expects %v", has, setup.ExtensionCan)
	}
}

func TestDoctorOnExtensions(t *testing.T) {
	old := slices.DeleteFunc(slices.Clone(setup.ExtensionCan), func(c spec.Capability) bool { return c == spec.CapText })
	joined := state.BrowserInfo{Name: "Chromium 150", Connected: true, Attested: true, Capabilities: setup.ExtensionCan, Tabs: 3, Pairing: "copy.a"}
	pairings := func(ids ...spec.PairingID) (list []pairing.Pairing) {
		for _, id := range ids {
			list = append(list, pairing.Pairing{ID: id, Browser: "Chromium 149", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		browser state.BrowserInfo
		paired  []pairing.Pairing
		want    []string // each "state text"
	}{
		{"current", joined, pairings("copy.a"), []string{"ok Chromium 150 is connected; tabs: 3"}},
		{"older", state.BrowserInfo{Name: "Chromium 150", Connected: true, Attested: true, Capabilities: old}, nil, []string{"problem that of Chromium 150 is older than this tabhub: it cannot do text"}},
		{"gone", state.BrowserInfo{Attested: true, Capabilities: setup.ExtensionCan, Pairing: "copy.a"}, pairings("copy.a"), []string{"note no browser is connected; paired: Chromium 149 of 2026-01-02"}},
		{"another program", state.BrowserInfo{Connected: true}, nil, []string{"note not paired with the hub, and no browser is connected"}},
		{"a page", state.BrowserInfo{Connected: true, Attested: true, Single: true}, nil, []string{"note not paired with the hub, and no browser is connected"}},
		{"one of two", joined, pairings("copy.a", "copy.b"), []string{"ok Chromium 150 is connected; tabs: 3", "note paired, but not connected: Chromium 149 of 2026-01-02"}},
		{"many", joined, pairings("copy.a", "b", "c", "d", "e", "f", "g", "h"), []string{"ok Chromium 150 is connected; tabs: 3", "note paired, but not connected: " + strings.Repeat("Chromium 149 of 2026-01-02, ", 4) + "Chromium 149 of 2026-01-02 and 2 more"}},
	} {
		d := &setup.Doctor{Config: new(settings.Config), App: new(command.App)}
		d.Browsers([]state.BrowserInfo{c.browser}, c.paired)
		if got := said(d); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// said is what a doctor has found, each with its state.
func said(d *setup.Doctor) (all []string) {
	for _, f := range d.Findings {
		all = append(all, f.State+" "+f.Text)
	}
	return all
}

// A refused extension that has connected since works; this user cannot mend those of other
// users.
func TestDoctorOnRefusals(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	no := admin.Refusal{Reason: "it shows no pairing", Own: true, Times: 1, Last: noon}
	often, theirs := no, no
	often.Times = 3
	theirs.Own = false
	for _, c := range []struct {
		name    string
		refusal admin.Refusal
		joined  time.Time
		want    string
	}{
		{"still out", no, noon.Add(-time.Hour), "problem one was refused at 2026-01-02 12:00:00: it shows no pairing"},
		{"often", often, noon.Add(-time.Hour), "problem one was refused at 2026-01-02 12:00:00, the last of 3 times: it shows no pairing"},
		{"in by now", no, noon.Add(time.Minute), "note one was refused at 2026-01-02 12:00:00: it shows no pairing"},
		{"another user", theirs, noon, "note another user or machine said that it is the extension, and was refused at 2026-01-02 12:00:00: it shows no pairing"},
	} {
		d := &setup.Doctor{Config: new(settings.Config), App: new(command.App)}
		d.Refused([]admin.Refusal{c.refusal}, []state.BrowserInfo{{Connected: true, Pairing: "copy.a", ConnectedAt: c.joined}})
		if got := said(d); len(got) != 1 || got[0] != c.want || (d.Findings[0].Fix == "") == c.refusal.Own {
			t.Errorf("%s: %+v", c.name, d.Findings)
		}
	}
}

// A copy of the extension that looks for the hub in the wrong place finds out by itself
// that nothing, or another program, is there; its user does not.
func TestDoctorOnCopies(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	ring, err := pairing.Open(dir.Pairings(), "hub")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "extension")
	for _, path := range []string{copied, filepath.Join(t.TempDir(), "deleted")} {
		if err := dir.AddExtension(path); err != nil {
			t.Fatal(err)
		}
	}
	busy, hubAt := ln.Addr().String(), "127.0.0.1:1"
	anew := "tabhub extension " + copied + "; " + setup.Reload
	for _, c := range []struct {
		name    string
		address string // of the copy
		own     []string
		auto    bool
		joined  bool
		text    string // "": nothing is said
		fix     string
	}{
		{"where the hub is", "ws://127.0.0.1:1/tabs", []string{hubAt}, false, false, "", ""},
		{"by name", "ws://localhost:1/tabs", []string{hubAt}, false, false, "", ""},
		{"a hub elsewhere", "wss://hub.example.com/tabs", []string{hubAt}, false, false, "", ""},
		{"the hub has moved", "ws://127.0.0.1:2/tabs", []string{hubAt}, false, false, "problem the copy in " + copied + " looks for the hub at ws://127.0.0.1:2/tabs, where nothing listens; it tells nothing to what is not the hub, which is at ws://127.0.0.1:1/tabs", anew},
		{"the hub has no TLS any more", "wss://127.0.0.1:1/tabs", []string{hubAt}, false, false, "problem the copy in " + copied + " looks for the hub at wss://127.0.0.1:1/tabs, where nothing listens; it tells nothing to what is not the hub, which is at ws://127.0.0.1:1/tabs", anew},
		{"set to the hub by its user", "ws://127.0.0.1:2/tabs", []string{hubAt}, false, true, "", ""},
		{"another program has the port", "ws://" + busy + "/tabs", []string{hubAt}, true, false, "it tells nothing to what is not the hub, which is at ws://127.0.0.1:1/tabs", "end that, then `tabhub stop`; the next client starts a hub again"},
		{"another program has the port, and the hub is elsewhere by hand", "ws://" + busy + "/tabs", []string{hubAt}, false, false, "; it tells nothing to what is not the hub, which is at ws://127.0.0.1:1/tabs", anew},
		{"another program has the port, and no hub runs", "ws://" + busy + "/tabs", nil, false, false, "it tells nothing to what is not the hub", "end that; or `tabhub serve --listen 127.0.0.1:0` and " + anew},
		{"no hub runs", "ws://127.0.0.1:1/tabs", nil, false, false, "", ""},
	} {
		written, err := extension.Write(copied, ring, c.address)
		if err != nil {
			t.Fatal(err)
		}
		d, at := &setup.Doctor{Config: new(settings.Config), App: new(command.App), Dir: dir, Addrs: c.own, Status: &admin.StatusReport{Info: admin.Info{Auto: c.auto}}}, ""
		if c.own != nil {
			at = "ws://" + hubAt + "/tabs"
		}
		if c.joined {
			d.Joined = []spec.PairingID{written.Pairing}
		}
		d.Copies(at)
		switch {
		case c.text == "" && len(d.Findings) > 0,
			c.text != "" && (len(d.Findings) != 1 || !strings.Contains(said(d)[0], c.text) || d.Findings[0].Fix != c.fix):
			t.Errorf("%s: %+v", c.name, d.Findings)
		}
	}

	if err := os.WriteFile(filepath.Join(copied, "worker", "main.js"), []byte("// an older one"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &setup.Doctor{Config: new(settings.Config), App: new(command.App), Dir: dir}
	d.Copies("")
	if got := said(d); len(got) != 1 || got[0] != "note the copy in "+copied+" is not of this version" || d.Findings[0].Fix != anew {
		t.Errorf("an older copy: %+v", d.Findings)
	}
	// What the command writes again is the build that was there.
	if _, err := extension.WriteTrustedInput(copied, ring, "ws://127.0.0.1:2/tabs"); err != nil {
		t.Fatal(err)
	}
	d = &setup.Doctor{Config: new(settings.Config), App: new(command.App), Dir: dir, Addrs: []string{hubAt}, Status: &admin.StatusReport{}}
	d.Copies("ws://" + hubAt + "/tabs")
	if want := "tabhub extension " + copied + " --trusted-input; " + setup.Reload; len(d.Findings) != 1 || d.Findings[0].Fix != want {
		t.Errorf("a copy with trusted input: %+v; want the fix %s", d.Findings, want)
	}
}

func TestDoctorOnTheHub(t *testing.T) {
	at := home.Hub{Addr: "127.0.0.1:3300", PID: 7}
	for _, c := range []struct {
		name, state, text string
		status            admin.StatusReport
	}{
		{"as it should be", setup.StateOK, "http://127.0.0.1:3300 (process 7", admin.StatusReport{Info: admin.Info{Version: "v1.0.0"}}},
		{"started with go run", setup.StateOK, "version dev", admin.StatusReport{Info: admin.Info{Version: "dev"}}},
		{"older", setup.StateProblem, "is of version v0.0.1, this program of v1.0.0", admin.StatusReport{Info: admin.Info{Version: "v0.0.1"}}},
		{"disk full", setup.StateProblem, "no space left", admin.StatusReport{Info: admin.Info{Version: "v1.0.0"}, Hub: hub.Status{StoreError: "no space left"}}},
	} {
		d := &setup.Doctor{Running: at, Status: &c.status}
		d.Version("v1.0.0")
		if len(d.Findings) != 1 || d.Findings[0].State != c.state || !strings.Contains(d.Findings[0].Text, c.text) || (d.Findings[0].Fix == "") != (c.state == setup.StateOK) {
			t.Errorf("%s: %+v", c.name, d.Findings)
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
		{"free before a hub runs", free, nil, false, setup.StateOK, "free for the hub"},
		{"taken before a hub runs", busy, nil, false, setup.StateProblem, "is in use by"},
		{"the hub's", busy, []string{busy}, true, setup.StateOK, "the hub listens"},
		{"free, but the hub had to go elsewhere", free, elsewhere, true, setup.StateNote, "the hub is at 127.0.0.1:1"},
		{"taken, so that the hub had to go elsewhere", busy, elsewhere, true, setup.StateProblem, "is in use by"},
		{"taken, and the hub was started elsewhere", busy, elsewhere, false, setup.StateNote, "was started for 127.0.0.1:1"},
	} {
		d := &setup.Doctor{App: new(command.App), Config: &settings.Config{Listen: []string{c.addr}}, Addrs: c.own, Status: &admin.StatusReport{Info: admin.Info{Auto: c.auto}}}
		d.Ports(t.Context())
		if len(d.Findings) != 1 || d.Findings[0].State != c.state || !strings.Contains(d.Findings[0].Text, c.text) {
			t.Errorf("%s: %+v", c.name, d.Findings)
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

func TestDoctorOnANamedBrowser(t *testing.T) {
	var d setup.Doctor
	for named, want := range map[string]string{"/nonexistent/chromium": setup.StateProblem, os.Args[0]: setup.StateOK} {
		d = setup.Doctor{Config: new(settings.Config), App: &command.App{Env: func(string) string { return named }}}
		d.Browser(t.Context())
		if len(d.Findings) != 1 || d.Findings[0].State != want {
			t.Errorf("%s: %+v", named, d.Findings)
		}
	}
}

// The dashboard and the command must show the same findings.
func TestDoctorInTheHub(t *testing.T) {
	p, _ := serveTest(t)
	a := &command.App{Env: func(string) string { return "" }, DataDir: string(p.Dir)}
	var shown []admin.Finding
	if err := command.Ask(t.Context(), a, "/api/doctor", &shown); err != nil {
		t.Fatal(err)
	}
	if found := setup.Diagnose(t.Context(), a, p.Config); !slices.Equal(shown, found) || len(shown) < 5 {
		t.Errorf("the hub has found\n%+v\nand the command\n%+v", shown, found)
	}
	if i := slices.IndexFunc(shown, func(f admin.Finding) bool { return f.Check == "hub" }); i < 0 || shown[i].State != setup.StateOK {
		t.Errorf("of the hub that answers: %+v", shown)
	}
}
