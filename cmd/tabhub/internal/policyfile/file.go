package policyfile

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/storage/private"
)

// interval is how often a file is looked at.
const interval = time.Second

// maxSize is how large a file may be.
const maxSize = 1 << 20

// File is a policy file that is followed. Its methods are safe for concurrent use.
type File struct {
	// static after construction
	path string
	log  *slog.Logger

	mu        sync.Mutex
	file      policy.File // the last good one
	state     State
	seen      os.FileInfo // what the file was when it was last read; nil: it was not there
	followers []follower
}

type follower struct {
	ended <-chan struct{}
	use   func(policy.File) error
}

// State is how a File is.
type State struct {
	Path  string    `json:"path"`
	Rules int       `json:"rules"`           // that hold
	Read  time.Time `json:"read"`            // when they were read
	Error string    `json:"error,omitempty"` // why those of the file, as it is now, do not hold
}

// Open reads a file. One that is missing or wrong is an error. A nil log discards.
func Open(path string, log *slog.Logger) (*File, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, log: log, state: State{Path: path}}
	f.seen, _ = os.Stat(path)
	if err := f.load(); err != nil {
		return nil, fmt.Errorf("the policy file %s: %w", path, err)
	}
	return f, nil
}

// State looks at the file, and returns how it is.
func (f *File) State() State {
	f.look()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Follow calls use with what the file says, and again when the file has changed, until
// ended is closed, and never twice at a time. What use fails with at first is returned,
// later it is logged. use must not call f.
func (f *File) Follow(ended <-chan struct{}, use func(policy.File) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	f.followers = append(f.followers, follower{ended, use})
	return use(f.file)
}

// forget forgets followers that have ended. It needs f.mu.
func (f *File) forget() {
	f.followers = slices.DeleteFunc(f.followers, func(one follower) bool {
		select {
		case <-one.ended:
			return true
		default:
			return false
		}
	})
}

// Watch reads the file again when it has changed, until ctx is done.
func (f *File) Watch(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.look()
		case <-ctx.Done():
			return
		}
	}
}

// look reads the file if it is another than when it was last read.
func (f *File) look() {
	now, err := os.Stat(f.path)
	if err != nil {
		now = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if same(f.seen, now) {
		return
	}
	f.seen = now // from before it is read, so that what changes meanwhile is read again
	if err := f.load(); err != nil {
		f.state.Error = oneLine(err)
		f.log.Error("the policy file cannot be used; what was read before holds", "file", f.path, "err", f.state.Error)
		return
	}
	f.log.Info("the policy file was read again", "file", f.path, "rules", len(f.file.Rules))
	f.forget()
	for _, one := range f.followers {
		if err := one.use(f.file); err != nil {
			f.log.Error("the rules of the policy file are not in force", "file", f.path, "err", err)
		}
	}
}

// load reads the file. It needs f.mu, or a File that nobody else has.
func (f *File) load() error {
	text, err := private.Read(f.path)
	if err != nil {
		return err
	}
	if len(text) > maxSize {
		return fmt.Errorf("it is larger than %d KiB", maxSize>>10)
	}
	file, err := Parse(text)
	if err != nil {
		return err
	}
	f.file = file
	f.state = State{Path: f.path, Rules: len(file.Rules), Read: time.Now()}
	return nil
}

// same reports whether a file is the same, unchanged; nil is none.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
