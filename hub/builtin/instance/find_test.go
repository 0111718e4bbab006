package instance

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMode(t *testing.T) {
	for path, want := range map[string]Mode{
		"/usr/bin/chromium":                                            Chromium,
		"/usr/bin/google-chrome-for-testing":                           Testing,
		"/opt/chrome-linux64/chrome":                                   Testing,
		`C:\Program Files\Google\Chrome\Application\chrome.exe`:        Chrome,
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome": Chrome,
		"/usr/bin/google-chrome":                                       Chrome,
		"/usr/bin/brave-browser":                                       Chromium,
	} {
		if m := modeOf(path); m != want {
			t.Errorf("%s: %s", path, m)
		}
	}
}

// A user of any of these browsers is told where it was found and where its extensions are, and
// the hub starts the first of those that take an extension.
func TestFindInstalled(t *testing.T) {
	for _, c := range []struct {
		os    string
		there []string
		want  string
	}{
		{"linux", []string{"google-chrome", "microsoft-edge", "/snap/bin/brave"}, "Chrome own chrome://extensions, Edge edge://extensions, Brave brave://extensions"},
		{"linux", []string{"vivaldi-stable", "opera", "chromium-browser"}, "Chromium own chrome://extensions, Vivaldi vivaldi://extensions, Opera opera://extensions"},
		{"linux", []string{"/var/lib/flatpak/exports/bin/com.google.Chrome", "/home/ann/.local/share/flatpak/exports/bin/com.brave.Browser"}, "Chrome own confined chrome://extensions, Brave confined brave://extensions"},
		{"freebsd", []string{"chromium"}, "Chromium own chrome://extensions"},
		{"darwin", []string{"/Applications/Arc.app/Contents/MacOS/Arc", "/home/ann/Applications/Brave Browser.app/Contents/MacOS/Brave Browser", "chromium"}, "Brave brave://extensions, Arc arc://extensions"},
		{"windows", []string{"/pf/Microsoft/Edge/Application/msedge.exe", "/local/Google/Chrome/Application/chrome.exe", "/local/Programs/Opera/opera.exe", "chromium"}, "Chrome own chrome://extensions, Edge edge://extensions, Opera opera://extensions"},
		{"linux", nil, ""},
	} {
		s := system{
			os: c.os, home: "/home/ann",
			env: func(name string) string {
				return map[string]string{"ProgramFiles": "/pf", "LocalAppData": "/local"}[name]
			},
			look: func(name string) (string, error) {
				if slices.Contains(c.there, filepath.ToSlash(name)) {
					return name, nil
				}
				return "", exec.ErrNotFound
			},
		}
		var got []string
		for _, b := range findInstalled(s) {
			text := b.Name
			if b.Own {
				text += " own"
			}
			if b.Confined {
				text += " confined"
			}
			got = append(got, text+" "+b.Extensions)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s with %q has %s", c.os, c.there, got)
		}
	}
}
