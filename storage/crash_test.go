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
// each pair once the store has acknowledged it.
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
