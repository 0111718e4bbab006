//go:build nightly

package storage_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
)

// TestEveryCommitVerifies guards against the worst mistake of the check: to refuse a
// store that is whole.
func TestEveryCommitVerifies(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	want := map[string]int{}
	for round := range 25 {
		b := open(t, dir)
		for range 5 {
			var changes []storage.Change
			for range r.IntN(40) {
				key := fmt.Sprint(r.IntN(60))
				if r.IntN(3) == 0 {
					changes = append(changes, storage.DeleteTab{Domain: "d", Key: key})
					delete(want, key)
				} else {
					n := 1 << r.IntN(16)
					changes = append(changes, storage.Tab{Domain: "d", Key: key, Title: strings.Repeat("x", n)})
					want[key] = n
				}
			}
			storagetest.Write(t, b, spec.UserID(fmt.Sprint("other", r.IntN(4))), changes...)
			storagetest.Write(t, b, user, changes...)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b = open(t, dir)
		s, err := b.Load(t.Context(), user, time.Time{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if len(s.Tabs) != len(want) {
			t.Fatalf("round %d: %d tabs, want %d", round, len(s.Tabs), len(want))
		}
		for _, tab := range s.Tabs {
			if len(tab.Title) != want[tab.Key] {
				t.Fatalf("round %d: tab %s has %d, want %d", round, tab.Key, len(tab.Title), want[tab.Key])
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilled: what was acknowledged is there after kill -9, nothing is there by half,
// and the store opens, again and again.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabhub.db")
	acked := map[string]bool{}
	var epoch spec.Epoch
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envWriter+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Killed at a random moment, mostly in a commit.
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			acked[lines.Text()] = true
			if n == 150+37*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait()

		b, err := storage.Open(path, storage.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		s, err := b.Load(t.Context(), user, time.Time{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if s.Epoch <= epoch {
			t.Errorf("round %d: epoch %d follows %d", round, s.Epoch, epoch)
		}
		epoch = s.Epoch
		names := map[string]bool{}
		for _, n := range s.Names {
			names[n.Public] = true
		}
		tabs := map[string]bool{}
		for _, tab := range s.Tabs {
			tabs[tab.Key] = true
			if i, _ := strconv.Atoi(tab.Key); tab.Title != strings.Repeat(tab.Key+",", 1+i%2000) {
				t.Errorf("tab %s is not what was written", tab.Key)
			}
		}
		if len(names) != len(tabs) {
			t.Errorf("%d names and %d tabs: a write was applied by half", len(names), len(tabs))
		}
		for n := range acked {
			if !tabs[n] || !names[n] {
				t.Errorf("%s was acknowledged and is lost", n)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acked) < 150 {
		t.Errorf("only %d writes were acknowledged: nothing was tested", len(acked))
	}
}
