package shell

import "testing"

// The usual data directory of macOS has a space in its path.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		os    string
		words []string
		want  string
	}{
		{"linux", []string{"chmod", "700", "/home/a/.local/share/tabhub"}, "chmod 700 /home/a/.local/share/tabhub"},
		{"darwin", []string{"chmod", "700", "/Users/a/Library/Application Support/tabhub"}, "chmod 700 '/Users/a/Library/Application Support/tabhub'"},
		{"linux", []string{"rm", `/a'b $(x)\`}, `rm '/a'\''b $(x)\'`},
		{"windows", []string{`C:\My Tools\tabhub.exe`, `C:\a\b`}, `"C:\My Tools\tabhub.exe" C:\a\b`},
	} {
		if got := Line(tt.os, tt.words...); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.os, got, tt.want)
		}
	}
}
