package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tabhub/storage/filelock"
)

const (
	maxSegment     = 16 << 20       // bytes of lines
	minSegment     = 64 << 10       // however little is kept
	maxSegmentAge  = 24 * time.Hour // so that lines go when their days are over
	segmentsOfKept = 16             // as many segments as there may be at least
)

// file is what files needs of an *os.File that it appends to.
type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

func create(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
}

// dir is a directory with the files of a record, as a source.
type dir string

func (d dir) pieces(context.Context) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		all, err := segments(string(d))
		if err != nil {
			yield(nil, err)
		}
		for _, s := range slices.Backward(all) {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// end tells where the newest file ends, "" without one.
func (d dir) end() string {
	for p := range d.pieces(context.Background()) {
		if p != nil {
			size, _, _ := p.stat()
			return fmt.Sprint(p.name(), size)
		}
	}
	return ""
}

// files is a medium: the directory of a record, to which it appends as one epoch.
type files struct {
	dir
	key    []byte // of digests; nil: that of the directory
	max    int64  // see Options.Max
	create func(path string) (file, error)
	lock   *os.File // held while an epoch begins, and while lines are written, so that these are not of two epochs

	segment  segment
	file     file // of the segment; nil: there is none yet
	payloads file // of the segment; nil: there is none yet
	size     int64
	since    time.Time // when the segment began
	failed   bool      // a write has failed: the bytes beyond size are to be cut off
	full     []file    // earlier segments that are not synced yet
	unnamed  bool      // the directory is not synced since the segment began
}

// begin takes the next epoch.
func (f *files) begin(ctx context.Context, note *Note) (Head, []byte, error) {
	path := string(f.dir)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return Head{}, nil, err
	}
	if f.lock == nil {
		lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return Head{}, nil, err
		}
		f.lock = lock
	}
	if err := filelock.Lock(f.lock, true, true); err != nil {
		return Head{}, nil, err
	}
	defer filelock.Unlock(f.lock)
	if f.key == nil {
		key, err := logKey(filepath.Join(path, "key"))
		if err != nil {
			return Head{}, nil, err
		}
		f.key = key
	}
	before, err := segments(path)
	if err != nil {
		return Head{}, nil, err
	}
	next := segment{path, 1, 1}
	if n := len(before); n > 0 {
		next.epoch = before[n-1].epoch + 1
	}
	file, err := f.create(next.linesFile()) // of two at once one fails, and tries again
	if err != nil {
		return Head{}, nil, err
	}
	head, err := f.resume(ctx, note)
	if err != nil {
		return Head{}, nil, errors.Join(err, file.Close(), os.Remove(next.linesFile()))
	}
	f.next(next, file)
	return head, f.key, nil
}

// next makes a segment the one that is written.
func (f *files) next(s segment, lines file) {
	f.segment, f.file, f.size, f.since, f.unnamed = s, lines, 0, time.Now(), true
}

// resume looks for the last line of the epochs before, and notes what is wrong with it.
func (f *files) resume(ctx context.Context, note *Note) (last Head, err error) {
	path := string(f.dir)
	before, err := segments(path)
	if err != nil {
		return Head{}, err
	}
	for i := len(before) - 1; i >= 0 && last.N == 0; i-- {
		file := before[i].linesFile()
		torn, err := eachLineOf(ctx, file, func(raw []byte) error { last = last.next(raw); return nil })
		if err != nil {
			return Head{}, err
		}
		if torn > 0 && note.Torn == 0 {
			note.Torn = torn
			fi, err := os.Stat(file)
			if err == nil {
				err = os.Truncate(file, fi.Size()-int64(torn))
			}
			if err != nil {
				return Head{}, err
			}
		}
	}
	head, err := ReadHead(path)
	if errors.Is(err, fs.ErrNotExist) && last.N == 0 {
		err = writeHead(path, Head{}) // so that lines without a head are those of one that was deleted
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		note.Why = err.Error()
	}
	if head.N > last.N {
		note.Missing = head.N - last.N
		last.N = head.N
	}
	return last, nil
}

// append writes to the segment, or to the next one if that is full.
func (f *files) append(_ context.Context, _ uint64, lines []byte) (began bool, err error) {
	// Another opening takes the next epoch, and goes on from the last line that is there then.
	if err := filelock.Lock(f.lock, true, true); err != nil {
		return false, err
	}
	defer filelock.Unlock(f.lock)
	if _, err := os.Lstat(segment{string(f.dir), f.segment.epoch + 1, 1}.linesFile()); err == nil {
		return false, errSuperseded
	}
	if f.failed {
		if err := f.file.Truncate(f.size); err != nil {
			return false, err
		}
		f.failed = false
	}
	full := max(minSegment, min(maxSegment, f.max/segmentsOfKept))
	if f.size >= full || time.Since(f.since) >= maxSegmentAge {
		if err := f.rotate(); err != nil {
			return false, err
		}
	}
	began = f.size == 0
	if _, err := f.file.Write(lines); err != nil {
		f.failed = true
		return false, err
	}
	f.size += int64(len(lines))
	return began, nil
}

// rotate begins the next segment.
func (f *files) rotate() error {
	next := segment{string(f.dir), f.segment.epoch, f.segment.seq + 1}
	file, err := f.create(next.linesFile())
	if err != nil {
		return err
	}
	f.full = append(f.full, f.file)
	f.next(next, file)
	if p := f.payloads; p != nil {
		f.payloads = nil
		return p.Close()
	}
	return nil
}

func (f *files) appendPayloads(_ context.Context, lines []byte) (err error) {
	if f.payloads == nil {
		if f.payloads, err = f.create(f.segment.payloadsFile()); err != nil {
			f.payloads = nil
			return err
		}
	}
	_, err = f.payloads.Write(lines)
	return err
}

// sync writes the head after the lines. It does not matter if the file system cannot sync the
// directory: should a crash take a new file, the head shows that lines are missing.
func (f *files) sync(head Head) error {
	for len(f.full) > 0 {
		if err := f.full[0].Sync(); err != nil {
			return err
		}
		err := f.full[0].Close()
		f.full = f.full[1:]
		if err != nil {
			return err
		}
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	if f.unnamed {
		f.unnamed = false
		syncDir(string(f.dir))
	}
	return writeHead(string(f.dir), head)
}

func (f *files) removePayloads(_ context.Context, old []piece) error {
	for _, p := range old {
		if p == f.segment && f.payloads != nil {
			err := f.payloads.Close()
			if f.payloads = nil; err != nil {
				return err
			}
		}
		if err := os.Remove(p.(segment).payloadsFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *files) remove(ctx context.Context, old []piece) error {
	for i, p := range old {
		if err := f.removePayloads(ctx, old[i:i+1]); err != nil {
			return err
		}
		if err := os.Remove(p.(segment).linesFile()); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) now(time.Time) time.Time { return time.Now() }

func (f *files) close() error {
	var errs []error
	for _, open := range append(f.full, f.file, f.payloads) {
		if open != nil {
			errs = append(errs, open.Close())
		}
	}
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}
