package autostart

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// odd has what the formats write in ways of their own.
var odd = Entry{
	Program: `/home/Zoë O'Neill/50% $HOME/a"b\c & <d>/tabhub`,
	Args:    []string{"serve", "--service", `--data-dir=/home/Zoë O'Neill/da$ta\ 100%`, "--allow-origin=*", "--tools=-browser_page,`x`", "", "--jwt-audience=a\tb", `a\"`},
	DataDir: "/data", LogFile: "/data/<hub>.log",
}

func TestGolden(t *testing.T) {
	plain := Entry{Program: "/usr/local/bin/tabhub", Args: []string{"serve", "--service", "--data-dir=/home/ann/.local/share/tabhub", "--demo"}, DataDir: "/home/ann/.local/share/tabhub", LogFile: "/home/ann/.local/share/tabhub/hub.log"}
	for name, e := range map[string]Entry{"plain": plain, "odd": odd} {
		for format, text := range map[string]string{"service": e.Unit(), "plist": e.Plist(), "xml": e.Task(`HOME\Ann & Bob`), "desktop": e.Desktop()} {
			file := filepath.Join("testdata", name+"."+format)
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || text != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("%s, %v; it is now\n%s", file, err, text)
			}
			if got, ok := Read(text); !ok || !reflect.DeepEqual(got, e) {
				t.Errorf("%s is read as %+v", file, got)
			}
		}
	}
	if e, ok := Read("[Service]\nExecStart=/bin/true\n"); ok {
		t.Errorf("a unit that tabhub did not write is read as %+v", e)
	}
}

// systemd itself must read the unit, and find the program whose path is odd.
func TestUnitIsWhatSystemdReads(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	for _, path := range []string{"bin/tabhub", "50% $HOME/a b/täbhub;&", odd.Program} {
		dir := t.TempDir()
		e := odd
		e.Program = filepath.Join(dir, path)
		file := filepath.Join(dir, Name+".service")
		if err := write(file, e.Unit()); err != nil {
			t.Fatal(err)
		}
		verify := func() string {
			cmd := exec.Command(analyze, "--user", "verify", "--man=no", file)
			cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
			out, err := cmd.CombinedOutput()
			return fmt.Sprint(string(out), err)
		}
		if said := verify(); path != odd.Program && !strings.Contains(said, e.Program+" is not executable: No such file") {
			t.Errorf("systemd does not read the path of the program: %s", said)
		}
		if err := write(e.Program, "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(e.Program, 0o700); err != nil {
			t.Fatal(err)
		}
		if said := verify(); said != "<nil>" {
			t.Errorf("systemd says: %s", said)
		}
	}
}

// The examples are those of Microsoft's documentation, and paths that end in a backslash.
func TestQuoteWindows(t *testing.T) {
	for word, want := range map[string]string{
		`abc`: `abc`, ``: `""`, `a b`: `"a b"`, `a"b`: `"a\"b"`, `a\b`: `a\b`, `a\\b c`: `"a\\b c"`, `a\"b`: `"a\\\"b"`,
		`C:\My Data\`: `"C:\My Data\\"`, `C:\Data\`: `C:\Data\`,
	} {
		if got := quoteWindows(word); got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
}

// here is this system with a home of its own, and the commands that are run.
func here(t *testing.T, goos string, env map[string]string) (*System, *[]string) {
	home := t.TempDir()
	ran := new([]string)
	return &System{OS: goos, Env: func(name string) string {
		if name == "HOME" {
			return home
		}
		return env[name]
	}, Run: func(_ context.Context, name string, args ...string) (string, error) {
		*ran = append(*ran, strings.ReplaceAll(name+" "+strings.Join(args, " "), home, "~"))
		return "", nil
	}}, ran
}

func TestOnAndOff(t *testing.T) {
	gui := fmt.Sprintf("gui/%d", os.Getuid())
	for goos, c := range map[string]struct{ on, off []string }{
		"linux": {
			[]string{"systemctl --user show-environment", "systemctl --user daemon-reload", "systemctl --user enable tabhub.service", "systemctl --user restart tabhub.service"},
			[]string{"systemctl --user disable --now tabhub.service", "systemctl --user daemon-reload"},
		},
		"darwin": {
			[]string{"launchctl bootout " + gui + "/tabhub", "launchctl enable " + gui + "/tabhub", "launchctl bootstrap " + gui + " ~/Library/LaunchAgents/tabhub.plist"},
			[]string{"launchctl bootout " + gui + "/tabhub"},
		},
	} {
		t.Run(goos, func(t *testing.T) {
			s, ran := here(t, goos, nil)
			state, err := s.On(t.Context(), odd)
			if err != nil || !state.On || !reflect.DeepEqual(state.Entry, odd) {
				t.Fatalf("%+v, %v", state, err)
			}
			if !slices.Equal(*ran, c.on) {
				t.Errorf("on runs %q", *ran)
			}
			*ran = nil
			was, err := s.Off(t.Context())
			if err != nil || was.File != state.File || !slices.Equal(*ran, c.off) {
				t.Errorf("off: %+v, %v, %q", was, err, *ran)
			}
			if _, err := os.Stat(state.File); err == nil {
				t.Errorf("%s is left", state.File)
			}
			if was, err := s.Off(t.Context()); was.On || err != nil {
				t.Errorf("off again: %+v, %v", was, err)
			}
		})
	}
}

// Without a systemd that answers, which is so where tests run in containers, the desktop
// starts the hub if there is one.
func TestWithoutSystemd(t *testing.T) {
	if _, err := Run(t.Context(), "systemctl", "--user", "show-environment"); err == nil {
		t.Skip("there is a systemd that answers")
	}
	s, _ := here(t, "linux", nil)
	s.Run = Run
	if _, err := s.On(t.Context(), odd); !errors.Is(err, ErrNone) {
		t.Errorf("without a desktop: %v", err)
	}
	s, _ = here(t, "linux", map[string]string{"XDG_CURRENT_DESKTOP": "XFCE"})
	s.Run = Run
	state, err := s.On(t.Context(), odd)
	if err != nil || state.How != "the desktop" || filepath.Base(state.File) != "tabhub.desktop" {
		t.Errorf("%+v, %v", state, err)
	}
	if _, err := s.Off(t.Context()); err != nil {
		t.Error(err)
	}
	// A unit that is enabled, of a systemd that no longer answers, goes with its link.
	unit, link := s.unitFile(), s.config("systemd", "user", "default.target.wants", Name+".service")
	if err := errors.Join(write(unit, odd.Unit()), os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(unit, link)); err != nil {
		t.Fatal(err)
	}
	if was, err := s.Off(t.Context()); err != nil || was.How != "systemd" {
		t.Errorf("%+v, %v", was, err)
	}
	for _, path := range []string{unit, link} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
