package command

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/terminal"
)

// A person who reads one word for a hub that is gone in the popup, and another in the terminal, takes
// them for two things.
func TestStatesAreThoseOfTheExtension(t *testing.T) {
	text, err := os.ReadFile("../../../../tabtransport/extension/states.ts")
	if err != nil {
		t.Fatal(err)
	}
	looks := map[string]terminal.Tone{"good": terminal.Good, "wait": terminal.Wait, "bad": terminal.Bad, "off": terminal.Soft}
	var shown []string
	for _, m := range regexp.MustCompile(`(?m)^  \w+: \["([^"]+)", "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		word := strings.ToLower(m[1])
		shown = append(shown, word)
		if tone, ok := Tones[word]; ok && tone != looks[m[2]] {
			t.Errorf("%q is %q in the extension", word, m[2])
		}
	}
	for _, word := range []string{Connected, Waiting, Paused, Absent, Unpaired, Active, Changing, Dialog, InUse, Away, Missing, Open, Asleep} {
		if !slices.Contains(shown, word) {
			t.Errorf("the extension has no state %q", word)
		}
	}
	if home.ErrNoHub.Error() != Absent {
		t.Errorf("commands say %q", home.ErrNoHub)
	}
}
