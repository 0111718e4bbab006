package policyfile

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
)

const denyBank = `{"rules": [{"effect": "deny", "site": "bank.example.com"}]}`

// A policy that is not there, or not understood, is not a policy that allows.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty.json": "", "half.json": denyBank[:30], "large.json": strings.Repeat(" ", maxSize) + denyBank} {
		path := filepath.Join(dir, name)
		write(t, path, text)
		if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "missing.json"), nil); err == nil {
		t.Error("a file that is missing is taken")
	}
}

// What an editor does to a file while the hub runs never leaves the hub without the rules
// that held.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.json")
	write(t, path, denyBank)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f, err := Open(path, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		var got [][]policy.Rule
		if err := f.Follow(nil, func(file policy.File) error { got = append(got, file.Rules); return nil }); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		calls := 0
		if err := f.Follow(ended, func(policy.File) error { calls++; return nil }); err != nil {
			t.Fatal(err)
		}
		close(ended)
		go f.Watch(t.Context())
		for _, step := range []struct {
			what  string
			do    func()
			calls int
			err   string
		}{
			{"at first", func() {}, 1, ""},
			{"half of a file", func() { write(t, path, denyBank[:30]) }, 1, "line 1: column 31"},
			{"an empty file", func() { write(t, path, "") }, 1, "line 1: column 1"},
			{"two rules", func() {
				write(t, path, `{"rules": [{"effect": "deny", "site": "bank.example.com"}, {"effect": "ask", "class": "relay"}]}`)
			}, 2, ""},
			{"no file", func() { os.Remove(path) }, 2, "no such file"},
			{"a new file", func() {
				write(t, path+".new", denyBank)
				os.Rename(path+".new", path)
			}, 3, ""},
		} {
			step.do()
			time.Sleep(2 * interval)
			synctest.Wait()
			s := f.State()
			if len(got) != step.calls || (s.Error == "") != (step.err == "") || !strings.Contains(s.Error, step.err) {
				t.Errorf("%s: followed %d times, want %d; state %+v", step.what, len(got), step.calls, s)
			}
			if last := got[len(got)-1]; len(last) != s.Rules || last[0].Effect != policy.Deny {
				t.Errorf("%s: %+v holds, state %+v", step.what, last, s)
			}
		}
		if calls != 1 {
			t.Errorf("a hub that has ended was told of a change")
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 3 {
			t.Errorf("logged %d errors, want one for each change:\n%s", n, &log)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
