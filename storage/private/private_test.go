//go:build unix

package private_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/storage/private"
)

// stranger is the id of a user who is neither root nor the one of the tests.
const stranger = 65534

// needRoot skips a test that gives files to another user.
func needRoot(t *testing.T) {
	t.Helper()
	switch {
	case os.Geteuid() == 0:
	case os.Getenv("CI") == "true":
		t.Fatal("this test gives files to another user, which only root may")
	default:
		t.Skip("this test gives files to another user, which only root may")
	}
}

func check(t *testing.T, what string, err error, refused string) {
	t.Helper()
	switch {
	case refused == "" && err != nil:
		t.Errorf("%s is refused: %v", what, err)
	case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
		t.Errorf("%s: %v, want an error with %q", what, err, refused)
	}
}

// What others can read is no secret, and what they can write they can have made up.
func TestReadRefusesFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a secret")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	type want struct{ secret, file string }
	readable, writable := "chmod 600 '"+path+"'", "chmod go-w '"+path+"'"
	modes := map[os.FileMode]want{
		0o600: {}, 0o400: {},
		0o644: {readable, ""}, 0o604: {readable, ""},
		0o620: {readable, writable}, 0o602: {readable, writable}, 0o666: {readable, writable},
	}
	if os.Geteuid() == 0 {
		modes[0o640] = want{} // a service that is no root reads it as one of the group
	} else {
		modes[0o640] = want{readable, ""}
	}
	for mode, want := range modes {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		text, err := private.ReadSecret(path)
		check(t, "a secret with mode "+mode.String(), err, want.secret)
		if err == nil && string(text) != "secret" {
			t.Errorf("the file holds %q", text)
		}
		_, err = private.Read(path)
		check(t, "a file with mode "+mode.String(), err, want.file)
	}
	needRoot(t)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	_, err := private.ReadSecret(path)
	check(t, "a stranger's secret", err, "belongs to another user")
	_, err = private.Read(path)
	check(t, "a stranger's file", err, "belongs to another user")
}

// A user who can rename a directory of the path can put another in its place.
func TestCheckPath(t *testing.T) {
	needRoot(t)
	top := t.TempDir()
	// t.TempDir is below a directory that others cannot enter.
	for _, dir := range []string{filepath.Dir(top), top} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mkdir := func(path string, mode os.FileMode, uid int) {
		t.Helper()
		path = filepath.Join(top, path)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, path string, uid int) {
		t.Helper()
		path = filepath.Join(top, path)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	me := os.Geteuid()
	mkdir("mine", 0o755, me)
	mkdir("stranger", 0o755, stranger)
	mkdir("stranger/mine", 0o700, me)
	mkdir("group", 0o775, me)
	mkdir("group/mine", 0o700, me)
	mkdir("all", 0o777, me)
	mkdir("all/mine", 0o700, me)
	mkdir("sticky", 0o777|os.ModeSticky, me)
	mkdir("sticky/mine", 0o700, me)
	mkdir("sticky/stranger", 0o777, stranger)
	mkdir("closed", 0o700, me)
	mkdir("closed/all", 0o777, me)
	mkdir("closed/all/mine", 0o700, me)
	mkdir("closed/stranger", 0o755, stranger)
	mkdir("ann", 0o775, stranger)
	mkdir("ann/mine", 0o700, me)
	link("mine", "toMine", me)
	link("../all/mine", "mine/toAll", me)
	link("mine", "ofStranger", stranger)
	link("../mine", "sticky/ofStranger", stranger)
	link("loop", "loop", me)
	if err := os.WriteFile(filepath.Join(top, "mine", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, refused := range map[string]string{
		"mine":              "",
		"mine/new/dir":      "",
		"stranger":          "another user",
		"stranger/mine":     "another user",
		"stranger/new":      "another user",
		"group":             "chmod go-w",
		"group/mine":        "chmod go-w",
		"group/new":         "chmod go-w",
		"all/mine":          "chmod go-w",
		"sticky":            "chmod go-w",
		"sticky/mine":       "",
		"sticky/new":        "",
		"sticky/stranger":   "another user",
		"closed/all":        "",
		"closed/all/mine":   "",
		"closed/stranger":   "another user",
		"toMine":            "",
		"toMine/new":        "",
		"mine/toAll":        "chmod go-w",
		"ofStranger":        "another user",
		"sticky/ofStranger": "another user",
		"loop":              "too many",
		"mine/file":         "not a directory",
	} {
		check(t, path, private.CheckPath(filepath.Join(top, path)), refused)
	}
	for path, refused := range map[string]string{"ann/mine": "", "ann": "chmod go-w", "stranger/mine": "", "all/mine": "chmod go-w", "sticky/stranger": "chmod go-w"} {
		check(t, path, private.CheckPath(filepath.Join(top, path), stranger), refused)
	}
	if err := os.Chown(filepath.Join(top, "ann"), stranger, 100); err != nil { // the group of many
		t.Fatal(err)
	}
	check(t, "ann/mine", private.CheckPath(filepath.Join(top, "ann", "mine"), stranger), "chmod go-w")
}

// Root that keeps the environment of a user does not write files into that user's home which the
// user cannot read.
func TestCheckHome(t *testing.T) {
	needRoot(t)
	home := t.TempDir()
	if err := private.CheckHome(home); err != nil {
		t.Errorf("root's own: %v", err)
	}
	if err := os.Chown(home, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	if err := private.CheckHome(home); err == nil || !strings.Contains(err.Error(), home) {
		t.Errorf("another's: %v", err)
	}
	if err := private.CheckHome(filepath.Join(home, "none")); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
}
