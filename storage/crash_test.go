package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// The test binary runs itself as the process that is killed, or whose disk is full.
const (
	envWriter = "STORAGE_TEST_WRITER" // path of the store to write to until killed
)

func TestMain(m *testing.M) {
	if path := os.Getenv(envWriter); path != "" {
		writeForever(path)
	}
	os.Exit(m.Run())
}

// writeForever writes pairs of values that belong together, and prints the number of
// each pair once it is told that the pair is safe.
func writeForever(path string) {
	b, err := storage.Open(path, storage.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	state, err := b.Load(context.Background(), user, time.Time{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	flying := make(chan struct{}, 20)
	for i := 0; ; i++ {
		n := strconv.Itoa(i)
		flying <- struct{}{}
		b.Write(user, state.Epoch, []storage.Change{
			storage.Tab{Domain: "d", Key: n, Title: strings.Repeat(n+",", 1+i%2000)},
			storage.Name{Public: n, Item: n},
		}, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				fmt.Println(n)
			}
			<-flying
		})
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
		// Killed at a moment of which it knows nothing: in a commit, mostly.
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

// TestDiskFull: a commit that fails says so, does not harm what is stored, and later
// ones that fit are stored.
func TestDiskFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabhub.db")
	b, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	fill(t, b, 20)
	epoch := takeOver(t, b)
	restore := limitFileSize(t, 1<<20)
	write := func(key string, n int) error {
		done := make(chan error, 1)
		b.Write(user, epoch, []storage.Change{storage.Tab{Domain: "d", Key: key, Title: strings.Repeat("x", n)}}, func(err error) { done <- err })
		return <-done
	}
	if err := write("big", 8<<20); err == nil {
		t.Fatal("8 MB went into a full disk")
	}
	if err := write("small", 10); err != nil {
		t.Errorf("after a failure: %v", err)
	}
	restore()
	if err := write("big again", 8<<20); err != nil {
		t.Errorf("after the disk has room again: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.Load(t.Context(), user, time.Time{})
	if err != nil || len(s.Tabs) != 22 {
		t.Errorf("%d tabs are left, want 22: %v", len(s.Tabs), err)
	}
}

// TestLockedByAnotherProcess: the lock holds between processes, and ends with one.
func TestLockedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabhub.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envWriter+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // it has the store now
	go func() {  // or it would stop at a full pipe
		for lines.Scan() {
		}
	}()
	if _, err := storage.Open(path, storage.Options{LockTimeout: 60 * time.Millisecond}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b, err := storage.Open(path, storage.Options{LockTimeout: time.Hour}) // waits for the process to end
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	cmd.Wait()
}
