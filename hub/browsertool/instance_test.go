//go:build linux

package browsertool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tabhub/hub/browsertool"
	"tabhub/hub/instance"
	"tabhub/spec"
)

// fakeChrome makes an executable that is branded Chrome as far as its version goes.
func fakeChrome(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chrome")
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Google Chrome 156.0.1.2'; exit; fi\nexec sleep 1000\n"
	// A process that is just being started has each open file, too, and what is open to
	// be written cannot be run.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Whoever asks for Chrome is asked back which profile, and told what to do where the
// extension cannot be loaded for them.
func TestChromeOfTheUser(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	data := filepath.Join(config, "google-chrome")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "Local State"), []byte(`{"profile":{"info_cache":{"Default":{"name":"Ada"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newRig(t)
	w.startWith(instance.Options{Browser: fakeChrome(t), UserProfiles: true})
	var asked struct {
		Action, Hint string
		Profiles     []struct{ Directory, Name string }
	}
	w.call("browser_instance", `{"action":"new","mode":"chrome","headless":true}`).into(&asked)
	if asked.Action != "profile_selection_required" || len(asked.Profiles) != 1 || asked.Profiles[0].Directory != "google-chrome/Default" || asked.Profiles[0].Name != "Ada" {
		t.Errorf("%+v", asked)
	}

	var started struct {
		InstanceID, BrowserType, Profile, DownloadDirectory, Warning string
		ExtensionAutoLoaded                                          bool
	}
	w.call("browser_instance", `{"action":"new","mode":"chrome","headless":true,"profile":"default"}`).into(&started)
	if started.BrowserType != "Chrome" || started.Profile != "default" || started.DownloadDirectory == "" || started.ExtensionAutoLoaded || !strings.Contains(started.Warning, "chrome://extensions") {
		t.Errorf("%+v", started)
	}
	w.call("browser_instance", `{"action":"new","mode":"chrome","headless":true,"profile":"default"}`).fails(spec.FailToolError, "in use by instance "+started.InstanceID)

	var list struct {
		Instances []struct {
			ID, BrowserType, Profile string
			Port, PID                int
			Connected                bool
		}
	}
	w.call("browser_instance", `{"action":"list"}`).into(&list)
	if len(list.Instances) != 1 || list.Instances[0].ID != started.InstanceID || list.Instances[0].Port != 3300 || list.Instances[0].PID == 0 || list.Instances[0].Connected {
		t.Errorf("%+v", list)
	}
	var known struct {
		Profiles []struct {
			Directory, InUse string
			Machine          bool
		}
	}
	w.call("browser_instance", `{"action":"profiles"}`).into(&known)
	if len(known.Profiles) != 2 || known.Profiles[0].InUse != "instance "+started.InstanceID || !known.Profiles[1].Machine {
		t.Errorf("%+v", known)
	}
	w.call("browser_instance", `{"action":"close","instanceId":"`+started.InstanceID+`"}`).into(&struct{}{})
	w.call("browser_instance", `{"action":"close","instanceId":"`+started.InstanceID+`"}`).fails(spec.FailNoInstance, "Instance not found")
	w.call("browser_instance", `{"action":"list"}`).into(&list)
	if len(list.Instances) != 0 {
		t.Errorf("%+v", list)
	}
}

// What the user has not allowed is not offered to a model, and one that asks for it all
// the same is told how it is. Chrome then has a profile of its own.
func TestInstanceOffersWhatIsAllowed(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	data := filepath.Join(config, "google-chrome")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "Local State"), []byte(`{"profile":{"info_cache":{"Default":{"name":"Ada"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, allowed := range []bool{false, true} {
		w := newRig(t)
		w.startWith(instance.Options{Browser: fakeChrome(t), UserProfiles: allowed, Extensions: allowed})
		definition := string(w.tools[2].Definition())
		var tool struct {
			Name        string
			InputSchema struct{ Properties map[string]any }
		}
		if err := json.Unmarshal(w.tools[2].Definition(), &tool); err != nil || tool.Name != browsertool.InstanceTool {
			t.Fatalf("%s: %v", definition, err)
		}
		if _, offered := tool.InputSchema.Properties["extensions"]; offered != allowed || strings.Contains(definition, "hold logins") != allowed {
			t.Errorf("allowed %t: %s", allowed, definition)
		}
		if allowed {
			continue
		}
		w.call("browser_instance", `{"action":"new","headless":true,"extensions":["/x"]}`).fails(spec.FailDenied, "--instance-extensions")
		w.call("browser_instance", `{"action":"new","headless":true,"profile":"google-chrome/Default"}`).fails(spec.FailDenied, "--instance-user-profiles")
		var started struct{ Profile string }
		w.call("browser_instance", `{"action":"new","mode":"chrome","headless":true}`).into(&started)
		if started.Profile != instance.DefaultProfile {
			t.Errorf("Chrome was started with the profile %q", started.Profile)
		}
	}
}
