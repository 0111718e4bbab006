//go:build linux

package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tabhub/hub/instance"
	"tabhub/spec"
)

func TestBadConfig(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	empty := t.TempDir()
	for name, test := range map[string]struct {
		browser string
		config  instance.Config
		code    spec.FailureCode
		want    string
	}{
		"no such browser":     {"/nonexistent/chromium", instance.Config{}, spec.FailToolError, "--browser-program"},
		"mode and browser":    {fake(t, "Chromium 156.0.1.2", ""), instance.Config{Mode: instance.Chrome}, spec.FailInvalidArguments, "leave mode out"},
		"mode not installed":  {"", instance.Config{Mode: instance.Testing}, spec.FailToolError, "no Chrome for Testing is installed"},
		"profile leaves":      {"", instance.Config{Profile: ".."}, spec.FailInvalidArguments, "letters, digits"},
		"profile with slash":  {"", instance.Config{Profile: "../x"}, spec.FailInvalidArguments, "no browser of this machine"},
		"profile unknown":     {"", instance.Config{Profile: "google-chrome/Default"}, spec.FailInvalidArguments, "action profiles"},
		"window, no display":  {"", instance.Config{Headless: new(false)}, spec.FailInvalidArguments, "headless: true"},
		"extension relative":  {fake(t, "Chromium 156.0.1.2", ""), instance.Config{Extensions: []string{"x"}}, spec.FailInvalidArguments, "full path"},
		"extension is none":   {fake(t, "Chromium 156.0.1.2", ""), instance.Config{Extensions: []string{empty}}, spec.FailInvalidArguments, "manifest.json"},
		"profile is too long": {"", instance.Config{Profile: strings.Repeat("p", 65)}, spec.FailInvalidArguments, "letters, digits"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, instance.Options{Browser: test.browser, UserProfiles: true, Extensions: true})
			_, err := w.instances.Start(t.Context(), test.config)
			wantFailure(t, err, test.code, test.want)
		})
	}
}

// The user's own profiles are listed, opened when they are named, and never while
// another browser has them.
func TestMachineProfiles(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	data := filepath.Join(config, "chromium")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	state := `{"profile":{"info_cache":{"Default":{"name":"Ada"},"Profile 1":{"name":"Work"},"../evil":{"name":"x"}}}}`
	if err := os.WriteFile(filepath.Join(data, "Local State"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	args := filepath.Join(t.TempDir(), "args")
	if err := syscall.Mkfifo(args, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, instance.Options{
		Browser: fake(t, "Chromium 156.0.1.2", "echo \"$@\" >"+args+"; exit 3"), UserProfiles: true,
	})
	profiles, err := w.instances.Profiles()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range profiles {
		got = append(got, p.Directory+"="+p.Name+p.InUse)
	}
	if want := []string{"chromium/Default=Ada", "chromium/Profile 1=Work"}; !slices.Equal(got, want) {
		t.Errorf("profiles %q, want %q", got, want)
	}
	started := make(chan error, 1)
	go func() {
		_, err := w.instances.Start(t.Context(), instance.Config{Profile: "chromium/Profile 1", Headless: new(true)})
		started <- err
	}()
	line, err := os.ReadFile(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--user-data-dir=" + data + " ", "--profile-directory=Profile 1 ", "--load-extension=" + w.dir} {
		if !strings.Contains(string(line)+" ", want) {
			t.Errorf("started with %s, without %s", line, want)
		}
	}
	if strings.Contains(string(line), "--disable-sync") || strings.Contains(string(line), "--password-store") {
		t.Errorf("the user's own profile was changed: %s", line)
	}
	wantFailure(t, <-started, spec.FailToolError, "exit status 3")

	hold(t, data)
	_, err = w.instances.Start(t.Context(), instance.Config{Profile: "chromium/Default", Headless: new(true)})
	wantFailure(t, err, spec.FailToolError, "in use by a running browser (process 4711)")
}

// A model that a page has talked round must not get at the user's logins, nor have a
// program of its choice read every page, unless the user has agreed.
func TestWhatTheUserMustAllow(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	for file, text := range map[string]string{
		"chromium/Local State": `{"profile":{"info_cache":{"Default":{"name":"Ada"}}}}`,
		"chosen/manifest.json": `{}`,
	} {
		path := filepath.Join(config, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	w := newFixture(t, instance.Options{Browser: fake(t, "Chromium 156.0.1.2", "exit 3")})
	for flag, c := range map[string]instance.Config{
		"--instance-user-profiles": {Profile: "chromium/Default"},
		"--instance-extensions":    {Extensions: []string{filepath.Join(config, "chosen")}},
	} {
		c.Headless = new(true)
		_, err := w.instances.Start(t.Context(), c)
		wantFailure(t, err, spec.FailDenied, flag)
	}
	if profiles, err := w.instances.Profiles(); err != nil || len(profiles) != 0 {
		t.Errorf("profiles: %+v, %v", profiles, err)
	}
}
