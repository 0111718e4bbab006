package instance

import (
	"os"
	"runtime"
)

// launch is what a browser is started with.
type launch struct {
	data      string // user data directory
	headless  bool
	extension string // to be loaded; "" where the browser takes none
	hubKey    string // see Options.HubKey; "" for none
	url       string
	hosts     string
	devTools  bool // over pipes, see Config.DevTools
}

// flags returns the browser's command line.
func (l launch) flags() []string {
	out := []string{
		"--user-data-dir=" + l.data,
		"--no-first-run",
		"--no-default-browser-check",
		"--hide-crash-restore-bubble",
		"--enable-features=WebMCP",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-sync",
		"--disable-quic",
		"--password-store=basic",
	}
	if l.extension != "" {
		out = append(out, "--load-extension="+l.extension)
	}
	if l.hubKey != "" {
		out = append(out, "--ignore-certificate-errors-spki-list="+l.hubKey)
	}
	if l.hosts != "" {
		out = append(out, "--host-resolver-rules="+l.hosts)
	}
	if l.devTools {
		// Extensions.loadUnpacked is for browsers that take no extension from here.
		out = append(out, "--remote-debugging-pipe", "--enable-unsafe-extension-debugging")
	}
	if l.headless {
		out = append(out,
			"--headless=new",
			"--window-size=1280,800",
			// The list under the address bar, which no one sees, is a page in a separate process:
			// loading it takes as much processor time as all the rest of a start.
			"--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
		)
	}
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		out = append(out, "--no-sandbox") // it does not run as root otherwise
	}
	if l.url != "" {
		out = append(out, l.url)
	}
	return out
}

// hasDisplay reports whether windows can be shown.
func hasDisplay() bool {
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
