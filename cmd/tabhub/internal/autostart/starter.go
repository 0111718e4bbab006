package autostart

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"

	"tabhub/storage/private"
)

// System is the operating system, as its user sees it.
type System struct {
	OS  string // as runtime.GOOS
	Env func(string) string
	// Run runs a command of the system, and returns what it prints, on stderr too.
	Run func(ctx context.Context, name string, args ...string) (string, error)
}

// Run is System.Run for the system that this program runs on.
func Run(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		line, _, _ := strings.Cut(text, "\n")
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, line)
	}
	return text, err
}

// State says whether and how the system starts the hub.
type State struct {
	On    bool
	How   string // what starts the hub: "systemd", "launchd", "Task Scheduler" or "the desktop"
	File  string // that says so; "": the system keeps it elsewhere
	Entry Entry  // zero if On did not write it
}

// ErrNone says that this system starts nothing for its user.
var ErrNone = errors.New("no systemd of yours answers here (`systemctl --user` has no bus, as in a container or after su), and there is no desktop whose autostart could be used; the first client starts the hub all the same")

// unitFile and entryFile are where units and entries of XDG's autostart are.
func (s *System) unitFile() string  { return s.config("systemd", "user", Name+".service") }
func (s *System) entryFile() string { return s.config("autostart", Name+".desktop") }
func (s *System) agentFile() string {
	return filepath.Join(s.Env("HOME"), "Library", "LaunchAgents", Name+".plist")
}

func (s *System) config(path ...string) string {
	base := s.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(s.Env("HOME"), ".config")
	}
	return filepath.Join(append([]string{base}, path...)...)
}

// State returns whether the system starts the hub.
func (s *System) State(ctx context.Context) (State, error) {
	switch s.OS {
	case "windows":
		text, err := s.Run(ctx, "schtasks", "/Query", "/TN", Name, "/XML", "ONE")
		if err != nil {
			return State{}, nil // there is no task; schtasks says so in the user's language
		}
		e, _ := Read(text)
		return State{On: true, How: "Task Scheduler", Entry: e}, nil
	case "darwin":
		return read(s.agentFile(), "launchd")
	}
	if state, err := read(s.unitFile(), "systemd"); state.On || err != nil {
		return state, err
	}
	return read(s.entryFile(), "the desktop")
}

func read(file, how string) (State, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	e, _ := Read(string(b))
	return State{On: true, How: how, File: file, Entry: e}, nil
}

// On has the system start e at each login and, except by a desktop's autostart, at once. It
// replaces an earlier entry.
func (s *System) On(ctx context.Context, e Entry) (State, error) {
	var err error
	switch s.OS {
	case "windows":
		err = s.addTask(ctx, &e)
	case "darwin":
		err = s.addAgent(ctx, &e)
	default:
		err = s.addUnit(ctx, &e)
	}
	if err != nil {
		return State{}, err
	}
	return s.State(ctx)
}

// Off ends the hub that the system has started, and removes the entry. It returns the State
// before.
func (s *System) Off(ctx context.Context) (was State, err error) {
	if was, err = s.State(ctx); !was.On || err != nil {
		return was, err
	}
	switch was.How {
	case "Task Scheduler":
		_, _ = s.Run(ctx, "schtasks", "/End", "/TN", Name) // it may not run
		_, err = s.Run(ctx, "schtasks", "/Delete", "/TN", Name, "/F")
		return was, err
	case "launchd":
		_, _ = s.Run(ctx, "launchctl", "bootout", s.agent()) // it may not be loaded
	case "systemd":
		// Without a manager no hub of it runs, but the link that enables the unit exists.
		if _, err := s.Run(ctx, "systemctl", "--user", "disable", "--now", Name+".service"); err != nil {
			link := s.config("systemd", "user", "default.target.wants", Name+".service")
			if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return was, err
			}
		}
	}
	if err := os.Remove(was.File); err != nil {
		return was, err
	}
	if was.How == "systemd" {
		_, _ = s.Run(ctx, "systemctl", "--user", "daemon-reload")
	}
	return was, nil
}

// addUnit writes a unit, or, where systemd does not answer, an entry for the desktop.
func (s *System) addUnit(ctx context.Context, e *Entry) error {
	if _, err := s.Run(ctx, "systemctl", "--user", "show-environment"); err != nil {
		if s.Env("XDG_CURRENT_DESKTOP") == "" && s.Env("DISPLAY") == "" && s.Env("WAYLAND_DISPLAY") == "" {
			return ErrNone
		}
		return write(s.entryFile(), e.Desktop())
	}
	if err := write(s.unitFile(), e.Unit()); err != nil {
		return err
	}
	for _, args := range [][]string{{"daemon-reload"}, {"enable", Name + ".service"}, {"restart", Name + ".service"}} {
		if _, err := s.Run(ctx, "systemctl", append([]string{"--user"}, args...)...); err != nil {
			return err
		}
	}
	if err := os.Remove(s.entryFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // both would start it
	}
	return nil
}

// agent is launchctl's name for the agent.
func (s *System) agent() string { return s.domain() + "/" + Name }

func (s *System) domain() string { return fmt.Sprintf("gui/%d", os.Getuid()) }

// agentEnd is how long launchd may take to end the agent that On replaces.
const agentEnd = 30 * time.Second

func (s *System) addAgent(ctx context.Context, e *Entry) error {
	if err := write(s.agentFile(), e.Plist()); err != nil {
		return err
	}
	_, _ = s.Run(ctx, "launchctl", "bootout", s.agent()) // it may not be loaded
	_, _ = s.Run(ctx, "launchctl", "enable", s.agent())
	// bootout does not wait for the end of the agent, and until then bootstrap fails.
	ctx, cancel := context.WithTimeout(ctx, agentEnd)
	defer cancel()
	for {
		_, err := s.Run(ctx, "launchctl", "bootstrap", s.domain(), s.agentFile())
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (s *System) addTask(ctx context.Context, e *Entry) error {
	u, err := user.Current()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(e.DataDir, "task-*.xml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(utf16Of(e.Task(u.Username)))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if _, err := s.Run(ctx, "schtasks", "/Create", "/TN", Name, "/XML", f.Name(), "/F"); err != nil {
		return err
	}
	_, err = s.Run(ctx, "schtasks", "/Run", "/TN", Name)
	return err
}

// utf16Of encodes a text as schtasks reads it.
func utf16Of(text string) []byte {
	b := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}

// write makes a file, for its user alone, and its directory.
func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return private.Replace(file, []byte(text), true) // an older file may be readable for others
}
