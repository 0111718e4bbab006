package record

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tabhub/spec"
)

// Dir returns the directory of a user's record below base. User ids hold characters that
// not every file system takes.
func Dir(base string, user spec.UserID) string {
	sum := sha256.Sum256([]byte(user))
	return filepath.Join(base, hex.EncodeToString(sum[:8]))
}

// segment is a part of the record: a file of lines, and perhaps one of payloads. Its epoch
// is one opening of the log, which alone writes to it.
type segment struct {
	dir        string
	epoch, seq uint64
}

const (
	lineFiles    = ".jsonl"
	payloadFiles = ".payloads.jsonl"
)

func (s segment) base() string { return fmt.Sprintf("%08d-%08d", s.epoch, s.seq) }

// name returns the name of the file of lines.
func (s segment) name() string { return s.base() + lineFiles }

func (s segment) linesFile() string    { return filepath.Join(s.dir, s.base()+lineFiles) }
func (s segment) payloadsFile() string { return filepath.Join(s.dir, s.base()+payloadFiles) }

// segments lists the segments of a record, oldest first; none without the directory.
func segments(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []segment
	for _, e := range entries {
		s := segment{dir: dir}
		if n, _ := fmt.Sscanf(e.Name(), "%d-%d", &s.epoch, &s.seq); n == 2 && e.Name() == s.name() {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b segment) int { return strings.Compare(a.base(), b.base()) })
	return found, nil
}

func (s segment) stat() (size int64, changed time.Time, err error) {
	fi, err := os.Stat(s.linesFile())
	if err != nil {
		return 0, time.Time{}, err
	}
	size, changed = fi.Size(), fi.ModTime()
	if fi, err := os.Stat(s.payloadsFile()); err == nil {
		size += fi.Size()
		if fi.ModTime().After(changed) {
			changed = fi.ModTime()
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, time.Time{}, err
	}
	return size, changed, nil
}

func (s segment) first() (n uint64) {
	_, _ = s.lines(context.Background(), func(raw []byte) error {
		if l, ok := decodeLine(raw); ok {
			n = l.N
		}
		return io.EOF
	})
	return n
}

// lines reads them one by one.
func (s segment) lines(ctx context.Context, yield func(raw []byte) error) (torn int, err error) {
	return eachLineOf(ctx, s.linesFile(), yield)
}

func (s segment) payloads(ctx context.Context, yield func(raw []byte) error) error {
	_, err := eachLineOf(ctx, s.payloadsFile(), yield)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachLineOf is the method lines of a piece, for a file. The bytes are valid until yield returns.
func eachLineOf(ctx context.Context, path string, yield func(raw []byte) error) (torn int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return eachLineIn(ctx, file, yield)
}

func eachLineIn(ctx context.Context, file io.Reader, yield func(raw []byte) error) (torn int, err error) {
	var long []byte // the beginning of a line that is longer than the buffer
	for in := bufio.NewReaderSize(file, 64<<10); ; {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		raw, err := in.ReadSlice('\n')
		if len(long) > 0 || err == bufio.ErrBufferFull {
			long = append(long, raw...)
			raw = long
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF:
			return len(raw), nil
		case err != nil:
			return 0, err
		}
		if err := yield(raw[:len(raw)-1]); err != nil {
			return 0, err
		}
		long = long[:0]
	}
}

// decodeLine decodes a line; ok is false if it is none of a record.
func decodeLine(raw []byte) (l Line, ok bool) {
	return l, json.Unmarshal(raw, &l) == nil && l.N > 0
}

// Head identifies a line, and through it all before it.
type Head struct {
	N    uint64 `json:"n"` // its number; 0: before the first one
	Hash Hash   `json:"hash"`
}

// next returns the head after one more line, which may be damaged.
func (h Head) next(raw []byte) Head {
	if l, ok := decodeLine(raw); ok {
		h.N = l.N
	} else {
		h.N++
	}
	h.Hash = sha256.Sum256(raw)
	return h
}

// Hash is the SHA-256 of a line, without its line feed. Its text is in hex, "" of the zero
// Hash, which stands before the first line.
type Hash [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) && len(b) != 0 {
		return errors.New("a hash has 64 hexadecimal digits")
	}
	*h = Hash{}
	copy(h[:], b)
	return nil
}

func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}
