package httpd

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What a page calls its prompts, and their arguments, is in a line that the owner puts into a
// terminal: it stays a word there, is no flag, and no key that the terminal acts on.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	d := openSignIn(t, nil)
	page := d.openDashboard()
	for _, words := range [][]string{
		{"plain"}, {"it's"}, {"$(touch x)`touch y`;touch z"}, {"--hub=http://evil.example", "a=1"}, {"name", "-h"},
		{"stop\x03\ntouch x\n"}, {"\x1b[201~touch x\r"}, {`back\slash'!x` + "\t\u200b’\u2028\U000e0041"},
	} {
		given, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		var line string
		page.Into(fmt.Sprintf(`import("./dashboard/callline.js").then(({shellLine}) => shellLine("prompt", %s))`, given), &line)
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == '\x7f' }) {
			t.Errorf("a terminal acts on %q", line)
		}
		out, err := exec.Command(bash, "--norc", "-c", `tabhub() { printf '%s\0' "$@"; }; `+line).Output()
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		want := []string{"prompt"}
		if slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") }) {
			want = append(want, "--")
		}
		want = append(want, words...)
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
}
