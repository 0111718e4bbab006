//go:build linux

package browsertool_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tabhub/hub/builtin/instance"
	"tabhub/spec"
)

// fakeChrome makes an executable that is branded Chrome as far as its name goes.
func fakeChrome(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "google-chrome")
	script := "#!/bin/sh\nexec sleep 1000\n"
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

// A client that starts Chrome is told what to do where the extension cannot be loaded for it.
func TestChrome(t *testing.T) {
	w := newRig(t)
	w.startWith(instance.Options{Browser: fakeChrome(t)})
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
		}
	}
	w.call("browser_instance", `{"action":"profiles"}`).into(&known)
	if len(known.Profiles) != 1 || known.Profiles[0].InUse != "instance "+started.InstanceID {
		t.Errorf("%+v", known)
	}
	w.call("browser_instance", `{"action":"close","instanceId":"`+started.InstanceID+`"}`).into(&struct{}{})
	w.call("browser_instance", `{"action":"close","instanceId":"`+started.InstanceID+`"}`).fails(spec.FailNoInstance, "Instance not found")
	w.call("browser_instance", `{"action":"new","headless":true,"profile":"google-chrome/Default"}`).fails(spec.FailInvalidArguments, "user's own browsers")
	w.call("browser_instance", `{"action":"list"}`).into(&list)
	if len(list.Instances) != 0 {
		t.Errorf("%+v", list)
	}
}
