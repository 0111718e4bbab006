package instance

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Installed is a browser of this machine that the companion extension runs in.
type Installed struct {
	Name string `json:"name"` // as its makers call it
	Path string `json:"path"` // of the program
	// Extensions is the address of the page where extensions are loaded. A browser opens it for
	// nobody but its user.
	Extensions string `json:"extensions"`
	// Own says that the hub starts this one by itself, unless browser-program names another.
	Own bool `json:"own"`
	// Confined says that it is from snap or Flatpak, and sees only some directories.
	Confined bool `json:"confined,omitempty"`

	mode Mode
}

// FindInstalled returns the browsers that are found on the PATH and in the usual places, those
// first that take an extension from the command line. It runs none.
func FindInstalled() []Installed { return findInstalled(systemHere()) }

// findInstalled is FindInstalled for a system.
func findInstalled(s system) (all []Installed) {
	for _, k := range known {
		for _, name := range k.places(s) {
			path, err := s.look(name)
			if err != nil {
				continue
			}
			all = append(all, Installed{
				Name: k.name, Path: path, Extensions: k.scheme + "://extensions",
				Own: k.mode != "", Confined: confined(path), mode: k.mode,
			})
			break
		}
	}
	return all
}

// system is where a system keeps programs.
type system struct {
	os, home string
	env      func(string) string
	look     func(name string) (path string, err error)
}

func systemHere() system {
	home, _ := os.UserHomeDir()
	return system{os: runtime.GOOS, home: home, env: os.Getenv, look: exec.LookPath}
}

// product is where a browser is, by system.
type product struct {
	name    string
	mode    Mode // "" if the hub does not start it by itself
	scheme  string
	linux   []string // names on the PATH, and paths
	flatpak string
	darwin  string // the application
	windows string // the path below the directories for programs
}

// known are the browsers that are looked for. Only Chromium and Chrome for Testing surely take
// --load-extension; all take --enable-features=WebMCP from Chromium 149 on.
var known = []product{
	{"Chromium", Chromium, "chrome", []string{"chromium", "chromium-browser", "/usr/lib/chromium/chromium", "/snap/bin/chromium"}, "org.chromium.Chromium", "Chromium", `Chromium\Application\chrome.exe`},
	{"Chrome for Testing", Testing, "chrome", []string{"google-chrome-for-testing", "chrome-for-testing"}, "", "Google Chrome for Testing", `Google\Chrome for Testing\Application\chrome.exe`},
	{"Chrome", Chrome, "chrome", []string{"google-chrome", "google-chrome-stable", "/opt/google/chrome/chrome"}, "com.google.Chrome", "Google Chrome", `Google\Chrome\Application\chrome.exe`},
	{"Edge", "", "edge", []string{"microsoft-edge", "microsoft-edge-stable", "msedge", "/opt/microsoft/msedge/msedge"}, "com.microsoft.Edge", "Microsoft Edge", `Microsoft\Edge\Application\msedge.exe`},
	{"Brave", "", "brave", []string{"brave-browser", "brave-browser-stable", "brave", "/opt/brave.com/brave/brave", "/snap/bin/brave"}, "com.brave.Browser", "Brave Browser", `BraveSoftware\Brave-Browser\Application\brave.exe`},
	{"Arc", "", "arc", nil, "", "Arc", ""},
	{"Vivaldi", "", "vivaldi", []string{"vivaldi", "vivaldi-stable", "/opt/vivaldi/vivaldi", "/snap/bin/vivaldi"}, "com.vivaldi.Vivaldi", "Vivaldi", `Vivaldi\Application\vivaldi.exe`},
	{"Opera", "", "opera", []string{"opera", "opera-stable", "/snap/bin/opera"}, "com.opera.Opera", "Opera", `Programs\Opera\opera.exe`},
}

// places are the names and paths under which a system has the browser.
func (p product) places(s system) []string {
	switch s.os {
	case "darwin":
		file := filepath.Join("Applications", p.darwin+".app", "Contents", "MacOS", p.darwin)
		return []string{filepath.Join("/", file), filepath.Join(s.home, file)}
	case "windows":
		var paths []string
		for _, base := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			if root := s.env(base); root != "" && p.windows != "" {
				paths = append(paths, filepath.Join(root, filepath.FromSlash(strings.ReplaceAll(p.windows, `\`, "/"))))
			}
		}
		return paths
	}
	places := slices.Clone(p.linux)
	if p.flatpak != "" {
		places = append(places, filepath.Join("/var/lib/flatpak/exports/bin", p.flatpak), filepath.Join(s.home, ".local/share/flatpak/exports/bin", p.flatpak))
	}
	return places
}

// confined reports whether a program is from snap or Flatpak.
func confined(path string) bool {
	if strings.Contains(filepath.ToSlash(path), "/flatpak/exports/") {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && (filepath.Base(real) == "snap" || strings.HasPrefix(real, "/snap/"))
}
