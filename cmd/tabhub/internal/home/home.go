package home

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"tabhub/storage/private"
)

// Dir is the path of a data directory.
type Dir string

// Names of the two locks.
const (
	HubLock   = "hub.lock"
	StartLock = "start.lock"
)

// Default returns the place for data of the operating system's user.
func Default(env func(string) string) (Dir, error) {
	missing := func(name string) (Dir, error) {
		return "", fmt.Errorf("there is no place for tabhub's data, because $%s is not set; pass --data-dir", name)
	}
	switch runtime.GOOS {
	case "windows":
		if base := env("LocalAppData"); base != "" {
			return Dir(filepath.Join(base, "tabhub")), nil
		}
		return missing("LocalAppData")
	case "darwin":
		if base := env("HOME"); base != "" {
			return Dir(filepath.Join(base, "Library", "Application Support", "tabhub")), nil
		}
	default:
		if base := env("XDG_DATA_HOME"); filepath.IsAbs(base) {
			return Dir(filepath.Join(base, "tabhub")), nil
		}
		if base := env("HOME"); base != "" {
			return Dir(filepath.Join(base, ".local", "share", "tabhub")), nil
		}
	}
	return missing("HOME")
}

// Make creates the directory if need be, for its owner alone, and refuses one that
// others may write to, or that holds files which they may.
func (d Dir) Make() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("the data directory cannot be made (%w); pass another --data-dir", err)
	}
	return d.CheckPrivate()
}

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

const socketName = "hub.sock"

// Config, Store, Records, TokenFile, Clients, Entries, Grants, Pairings, HubFile, Socket, LogFile and
// Browsers are paths in the directory. Entries is a directory with the tokens of the entries that
// `tabhub install` has made, a file for each.
func (d Dir) Config() string    { return d.path("tabhub.toml") }
func (d Dir) Store() string     { return d.path("tabhub.db") }
func (d Dir) Records() string   { return d.path("record") }
func (d Dir) Clients() string   { return d.path("clients.json") }
func (d Dir) Entries() string   { return d.path("entries") }
func (d Dir) Grants() string    { return d.path("grants.json") }
func (d Dir) Pairings() string  { return d.path("pairings") }
func (d Dir) TokenFile() string { return d.path("token") }
func (d Dir) HubFile() string   { return d.path("hub.json") }
func (d Dir) Socket() string    { return d.path(socketName) }
func (d Dir) LogFile() string   { return d.path("hub.log") }
func (d Dir) Browsers() string  { return d.path("browsers") }

// ErrNoToken says that no hub has run here yet.
var ErrNoToken = errors.New("there is no token yet; it is made when the hub first runs")

// Token returns the hub's token.
func (d Dir) Token() (string, error) {
	b, err := os.ReadFile(d.TokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoToken
	}
	if err != nil {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 {
		return "", fmt.Errorf("%s holds no token; delete the file and start the hub again", d.TokenFile())
	}
	return token, nil
}

// MakeToken returns the token, and makes one if there is none. A file that others may
// read, as a restored backup's, is taken from them. The caller holds HubLock.
func (d Dir) MakeToken() (string, error) {
	token, err := d.Token()
	if errors.Is(err, ErrNoToken) {
		return d.NewToken()
	}
	if err != nil {
		return "", err
	}
	if fi, err := os.Stat(d.TokenFile()); err == nil && fi.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(d.TokenFile(), 0o600); err != nil {
			return "", fmt.Errorf("others may read the token (%w); delete the file and start the hub again", err)
		}
	}
	return token, nil
}

// NewToken replaces the token. The caller holds HubLock.
func (d Dir) NewToken() (string, error) {
	var b [32]byte
	rand.Read(b[:])
	token := base64.RawURLEncoding.EncodeToString(b[:])
	return token, d.SetToken(token)
}

// SetToken makes token the hub's. The caller holds HubLock.
func (d Dir) SetToken(token string) error {
	if err := d.write("token", []byte(token+"\n")); err != nil {
		return fmt.Errorf("the token cannot be written (%w); pass another --data-dir", err)
	}
	return nil
}

// Instance returns what tells this directory's hub from others, also after a restart,
// and makes it if there is none. The caller holds HubLock.
func (d Dir) Instance() (string, error) {
	b, err := os.ReadFile(d.path("instance"))
	if err == nil {
		if id, err := uuid.Parse(strings.TrimSpace(string(b))); err == nil {
			return id.String(), nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the hub's id cannot be read: %w", err)
	}
	id := uuid.NewString()
	if err := d.write("instance", []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("the hub's id cannot be written (%w); pass another --data-dir", err)
	}
	return id, nil
}

// Hub is what hub.json says.
type Hub struct {
	PID     int       `json:"pid"`
	Addr    string    `json:"addr"`             // host:port of its first listener
	Socket  string    `json:"socket,omitempty"` // path of hub.sock
	TLS     bool      `json:"tls,omitempty"`
	Version string    `json:"version"`
	Auto    bool      `json:"auto"` // started by a bridge
	Started time.Time `json:"started"`

	// Program is the file that the hub was started from, by a path that outlives an update,
	// and Built when that file was written. "": it does not outlive the hub.
	Program string    `json:"program,omitempty"`
	Built   time.Time `json:"built,omitzero"`
	// HandsOver says that a hub which is asked to end for an upgrade runs Program in its
	// place, see Lock.HandOver.
	HandsOver bool `json:"handsOver,omitempty"`
	// Node says that the hub is a node of a cluster, which keeps nothing of its users here.
	Node bool `json:"node,omitempty"`
}

// URL is the base of the hub's endpoints.
func (h Hub) URL() string {
	if h.TLS {
		return "https://" + h.Addr
	}
	return "http://" + h.Addr
}

// ErrNoHub says that no hub runs, or none that can be found.
var ErrNoHub = errors.New("the hub is not running")

// ReadHub returns what hub.json says. It wraps ErrNoHub if there is no such file, or
// none that makes sense.
func (d Dir) ReadHub() (Hub, error) {
	b, err := os.ReadFile(d.HubFile())
	if err != nil {
		return Hub{}, fmt.Errorf("%w: %w", ErrNoHub, err)
	}
	var h Hub
	if err := json.Unmarshal(b, &h); err != nil || h.Addr == "" {
		return Hub{}, fmt.Errorf("%w: %s makes no sense", ErrNoHub, d.HubFile())
	}
	return h, nil
}

// Running returns the hub that runs now, or wraps ErrNoHub. A directory that others may
// write to is refused: they could put a socket of theirs there.
func (d Dir) Running() (Hub, error) {
	if !d.Held(HubLock) {
		return Hub{}, ErrNoHub
	}
	if err := d.CheckPrivate(); err != nil {
		return Hub{}, err
	}
	return d.ReadHub()
}

// WriteHub writes hub.json. The caller holds HubLock.
func (d Dir) WriteHub(h Hub) error {
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	return d.write("hub.json", append(b, '\n'))
}

// RemoveHub deletes hub.json and hub.sock, so that a program that looks for a hub waits for
// HubLock, which the caller holds.
func (d Dir) RemoveHub() error {
	for _, path := range []string{d.HubFile(), d.Socket()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the data directory cannot be written (%w); pass another --data-dir", err)
		}
	}
	return nil
}

// WriteSignIn writes the page that leads to one of the hub with a secret in its address, and returns its path.
func (d Dir) WriteSignIn(page []byte) (path string, err error) {
	const name = "sign-in.html"
	return d.path(name), d.write(name, page)
}

// write replaces a file as a whole.
func (d Dir) write(name string, b []byte) error { return private.Replace(d.path(name), b, false) }

// maxLog is the size at which OpenLog and LogWriter begin a new file.
const maxLog = 1 << 20

// OpenLog opens hub.log to append to it. A large one is first renamed to hub.log.1.
func (d Dir) OpenLog() (*os.File, error) {
	if fi, err := os.Stat(d.LogFile()); err == nil && fi.Size() > maxLog {
		if err := os.Rename(d.LogFile(), d.LogFile()+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(d.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// LogWriter returns a writer to hub.log, which begins a new file when that is large. It is
// safe for concurrent use, and is never closed.
func (d Dir) LogWriter() io.Writer { return &logWriter{dir: d} }

type logWriter struct {
	dir Dir

	mu   sync.Mutex
	file *os.File // nil: none is open
	left int      // how many bytes still go into it
}

func (w *logWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil && w.left <= 0 {
		w.file.Close()
		w.file = nil
	}
	if w.file == nil {
		f, err := w.dir.OpenLog()
		if err != nil {
			return 0, err
		}
		w.file, w.left = f, maxLog
		if fi, err := f.Stat(); err == nil {
			w.left -= int(fi.Size())
		}
	}
	w.left -= len(b)
	return w.file.Write(b)
}

// Abs returns the directory at path, which may be relative.
func Abs(path string) (Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("--data-dir %s: %w", path, err)
	}
	return Dir(abs), nil
}
