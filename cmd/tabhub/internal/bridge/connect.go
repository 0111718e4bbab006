package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/face/httpd"
)

// Connector finds the hub of a data directory, and starts one if none runs. It is for one
// goroutine at a time.
type Connector struct {
	Dir     home.Dir
	Version string // of this bridge; a newer one has an older hub replaced
	// Program is the file that this bridge was started from, and Built when it was written.
	// They tell the age where versions do not. "": the file does not outlive the bridge.
	Program string
	Built   time.Time
	// Start starts a hub and returns when it listens. At most one process of a data
	// directory runs it at a time.
	Start func(ctx context.Context) error
	Token string // the client's credential; "": it has none
	// Browsers are the names of the browsers that the client is for, separated by commas; "":
	// all.
	Browsers string
	// Session tells the client's session from others, also to the hubs that follow the
	// first: 32 hexadecimal digits. Began is when it began.
	Session string
	Began   time.Time
	Log     *slog.Logger

	warned string // what warn has said last
}

const (
	dialTimeout    = 2 * time.Second
	connectTimeout = 20 * time.Second // for finding or starting a hub
	drainTimeout   = 15 * time.Second // for an older hub to end
	attempts       = 3                // to start a hub
	retryEvery     = 25 * time.Millisecond
)

// Connect returns a stream to the hub. Its error says what the user can do.
func (c *Connector) Connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := c.attach(ctx, nil)
	if err == nil {
		return conn, nil
	}
	c.Log.Debug("no hub to attach to", "err", err)
	if err := c.Dir.Make(); err != nil {
		return nil, err
	}
	lock, err := c.Dir.Lock(ctx, home.StartLock)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("another tabhub process has been starting the hub for too long; `tabhub doctor` finds out why")
		}
		return nil, err
	}
	defer lock.Unlock()
	return c.attachOrStart(ctx, lock)
}

// attachOrStart is Connect for the process that has the start lock.
func (c *Connector) attachOrStart(ctx context.Context, lock *home.Lock) (net.Conn, error) {
	var last error // of Start, or of attach where that went well
	for started := 0; ; {
		conn, err := c.attach(ctx, lock)
		if err == nil {
			return conn, nil
		}
		if c.Dir.Held(home.HubLock) {
			// It is about to listen, or about to end.
			if errors.Is(err, errRefused) || !sleep(ctx, retryEvery) {
				return nil, c.explain(err)
			}
			continue
		}
		if last == nil {
			last = err
		}
		if started == attempts || ctx.Err() != nil {
			return nil, fmt.Errorf("the hub cannot be started: %w", last)
		}
		started++
		last = c.Start(ctx)
		if err := last; err != nil {
			c.Log.Warn("the hub did not start", "err", err)
			if !sleep(ctx, time.Duration(started)*100*time.Millisecond) {
				return nil, fmt.Errorf("the hub cannot be started: %w", last)
			}
		}
	}
}

// explain says what is wrong with a hub that runs and cannot be used.
func (c *Connector) explain(err error) error {
	h, e := c.Dir.ReadHub()
	if e != nil {
		return fmt.Errorf("a hub uses %s but does not say where it listens; end it and try again", c.Dir)
	}
	if errors.Is(err, errRefused) {
		return fmt.Errorf("the hub (process %d): %w", h.PID, err)
	}
	return fmt.Errorf("the hub (process %d) cannot be used: %w; `tabhub stop` ends it", h.PID, err)
}

// errOlder says that the hub that runs is to be replaced.
var errOlder = errors.New("it is of an older version")

// attach attaches to the hub that runs. One that is to be replaced is ended by the
// process with the start lock only: otherwise the bridges that lose it, which may be of
// its version, would start such a hub again. One that is busy, or that the user has started
// from elsewhere, stays and is used.
func (c *Connector) attach(ctx context.Context, start *home.Lock) (net.Conn, error) {
	h, err := c.Dir.Running()
	if err != nil {
		return nil, err
	}
	switch {
	case !c.supersedes(h):
		return c.dial(ctx)
	case !h.Auto && !(h.HandsOver && SameFile(h.Program, c.Program)):
		c.warn("an older hub runs, and stays until you start it anew", "hub", h.Version, "process", h.PID, "bridge", c.Version)
		return c.dial(ctx)
	case start == nil:
		return nil, errOlder
	}
	c.Log.Info("replacing an older hub", "hub", h.Version, "bridge", c.Version)
	err = c.end(ctx, h)
	if errors.Is(err, errStays) {
		c.warn("an older hub runs, and stays for now", "hub", h.Version, "process", h.PID, "bridge", c.Version, "why", err)
		return c.dial(ctx)
	}
	if err != nil {
		return nil, err
	}
	return nil, home.ErrNoHub
}

// warn logs what is to be said once.
func (c *Connector) warn(msg string, args ...any) {
	if c.warned != msg {
		c.warned = msg
		c.Log.Warn(msg, args...)
	}
}

// supersedes reports whether this bridge is newer than a hub: by version, or where that
// says nothing, as of builds without one, because the file that the hub was started from
// has since become this bridge's. It is never so both ways. A bridge whose file is another
// one by now, as after a return to the release before, would get a hub of that.
func (c *Connector) supersedes(h home.Hub) bool {
	if c.Program != "" {
		if fi, err := os.Stat(c.Program); err != nil || !fi.ModTime().Equal(c.Built) {
			return false
		}
	}
	if order := Compare(c.Version, h.Version); order != 0 {
		return order > 0
	}
	return c.Built.After(h.Built) && !h.Built.IsZero() && SameFile(h.Program, c.Program)
}

// Compare returns the order of two versions, and 0 if one of them says nothing.
func Compare(a, b string) int {
	if !semver.IsValid(a) || !semver.IsValid(b) {
		return 0
	}
	return semver.Compare(a, b)
}

// SameFile reports whether two paths lead to the same file now.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// end has the hub finish what is under way and end, and waits for that.
func (c *Connector) end(ctx context.Context, h home.Hub) error {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	if err := c.drain(ctx, h); err != nil {
		return err
	}
	if h.HandsOver {
		return c.awaitHandOver(ctx, h)
	}
	lock, err := c.Dir.Lock(ctx, home.HubLock)
	if err != nil {
		return fmt.Errorf("the older hub (process %d) does not end: %w", h.PID, err)
	}
	lock.Unlock()
	return nil
}

// awaitHandOver waits until the hub is no longer found. It keeps the lock for the program
// that takes its place.
func (c *Connector) awaitHandOver(ctx context.Context, h home.Hub) error {
	for {
		now, err := c.Dir.ReadHub()
		if err != nil || !now.Started.Equal(h.Started) {
			return nil
		}
		if !sleep(ctx, retryEvery) {
			return fmt.Errorf("the older hub (process %d) does not hand over: %w", h.PID, ctx.Err())
		}
	}
}

// errStays says that an older hub does not end for now.
var errStays = errors.New("it does not end for an upgrade")

// drain asks the hub over its socket to end. It says why, so that its bridges come back
// at once.
func (c *Connector) drain(ctx context.Context, h home.Hub) error {
	conn, err := c.Dir.Dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// A hub that starts deletes an old hub.json before it listens: what is read now is
	// of the hub that the connection leads to.
	if now, err := c.Dir.Running(); err != nil || now.PID != h.PID || !now.Started.Equal(h.Started) {
		return home.ErrNoHub
	}
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	req, err := http.NewRequest(http.MethodPost, home.SocketURL+"/api/stop", strings.NewReader(`{"reason":"upgrade"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if err := req.Write(conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable: // it ends already
		return home.ErrNoHub
	case resp.StatusCode == http.StatusConflict:
		var told struct{ Error string }
		if err := json.NewDecoder(io.LimitReader(resp.Body, 8<<10)).Decode(&told); err != nil {
			return errStays
		}
		return fmt.Errorf("%w: it says %q", errStays, told.Error)
	case resp.StatusCode >= 300:
		return fmt.Errorf("%w: asked to end, it answers %s", errRefused, resp.Status)
	}
	return nil
}

// dial upgrades a connection to the hub's attach protocol.
func (c *Connector) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := c.Dir.Dial(ctx)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	attached, err := c.upgrade(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return attached, nil
}

// upgrade sends the request and reads the answer.
func (c *Connector) upgrade(conn net.Conn) (net.Conn, error) {
	req, err := http.NewRequest(http.MethodGet, home.SocketURL+"/attach", nil)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": httpd.AttachProtocol,
		httpd.SessionHeader: c.Session, httpd.BeganHeader: c.Began.Format(time.RFC3339Nano), httpd.BrowserHeader: c.Browsers,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	from := bufio.NewReader(conn)
	resp, err := http.ReadResponse(from, req)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it does not answer: %w", err)
	case resp.StatusCode != http.StatusSwitchingProtocols:
		defer resp.Body.Close()
		return nil, refused(resp)
	case c.Browsers != "" && resp.Header.Get(httpd.BrowserHeader) == "":
		return nil, errUnbound
	}
	return &buffered{conn, from}, nil
}

// errUnbound: the hub is one that does not know what Connector.Browsers are.
var errUnbound = fmt.Errorf("%w: it is of an older version, which keeps no client to its browsers; end it with `tabhub stop`", errRefused)

// errRefused: the hub has looked at the request and said no.
var errRefused = errors.New("it refuses this process")

// refused makes an error of an answer that is no upgrade.
func refused(resp *http.Response) error {
	var told struct{ Error string }
	switch err := json.NewDecoder(io.LimitReader(resp.Body, 8<<10)).Decode(&told); {
	case err != nil || told.Error == "":
		return fmt.Errorf("it answers %s, as no tabhub does", resp.Status)
	case resp.StatusCode == http.StatusServiceUnavailable:
		return fmt.Errorf("it says %q", told.Error)
	}
	return fmt.Errorf("%w: it says %q", errRefused, told.Error)
}

// buffered is a connection of which more than the answer may have been read already.
type buffered struct {
	net.Conn
	from *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.from.Read(p) }

func (b *buffered) CloseWrite() error {
	closeWrite(b.Conn)
	return nil
}
