package storage

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"tabhub/spec"
	"tabhub/storage/private"
)

// Errors of Open.
var (
	// ErrLocked: another process has the store open. The error's text names it.
	ErrLocked = errors.New("store is in use by another process")
	// ErrCorrupt: the file is not a store or is damaged. It was left untouched.
	ErrCorrupt = errors.New("store is damaged")
	// ErrNewer: a newer version of the program wrote the file. It was left untouched.
	ErrNewer = errors.New("store was written by a newer version")
	// ErrOlder: an older version of the program wrote the file. It was left untouched.
	ErrOlder = errors.New("store was written by an older version")
)

const schemaVersion = 2

// maxQueued is how many bytes, about, may wait to be written; a Write past it fails with
// ErrBacklog.
const maxQueued = 64 << 20

const defaultLockTimeout = 2 * time.Second

// Options configure a Bolt. The zero value is usable.
type Options struct {
	// LockTimeout is how long Open waits for another process to release the file; 0 means
	// 2 seconds.
	LockTimeout time.Duration
}

// Bolt is a DomainToolStorage in one bbolt file.
type Bolt struct {
	// Static after construction.
	path string
	db   *bbolt.DB
	q    *queue
	stop sync.Once
	err  error // of the close; read after stop
}

var _ DomainToolStorage = (*Bolt)(nil)

// Open opens the store at path, or creates it; the directory must exist. A file
// that another process has open is ErrLocked, a damaged one ErrCorrupt, one of a
// newer version ErrNewer, one of an older version ErrOlder; the error's text says what to do, and the file is left as
// it was. Close it after use.
func Open(path string, opts Options) (*Bolt, error) {
	if opts.LockTimeout == 0 {
		opts.LockTimeout = defaultLockTimeout
	}
	if err := check(path, opts.LockTimeout); err != nil {
		return nil, err
	}
	db, err := openBolt(path, opts.LockTimeout, false)
	if err != nil {
		return nil, err
	}
	// Grow in small steps: most stores are a few hundred kilobytes.
	db.AllocSize = 1 << 20
	b := &Bolt{path: path, db: db}
	b.q = newQueue(maxQueued, b.commit)
	return b, nil
}

// check tells whether the file may be opened for writing, without writing to it.
func check(path string, timeout time.Duration) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return corrupt(path, errors.New("not a regular file"))
	}
	if info.Size() == 0 { // made by a process that died at once
		return nil
	}
	// bbolt's shared lock keeps writers away while the file is walked.
	db, err := openBolt(path, timeout, true)
	if err != nil {
		return err
	}
	defer db.Close()
	// The size again: under the lock no other process changes it.
	if info, err = file.Stat(); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if err := verify(file, info.Size(), db.Info().PageSize); err != nil {
		return corrupt(path, err)
	}
	return guard(path, func() error { return db.View(func(tx *bbolt.Tx) error { return checkVersion(path, tx) }) })
}

func checkVersion(path string, tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		if k, _ := tx.Cursor().First(); k != nil {
			return corrupt(path, errors.New("another program's file"))
		}
		return nil
	}
	v, n := binary.Uvarint(meta.Get(keyVersion))
	switch {
	case n <= 0 || v == 0:
		return corrupt(path, errors.New("no schema version"))
	case v > schemaVersion:
		return fmt.Errorf("%w: %s has schema %d, this program knows %d; use the newer program, or another data directory",
			ErrNewer, path, v, schemaVersion)
	case v < schemaVersion:
		return fmt.Errorf("%w: %s has schema %d, this program knows %d; move the file away to start afresh, or use the older program",
			ErrOlder, path, v, schemaVersion)
	}
	return nil
}

func openBolt(path string, timeout time.Duration, readOnly bool) (db *bbolt.DB, err error) {
	err = guard(path, func() error {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:      timeout,
			ReadOnly:     readOnly,
			FreelistType: bbolt.FreelistMapType,
			NoStatistics: true,
		})
		return err
	})
	if err == nil || errors.Is(err, ErrCorrupt) {
		return db, err
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: %s is held by %s; stop that hub with `tabhub stop`, or use another data directory",
			ErrLocked, path, lockOwner(path))
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok { // the system's, not about content
		return nil, fmt.Errorf("open store: %w", err)
	}
	return nil, corrupt(path, err)
}

func corrupt(path string, why error) error {
	return fmt.Errorf("%w: %s: %w; move the file away to start afresh, or put a backup in its place", ErrCorrupt, path, why)
}

// guard runs f, which reads the file through bbolt's memory map, and returns
// ErrCorrupt if what it reads makes bbolt panic or the map fault.
func guard(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = corrupt(path, fmt.Errorf("%v", r))
		}
	}()
	return f()
}

// lockOwner describes the process that has the store open, as hub.json beside it says.
func lockOwner(path string) string {
	var hub struct {
		PID  int    `json:"pid"`
		Addr string `json:"addr"`
	}
	file := filepath.Join(filepath.Dir(path), "hub.json")
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &hub) != nil || hub.PID == 0 {
		return "another process (there is no hub.json beside it that would name it)"
	}
	if hub.Addr == "" {
		return fmt.Sprintf("process %d (by %s)", hub.PID, file)
	}
	return fmt.Sprintf("process %d at %s (by %s)", hub.PID, hub.Addr, file)
}

// Write implements DomainToolStorage. A commit follows at once if there is a
// done, else within a tenth of a second.
func (b *Bolt) Write(user spec.UserID, epoch spec.Epoch, changes []Change, done func(error)) {
	b.q.write(user, epoch, changes, done)
}

// Load implements DomainToolStorage. It does not write the epoch that it hands out,
// which would cost the start of a hub a sync: the first commit under it does. If the
// process dies before, nothing was written under the epoch, and its holder died too,
// because the file's lock lets no other process write; so the epoch can be used again.
func (b *Bolt) Load(ctx context.Context, user spec.UserID, stale time.Time) (*State, error) {
	var stored spec.Epoch
	s := &State{}
	err := b.view(user, func(u *bbolt.Bucket) (err error) {
		stored, err = readEpoch(u)
		return err
	})
	if err == nil {
		// The queue accepts nothing for the user before raise, so stored is up to date.
		s.Epoch = b.q.raise(user, stored)
		err = b.q.flush(ctx)
	}
	if err == nil {
		err = b.view(user, func(u *bbolt.Bucket) error { return readState(u, s) })
	}
	if err != nil {
		return nil, fmt.Errorf("load state of user %q: %w", user, err)
	}
	if deletions := s.Prune(stale); len(deletions) > 0 {
		b.Write(user, s.Epoch, deletions, nil)
	}
	return s, nil
}

// view reads a user's bucket, if anything was written for the user yet, in one
// transaction. An error of read becomes ErrCorrupt.
func (b *Bolt) view(user spec.UserID, read func(*bbolt.Bucket) error) error {
	err := guard(b.path, func() error {
		return b.db.View(func(tx *bbolt.Tx) error {
			users := tx.Bucket(bucketUsers)
			if users == nil {
				return nil
			}
			if u := users.Bucket([]byte(user)); u != nil {
				if err := read(u); err != nil {
					return corrupt(b.path, err)
				}
			}
			return nil
		})
	})
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// Close implements DomainToolStorage.
func (b *Bolt) Close() error {
	b.stop.Do(func() {
		b.q.close()
		if err := b.db.Close(); err != nil {
			b.err = fmt.Errorf("close store: %w", err)
		}
	})
	return b.err
}

// commit applies a batch in one transaction. Only the queue's goroutine calls it.
func (b *Bolt) commit(batch *batch) error {
	err := guard(b.path, func() error {
		return b.db.Update(func(tx *bbolt.Tx) error { return writeBatch(tx, batch) })
	})
	if err != nil {
		return fmt.Errorf("write store %s: %w", b.path, private.Explain(err))
	}
	return nil
}
