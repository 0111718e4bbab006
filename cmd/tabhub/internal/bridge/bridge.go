package bridge

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"tabhub/hub/face/httpd"
)

// Options configure a bridge. In, Out and Connect must be set.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Connect attaches to a hub and starts one if need be. An error is final: it
	// has tried all it can.
	Connect func(ctx context.Context) (net.Conn, error)
	Log     *slog.Logger // nil discards

	leaveTimeout time.Duration // 0 means the constant of that name
}

const (
	restoreTimeout = 10 * time.Second
	askTimeout     = 2 * time.Second // for a client's first request, when there is no hub
	shortLife      = time.Second     // a hub that lives no longer is not started again at once
	maxDelay       = 5 * time.Second

	// leaveTimeout is how long a client that has closed its side waits for answers. A
	// hub that is not hung gives up much earlier.
	leaveTimeout = 10 * time.Second
)

// Bridge pipes one client.
type Bridge struct {
	o   Options
	log *slog.Logger

	mu      sync.Mutex
	changed sync.Cond // conn, err, eof or wanted has changed
	conn    net.Conn  // the hub of the moment; nil: none
	err     error     // set at the end: no line is sent any more
	eof     bool      // the client has closed its side
	wanted  bool      // the client has a line to send
	waiting []byte    // lines of the client that wait for a hub
	session session

	// Owned by Run.
	farewell httpd.Farewell // of the hub that ends, zero if it said nothing
}

// Run pipes until the client closes its side, its output is gone, ctx ends or no hub
// can be had. The first and third are no errors. The goroutine that reads In may
// remain until In is closed.
func Run(ctx context.Context, o Options) error {
	b := &Bridge{o: o, log: o.Log, session: newSession()}
	b.changed.L = &b.mu
	b.o.leaveTimeout = cmp.Or(o.leaveTimeout, leaveTimeout)
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { b.end(context.Cause(ctx)) })
	defer stop()
	go func() {
		err := readLines(o.In, b.fromClient)
		b.clientGone(err)
		if !b.isPending() {
			cancel() // nothing was asked: do not wait for a hub
		}
	}()
	err := b.serveHubs(ctx)
	b.end(errClientGone)
	if errors.Is(err, errClientGone) {
		return nil
	}
	return err
}

var errClientGone = errors.New("the client has closed its side")

// end makes all waiting goroutines give up.
func (b *Bridge) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	if b.conn != nil {
		b.conn.Close()
	}
	b.changed.Broadcast()
}

// serveHubs attaches to one hub after the other.
func (b *Bridge) serveHubs(ctx context.Context) error {
	var delay time.Duration
	for first := true; ; first = false {
		conn, err := b.o.Connect(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return errClientGone
			}
			return b.giveUp(err)
		}
		began := time.Now()
		b.farewell = httpd.Farewell{}
		err = b.serveHub(ctx, conn, first)
		conn.Close()
		last := b.withdraw()
		if ctx.Err() != nil {
			return errClientGone
		}
		if e, ok := errors.AsType[*outError](err); ok {
			return e
		}
		if e := b.settle(last); e != nil {
			return e
		}
		if last {
			return errClientGone
		}
		b.log.Info("the hub has gone", "farewell", b.farewell.Reason, "err", err)
		if b.farewell.Reason == "stop" && !b.waitWanted() {
			return errClientGone
		}
		if b.farewell.Reason != "" {
			began = time.Time{} // it did not die young
		}
		delay = nextDelay(delay, time.Since(began))
		if !sleep(ctx, delay) {
			return errClientGone
		}
	}
}

// nextDelay grows while hubs die young.
func nextDelay(delay, lived time.Duration) time.Duration {
	if lived > shortLife {
		return 0
	}
	return min(max(2*delay, 50*time.Millisecond), maxDelay)
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// serveHub restores the session, publishes the connection to the client side and
// copies the hub's lines until the connection ends.
func (b *Bridge) serveHub(ctx context.Context, conn net.Conn, first bool) error {
	r := &lineReader{r: conn}
	var changed []byte
	if !first {
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		defer stop()
		var err error
		if changed, err = b.restore(conn, r); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.conn = conn
	eof := b.eof
	if b.err != nil {
		conn.Close()
	}
	b.wanted = false
	b.changed.Broadcast()
	b.mu.Unlock()
	if eof {
		b.leave(conn)
	}
	// A client that goes when it has read this can say so to the hub by now.
	if err := b.write(changed); err != nil {
		return err
	}
	return r.each(b.fromHub)
}

// restore brings a new hub to where the last one was, and returns what the client is to be told.
func (b *Bridge) restore(conn net.Conn, r *lineReader) (changed []byte, err error) {
	conn.SetDeadline(time.Now().Add(restoreTimeout))
	defer conn.SetDeadline(time.Time{})
	b.mu.Lock()
	handshake, rest := b.session.restore()
	b.mu.Unlock()
	if handshake != nil {
		if _, err := conn.Write(handshake); err != nil {
			return nil, err
		}
		err := r.each(func(lines []byte) (bool, error) {
			kept, err := b.fromHub(lines)
			if err == nil && b.session.restored {
				err = errRestored
			}
			return kept, err
		})
		if !errors.Is(err, errRestored) {
			return nil, err
		}
	}
	b.mu.Lock()
	again := b.session.open()
	changed = b.session.listChanged()
	b.mu.Unlock()
	if _, err := conn.Write(append(rest, again...)); err != nil {
		// A hub that has just ended may have said why.
		return nil, errors.Join(err, r.each(b.fromHub))
	}
	return changed, nil
}

var errRestored = errors.New("session restored")

// withdraw takes the connection away from the client side and reports whether the
// client has gone, so that no further hub is needed.
func (b *Bridge) withdraw() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn = nil
	return b.eof || b.err != nil
}

// settle answers the calls that must not be sent again, and, if there will be no
// further hub, all that is open.
func (b *Bridge) settle(last bool) error {
	b.mu.Lock()
	answers := b.session.settle(b.farewell.Settled)
	if last {
		answers = append(answers, b.session.abandon(errHubGone)...)
	}
	b.mu.Unlock()
	return b.write(answers)
}

var errHubGone = errors.New("the hub process ended before it answered")

// giveUp answers all that the client waits for. One that has only just started this
// process may not have asked yet: hosts show the answer, not what is on stderr.
func (b *Bridge) giveUp(err error) error {
	if !b.isPending() {
		enough := time.AfterFunc(askTimeout, func() { b.end(err) })
		b.waitWanted()
		enough.Stop()
	}
	b.mu.Lock()
	lines(b.waiting, b.session.fromClient)
	answers := b.session.abandon(err)
	b.mu.Unlock()
	if e := b.write(answers); e != nil {
		return e
	}
	return err
}

// waitWanted waits until the client wants something of a hub, and reports false if it
// goes first.
func (b *Bridge) waitWanted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.wanted && !b.session.asks() && !b.eof && b.err == nil {
		b.changed.Wait()
	}
	return !b.eof && b.err == nil
}

// outError says that the client no longer reads.
type outError struct{ err error }

func (e *outError) Error() string { return "the client does not read: " + e.err.Error() }
func (e *outError) Unwrap() error { return e.err }

// clientGone has the hub finish what is open, and then close.
func (b *Bridge) clientGone(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		b.log.Debug("stdin", "err", err)
	}
	b.mu.Lock()
	b.eof = true
	conn := b.conn
	b.changed.Broadcast()
	b.mu.Unlock()
	if conn != nil {
		b.leave(conn)
	}
}

// leave tells the hub that nothing more comes, here or on another connection.
func (b *Bridge) leave(conn net.Conn) {
	conn.SetWriteDeadline(time.Now().Add(b.o.leaveTimeout))
	io.WriteString(conn, farewell)
	conn.SetReadDeadline(time.Now().Add(b.o.leaveTimeout))
	closeWrite(conn)
}

func (b *Bridge) isPending() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.session.pending) > 0 || b.conn != nil
}

const farewell = `{"jsonrpc":"2.0","method":"` + httpd.FarewellMethod + "\"}\n"

func closeWrite(conn net.Conn) {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
		return
	}
	conn.Close()
}
