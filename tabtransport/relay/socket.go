package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/tabtransport/unknown"
)

// Times of a socket.
const (
	writeTimeout = 30 * time.Second // for one batch of frames
	lastTimeout  = 5 * time.Second  // for the last frame of a peer that is being closed
	goodbye      = time.Second      // for a peer to answer a close frame
)

// socket is one WebSocket. Its reader is the goroutine of its HTTP handler; run is
// its writer.
type socket struct {
	// static after construction
	ws      *websocket.Conn
	limits  Limits
	counts  *counters
	unknown *unknown.Conn   // until the peer is known
	done    chan struct{}   // closed when the writer has ended
	ctx     context.Context // ends with the socket, for what its reader waits for
	cancel  context.CancelFunc

	unrevoke func() bool // stops looking whether the peer's token is taken back; owned by the reader

	heard atomic.Bool            // since the last keep-alive
	ping  atomic.Pointer[string] // of the peer, to be answered; the last one, if there were more
	slow  atomic.Bool            // what is queued is given up
	wake  chan struct{}          // tells the writer that there is something to do

	mu      sync.Mutex
	tick    func() // called by the writer at every keep-alive
	queue   [][]byte
	size    int // bytes in queue or being written
	closing bool
	code    spec.CloseCode
	reason  string

	until       time.Time
	untilReason string
}

func newSocket(ws *websocket.Conn, limits Limits, counts *counters) *socket {
	s := &socket{
		ws: ws, limits: limits, counts: counts,
		done: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	ws.SetReadLimit(min(maxFirstFrame, limits.MaxFrame))
	ws.SetPongHandler(func(string) error { s.heard.Store(true); return nil })
	ws.SetPingHandler(func(data string) error {
		s.heard.Store(true)
		s.ping.Store(&data)
		s.poke()
		return nil
	})
	go s.run()
	return s
}

// endsAt sets when the socket is to be closed, and what its peer is told then. The
// zero time means never.
func (s *socket) endsAt(t time.Time, reason string) {
	s.mu.Lock()
	s.until, s.untilReason = t, reason
	s.mu.Unlock()
	s.poke()
}

// known lifts the limits that hold for a peer of whom nothing is known: it may stay
// as long as its token is good. tick is called by the writer at every keep-alive; it may be
// nil. known is for the reader.
func (s *socket) known(a Admission, tick func()) {
	s.unknown.Leave()
	s.ws.SetReadLimit(s.limits.MaxFrame)
	s.mu.Lock()
	s.tick = tick
	s.mu.Unlock()
	s.endsAt(a.Until, "the token has expired: reconnect with a new one")
	s.forgetToken()
	if a.Revoked != nil {
		s.unrevoke = context.AfterFunc(a.Revoked, func() {
			s.close(spec.CloseRefused, "the token was replaced: reconnect with the new one")
		})
	}
}

// forgetToken stops looking whether the token is taken back. It is for the reader.
func (s *socket) forgetToken() {
	if s.unrevoke != nil {
		s.unrevoke()
	}
}

// send puts a frame, which must not change any more, into the queue. It reports
// false, and does nothing, if the queue is full or the socket closes. It never
// blocks.
func (s *socket) send(frame []byte) bool {
	s.mu.Lock()
	ok := !s.closing && len(s.queue) < s.limits.MaxQueueFrames &&
		(s.size == 0 || s.size+len(frame) <= s.limits.MaxQueue)
	if ok {
		s.queue = append(s.queue, frame)
		s.size += len(frame)
	}
	s.mu.Unlock()
	if ok {
		s.poke()
	}
	return ok
}

// mustSend is send for what a peer may not miss: one that has no room for it is too
// slow and is closed.
func (s *socket) mustSend(frame []byte) {
	if !s.send(frame) {
		s.overflow()
	}
}

func (s *socket) overflow() {
	s.mu.Lock()
	first := !s.closing
	if first {
		s.queue = nil
		s.closing, s.code, s.reason = true, spec.CloseSlow, "the peer reads too slowly"
	}
	s.mu.Unlock()
	if first {
		s.counts.slow.Add(1)
		s.slow.Store(true)
		// The frame that is being written may still go out: one that is cut in half
		// cannot be followed by the close code.
		s.ws.NetConn().SetWriteDeadline(time.Now().Add(lastTimeout))
		s.poke()
	}
}

// close lets the writer send what is queued, then a close frame. It does not block;
// only the first call counts.
func (s *socket) close(code spec.CloseCode, reason string) {
	s.mu.Lock()
	if !s.closing {
		s.closing, s.code, s.reason = true, code, reason
	}
	s.mu.Unlock()
	s.poke()
}

func (s *socket) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run writes until the socket is closed or broken.
func (s *socket) run() {
	defer close(s.done)
	keepAlive := time.NewTicker(s.limits.KeepAlive)
	defer keepAlive.Stop()
	expiry := time.NewTimer(0)
	defer expiry.Stop()
	expiry.Stop()
	var until time.Time
	var reason string
	var spare [][]byte
	silent := 0
	for {
		s.mu.Lock()
		batch := s.queue
		s.queue = spare[:0]
		closing := s.closing
		tick := s.tick
		if !s.until.Equal(until) {
			until, reason = s.until, s.untilReason
			expiry.Stop()
			if !until.IsZero() {
				expiry.Reset(time.Until(until))
			}
		}
		s.mu.Unlock()

		if err := s.write(batch); err != nil {
			s.ws.Close()
			return
		}
		clear(batch)
		spare = batch
		if ping := s.ping.Swap(nil); ping != nil {
			if s.ws.WriteControl(websocket.PongMessage, []byte(*ping), time.Now().Add(writeTimeout)) != nil {
				s.ws.Close()
				return
			}
		}
		if closing {
			if len(batch) > 0 {
				continue
			}
			s.sayGoodbye()
			return
		}
		// Whoever keeps the writer busy is looked at here all the same: its token ends.
		select {
		case <-s.wake:
		case <-expiry.C:
			s.close(spec.CloseRefused, reason)
		case <-s.ctx.Done():
			if !s.isClosing() {
				s.ws.Close()
				return
			}
		case <-keepAlive.C:
			if silent++; s.heard.Swap(false) {
				silent = 0
			}
			if silent >= 3 {
				s.close(spec.CloseSlow, "the peer is silent")
				continue
			}
			if tick != nil {
				tick()
			}
			if s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)) != nil {
				s.ws.Close()
				return
			}
		}
	}
}

func (s *socket) write(batch [][]byte) error {
	if len(batch) == 0 {
		return nil
	}
	s.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	n := 0
	for _, frame := range batch {
		if s.slow.Load() {
			return nil
		}
		if err := s.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
			return err
		}
		n += len(frame)
	}
	s.mu.Lock()
	s.size -= n
	s.mu.Unlock()
	return nil
}

// sayGoodbye sends the close frame and gives the peer a moment to answer it: a
// connection that is closed while there is something to read may lose what was
// written last.
func (s *socket) sayGoodbye() {
	msg := websocket.FormatCloseMessage(int(s.code), clip(s.reason, 120))
	if s.ws.WriteControl(websocket.CloseMessage, msg, time.Now().Add(lastTimeout)) == nil {
		moment := time.NewTimer(goodbye)
		defer moment.Stop()
		select {
		case <-s.ctx.Done():
		case <-moment.C:
		}
	}
	s.ws.Close()
}

// frames reads the socket until it ends and calls handle for each text frame, which
// is valid during the call only. It returns why it ended.
func (s *socket) frames(handle func(frame []byte)) error {
	for {
		kind, r, err := s.ws.NextReader()
		if err == nil {
			err = s.frame(kind, r, handle)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, websocket.ErrReadLimit) {
			// The peer has been told, but looks only when it has sent its frame.
			s.ws.NetConn().SetReadDeadline(time.Now().Add(goodbye))
			io.CopyN(io.Discard, s.ws.NetConn(), 4*spec.MaxFrame)
		}
		return err
	}
}

func (s *socket) frame(kind int, r io.Reader, handle func(frame []byte)) error {
	frame, err := readAll(r)
	defer release(frame)
	if err != nil {
		return err
	}
	s.heard.Store(true)
	switch {
	case s.isClosing():
	case kind == websocket.BinaryMessage:
		s.close(closeUnsupportedData, "only text frames are taken")
	default:
		handle(frame)
	}
	return nil
}

func (s *socket) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// end waits until the writer has ended and frees the socket. It is for the reader,
// when it has ended.
func (s *socket) end() {
	s.forgetToken()
	s.cancel()
	<-s.done
	s.ws.Close()
}

// why says in a few words how a socket ended, for people.
func why(err error) string {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		if closed.Text != "" {
			return "closed: " + describe.Clean(closed.Text, 100)
		}
		return "closed"
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return "silent"
	}
	if errors.Is(err, websocket.ErrReadLimit) {
		return "sent a frame that is too big"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "gone"
	}
	return "connection lost"
}

// upgrader has no check of its own: whoever mounts the handlers has checked Host and
// Origin before.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 10 * time.Second,
	ReadBufferSize:   4096,
	WriteBufferPool:  &sync.Pool{},
	CheckOrigin:      func(*http.Request) bool { return true },
}
