//go:build linux

package instance_test

import (
	"strings"
	"testing"

	"tabhub/hub/builtin/instance"
	"tabhub/spec"
)

func TestBadConfig(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("PATH", t.TempDir())
	for name, test := range map[string]struct {
		browser string
		config  instance.Config
		code    spec.FailureCode
		want    string
	}{
		"no such browser":     {"/nonexistent/chromium", instance.Config{}, spec.FailToolError, "browser-program"},
		"mode and browser":    {fake(t, "chromium", ""), instance.Config{Mode: instance.Chrome}, spec.FailInvalidArguments, "leave mode out"},
		"mode not installed":  {"", instance.Config{Mode: instance.Testing}, spec.FailToolError, "no Chrome for Testing is installed"},
		"profile leaves":      {"", instance.Config{Profile: ".."}, spec.FailInvalidArguments, "letters, digits"},
		"profile with slash":  {"", instance.Config{Profile: "../x"}, spec.FailInvalidArguments, "letters, digits"},
		"profile of the user": {"", instance.Config{Profile: "google-chrome/Default"}, spec.FailInvalidArguments, "hold their logins"},
		"window, no display":  {"", instance.Config{Headless: new(false)}, spec.FailInvalidArguments, "headless: true"},
		"profile is too long": {"", instance.Config{Profile: strings.Repeat("p", 65)}, spec.FailInvalidArguments, "letters, digits"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, instance.Options{Browser: test.browser})
			_, err := w.instances.Start(t.Context(), test.config)
			wantFailure(t, err, test.code, test.want)
		})
	}
}
