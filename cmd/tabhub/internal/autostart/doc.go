// Package autostart has the operating system start the hub when its user logs in: by a unit
// of systemd's user manager, an agent of launchd, a task of Windows' Task Scheduler, or, on a
// desktop without these, an entry of XDG's autostart.
//
// Pure functions of an Entry make the files (unit.go, plist.go, task.go, desktop.go);
// starter.go registers them with the system's own commands. The system starts at most one hub
// for each user, whatever its data directory.
package autostart

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode/utf16"
)

// Name is the name of the unit, agent, task or entry.
const Name = "tabhub"

// Entry says what the system starts.
type Entry struct {
	Program string   `json:"program"` // absolute
	Args    []string `json:"args"`
	// DataDir is the hub's data directory, which exists, and LogFile the file in it that takes
	// the program's output until its log is open.
	DataDir string `json:"dataDir"`
	LogFile string `json:"logFile"`
}

// marker begins what record returns.
const marker = "tabhub-autostart "

// record returns the entry on one line that fits into a comment of every format, where Read finds
// it. It has no "--", which XML forbids in a comment, and is ASCII, as schtasks prints a task in
// another encoding.
func (e *Entry) record() string {
	b, _ := json.Marshal(e) // of strings
	line := []byte(marker)
	for _, c := range utf16.Encode([]rune(string(b))) {
		if c < 0x7f && c != '-' {
			line = append(line, byte(c))
		} else {
			line = fmt.Appendf(line, `\u%04x`, c)
		}
	}
	return string(line)
}

// Read returns the entry that a text was made from; ok is false if it was not made by this package.
func Read(text string) (e Entry, ok bool) {
	_, rest, found := strings.Cut(text, marker)
	line, _, _ := strings.Cut(rest, "\n")
	if strings.HasPrefix(line, "{&") { // XML's
		line = html.UnescapeString(line)
	}
	err := json.NewDecoder(strings.NewReader(line)).Decode(&e)
	return e, found && err == nil && e.Program != ""
}
