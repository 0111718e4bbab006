package storage_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
)

const user = spec.LocalUser

// fill writes what a hub in use has: tabs of one page and of many, names, a log.
func fill(t testing.TB, b *storage.Bolt, tabs int) {
	t.Helper()
	epoch := takeOver(t, b)
	done := make(chan error, tabs)
	for i := range tabs {
		b.Write(user, epoch, storagetest.Registration(i), func(err error) { done <- err })
	}
	for range tabs {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// takeOver makes the test the user's writer.
func takeOver(t testing.TB, b *storage.Bolt) spec.Epoch {
	t.Helper()
	s, err := b.Load(t.Context(), user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Epoch
}

func TestFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	info, err := os.Stat(filepath.Join(dir, "tabhub.db"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v: others can read what the user's tabs offer", info.Mode())
	}
}

func TestLockedNamesOwner(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tabhub.db")
	first := open(t, dir)
	fill(t, first, 1)
	for _, c := range []struct{ hub, want string }{
		{"", "another process"},
		{"not json", "another process"},
		{`{"pid":4321,"addr":"127.0.0.1:3300","version":"1","auto":true}`, "process 4321 at 127.0.0.1:3300"},
	} {
		if c.hub != "" {
			if err := os.WriteFile(filepath.Join(dir, "hub.json"), []byte(c.hub), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := storage.Open(path, storage.Options{LockTimeout: 60 * time.Millisecond})
		if !errors.Is(err, storage.ErrLocked) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "tabhub stop") {
			t.Errorf("hub.json %q: %v", c.hub, err)
		}
	}
	// The refused attempts have not hurt the owner, and the next one gets it.
	fill(t, first, 2)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := open(t, dir).Load(t.Context(), user, time.Time{})
	if err != nil || len(s.Tabs) != 2 {
		t.Errorf("after the owner left: %v, %+v", err, s)
	}
}

// sample returns the bytes of a store in use, and its page size.
func sample(t *testing.T) ([]byte, int) {
	dir := t.TempDir()
	b := open(t, dir)
	fill(t, b, 30)
	for range 3 { // make free pages
		storagetest.Write(t, b, user, storage.DeleteTab{Domain: "shop1_example_com", Key: "peer1/7"})
		fill(t, b, 2)
	}
	storagetest.Write(t, b, user, storage.Tab{Domain: "big", Key: "k", Tools: []json.RawMessage{bytes.Repeat([]byte("x"), 50_000)}})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "tabhub.db"))
	if err != nil {
		t.Fatal(err)
	}
	return data, os.Getpagesize()
}

// openRaw opens a store whose file has this content, loads it, and checks that the
// file has the same content after a failure.
func openRaw(t *testing.T, data []byte) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tabhub.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := storage.Open(path, storage.Options{})
	if err == nil {
		_, err = b.Load(t.Context(), user, time.Time{})
		b.Close()
	}
	if err != nil {
		after, readErr := os.ReadFile(path)
		if readErr != nil || !bytes.Equal(after, data) {
			t.Error("the file was changed: what could be rescued is lost")
		}
	}
	return err
}

func TestCorruptFileIsRefused(t *testing.T) {
	data, page := sample(t)
	cut := func(n int) []byte { return bytes.Clone(data[:n]) }
	patch := func(at int, with []byte) []byte {
		d := bytes.Clone(data)
		copy(d[at:], with)
		return d
	}
	zero := make([]byte, page)
	for name, d := range map[string][]byte{
		"text":                 []byte("hello"),
		"a page of text":       bytes.Repeat([]byte("hello, "), page),
		"zeros":                make([]byte, len(data)),
		"one byte":             {0},
		"cut in the meta page": cut(100),
		"cut after a page":     cut(page),
		"cut after two":        cut(2 * page),
		"cut after three":      cut(3 * page),
		"cut in the middle":    cut(20 * page),
		"both metas":           patch(0, make([]byte, 2*page)),
		"tail is random":       patch(2*page, randomBytes(len(data)-2*page)),
	} {
		t.Run(name, func(t *testing.T) {
			if err := openRaw(t, d); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "move the file away") {
				t.Errorf("got %v", err)
			}
		})
	}
	// Any page may go bad. One that is in use is noticed; none is a crash.
	noticed := 0
	for at := 2 * page; at+page <= len(data); at += page {
		for _, with := range [][]byte{zero, randomBytes(page), data[:page]} {
			err := openRaw(t, patch(at, with))
			switch {
			case errors.Is(err, storage.ErrCorrupt):
				noticed++
			case err != nil:
				t.Errorf("page %d: %v", at/page, err)
			}
		}
	}
	if noticed < 60 {
		t.Errorf("only %d damages were noticed", noticed)
	}
	// So may any byte.
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		d := bytes.Clone(data)
		d[r.IntN(len(d))] ^= 1 << r.IntN(8)
		if err := openRaw(t, d); err != nil && !errors.Is(err, storage.ErrCorrupt) {
			t.Error(err)
		}
	}
}

func TestOneMetaPageIsEnough(t *testing.T) {
	data, page := sample(t)
	for i := range 2 {
		d := bytes.Clone(data)
		copy(d[i*page:], make([]byte, page))
		// Without the newer page the file may show the commit before, or some of its
		// pages may have been reused; it must not crash.
		if err := openRaw(t, d); err != nil && !errors.Is(err, storage.ErrCorrupt) {
			t.Error(err)
		}
	}
}

func TestForeignFiles(t *testing.T) {
	bolt := func(fill func(tx *bbolt.Tx) error) []byte {
		path := filepath.Join(t.TempDir(), "other.db")
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(fill); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	meta := func(version uint64) []byte {
		return bolt(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("meta"))
			if err != nil {
				return err
			}
			return b.Put([]byte("version"), binary.AppendUvarint(nil, version))
		})
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"never used":      {nil, nil},
		"empty":           {bolt(func(*bbolt.Tx) error { return nil }), nil},
		"this version":    {meta(2), nil},
		"older":           {meta(1), storage.ErrOlder},
		"newer":           {meta(3), storage.ErrNewer},
		"much newer":      {meta(1 << 40), storage.ErrNewer},
		"no version":      {meta(0), storage.ErrCorrupt},
		"another program": {bolt(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("wallet")); return err }), storage.ErrCorrupt},
	} {
		if err := openRaw(t, c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if _, err := storage.Open(filepath.Join(dir, "no", "tabhub.db"), storage.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := storage.Open(dir, storage.Options{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("a directory: %v", err)
	}
}

func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
