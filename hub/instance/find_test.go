package instance

import "testing"

func TestModeAndVersion(t *testing.T) {
	for said, want := range map[string]struct {
		mode  Mode
		major int
	}{
		"Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)":     {Chromium, 156},
		"Google Chrome for Testing 140.0.7339.16":                            {Testing, 140},
		"Google Chrome 136.0.7103.59":                                        {Chrome, 136},
		`C:\Program Files\Google\Chrome\Application\chrome.exe 141.0.7390.3`: {Chrome, 141},
		"/usr/bin/google-chrome":                                             {Chrome, 0},
		"Brave Browser 142.1.84.132":                                         {Chromium, 142},
	} {
		if m, v := modeOf(said), major(said); m != want.mode || v != want.major {
			t.Errorf("%s: %s %d", said, m, v)
		}
	}
}

func TestPlacesAreThereForAllSystems(t *testing.T) {
	t.Setenv("ProgramFiles", `C:\Program Files`)
	for _, goos := range []string{"linux", "darwin", "windows", "freebsd"} {
		for _, m := range modes {
			if len(places(goos, m)) == 0 {
				t.Errorf("%s: nowhere to look for %s", goos, m)
			}
		}
	}
}
