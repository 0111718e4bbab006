// Package autostart has the operating system start the hub when its user logs in: by a unit
// of systemd's user manager, an agent of launchd, a task of Windows' Task Scheduler, or where
// none of them is, as on a desktop without systemd, by an entry of XDG's autostart.
//
// What is written is made by pure functions of an Entry (unit.go, plist.go, task.go,
// desktop.go); starter.go gives it to the system by the system's own commands. There is one
// hub of each user that is started so, whatever its data directory.
package autostart

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode/utf16"
)

// Name is what the systems know the hub by.
const Name = "tabhub"

// Entry is what is started.
type Entry struct {
	Program string   `json:"program"` // absolute
	Args    []string `json:"args"`
	// DataDir is the hub's data directory, which exists, and LogFile the file in it for what the
	// program says before it logs.
	DataDir string `json:"dataDir"`
	LogFile string `json:"logFile"`
}

// marker begins what record returns.
const marker = "tabhub-autostart "

// record is the entry on one line, fit for a comment in all formats: Read finds it there. No
// "--" is in it, which XML has in no comment, and nothing but ASCII, as schtasks prints what
// it was given in another encoding.
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

// Read returns the entry that a text was made of, and whether it was.
func Read(text string) (e Entry, ok bool) {
	_, rest, found := strings.Cut(text, marker)
	line, _, _ := strings.Cut(rest, "\n")
	if strings.HasPrefix(line, "{&") { // XML's
		line = html.UnescapeString(line)
	}
	err := json.NewDecoder(strings.NewReader(line)).Decode(&e)
	return e, found && err == nil && e.Program != ""
}
