package wsserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/unknown"
)

// Floods: what a peer may send over one connection, beyond answers to requests.
const (
	messagesPerSecond  = 1000
	messageBurst       = 5000
	malformedPerSecond = 1
	malformedBurst     = 50
)

// lingerTimeout is how long a peer has to answer a close frame.
const lingerTimeout = time.Second

// conn is one WebSocket. Its reader is the goroutine that runs run.
type conn struct {
	// static after construction
	srv    *Server
	ws     *websocket.Conn
	stream *stream // under ws; nil with TLS: then no caller writes itself
	remote string
	origin string // the Origin header
	ctx    context.Context
	cancel context.CancelCauseFunc

	// owned by the reader
	dialect   dialect
	request   *http.Request     // until admitted
	unknown   *unknown.Conn     // until its credential was checked
	exchange  *pairing.Exchange // begun and not ended; may be nil
	admission Admission         // once admitted
	event     event
	messages  *rate.Limiter
	malformed *rate.Limiter // nil until the first malformed frame
	registrar registrar
	incoming  incoming
	limit     int64       // of a frame, in bytes
	release   func()      // gives back the tab key, if not nil
	until     *time.Timer // closes the connection with its credential; may be nil
	unrevoke  func() bool // stops looking whether that is taken back; may be nil

	// set by the reader in admit, read by everyone afterwards
	attachment tabtransport.Attachment

	out  writer
	live liveness
}

func newConn(s *Server, ws *websocket.Conn, r *http.Request) *conn {
	c := &conn{
		srv:      s,
		ws:       ws,
		remote:   r.RemoteAddr,
		origin:   r.Header.Get("Origin"),
		messages: rate.NewLimiter(messagesPerSecond, messageBurst),

		registrar: newRegistrar(),
	}
	// The request's own context ends with its handler, which has returned.
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(r.Context()))
	c.request = r.WithContext(c.ctx)
	c.limit = min(s.opts.MaxFrame, maxFirstFrame)
	ws.SetReadLimit(c.limit)
	ws.SetPongHandler(func(string) error {
		c.live.heard()
		return nil
	})
	ws.SetPingHandler(func(data string) error {
		c.live.heard()
		// If this fails the next frame fails too, with a better error.
		_ = ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(lingerTimeout))
		return nil
	})
	return c
}

const (
	// maxFirstFrame bounds what a peer may send before it is admitted, in bytes.
	maxFirstFrame = 4 << 20
	// maxUnknown bounds the connections that have not been admitted.
	maxUnknown = 1024
	// maxUnknownFrames bounds what all of them have sent of their first frames, in
	// bytes: several of the largest at once.
	maxUnknownFrames = 16 << 20
	// giveWayTimeout is how long the oldest of too many stays to read why it goes.
	giveWayTimeout = 100 * time.Millisecond
	// maxSkipped bounds, as a multiple of Options.MaxFrame, the frames of a peer that
	// are skipped. A larger one ends the connection.
	maxSkipped = 4
)

// run reads until the connection ends, and cleans up. It returns when nothing of
// the connection is left.
func (c *conn) run() {
	c.unknown = c.srv.unknown.Add(c.giveWay)
	c.control(c.dialect.appendOpening(nil))
	c.awaitHello()
	cause := c.read()
	c.unknown.Leave()
	c.stop(cause)
	c.cancel(cause)
	if c.attachment != nil {
		c.registrar.flush(c)
		c.attachment.Leave(cause)
	}
	if c.release != nil {
		c.release()
	}
	if c.until != nil {
		c.until.Stop()
	}
	if c.unrevoke != nil {
		c.unrevoke()
	}
}

// frames holds buffers for frames being read. An idle connection has none.
var frames = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept for another frame.
const maxPooled = 1 << 20

// read handles frames until the connection fails. The error is never nil.
func (c *conn) read() error {
	for {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			return c.readError(err)
		}
		c.incoming = incoming{r, &c.live, c.limit + 1}
		if c.attachment == nil {
			err = c.readUnknown(kind)
		} else {
			err = c.readFrame(kind)
		}
		if err != nil {
			return c.readError(err)
		}
	}
}

func (c *conn) readFrame(kind int) error {
	buf := frames.Get().(*bytes.Buffer)
	n, err := buf.ReadFrom(&c.incoming)
	tooBig := n > c.limit
	if tooBig && err == nil {
		err = c.discard()
	}
	if err != nil {
		return err
	}
	switch {
	case c.closing():
	case tooBig:
		c.srv.stats.tooBig.Add(1)
		c.skip(buf.Bytes(), fmt.Sprintf("a frame may have at most %d bytes", c.limit))
	default:
		c.handle(kind, buf.Bytes())
	}
	if buf.Cap() <= maxPooled {
		buf.Reset()
		frames.Put(buf)
	}
	return nil
}

// readUnknown is readFrame for a peer that was not admitted yet. A frame over the limit
// ends its connection, and there is only so much memory for the frames of all such
// peers: half a frame may be all that ever comes.
func (c *conn) readUnknown(kind int) error {
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			size := int(min(max(firstBuffer, 2*int64(cap(buf))), c.limit+1))
			if c.closing() || !c.unknown.Hold(size) {
				buf = nil
				c.unknown.Hold(0)
				c.Close(spec.CloseTooFast, "others who have not said hello use all the memory there is for that; come back later")
				return c.discard()
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := c.incoming.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if !c.closing() {
		c.handle(kind, buf)
	}
	c.unknown.Hold(0)
	return nil
}

// firstBuffer is how many bytes of a first frame are read to begin with.
const firstBuffer = 2 << 10

// discard reads the rest of a frame.
func (c *conn) discard() error {
	c.incoming.left = math.MaxInt64
	_, err := io.Copy(io.Discard, &c.incoming)
	return err
}

// giveWay ends a connection that has not said hello in favour of newer ones.
func (c *conn) giveWay() {
	c.srv.stats.refused.Add(1)
	if c.srv.logsRefusal("no hello") {
		c.srv.log.Warn("too many connections without a hello; the oldest give way", "limit", maxUnknown, "remote", c.remote)
	}
	c.Close(spec.CloseTooFast, "too many connections have not said hello, and this one is the oldest")
	time.AfterFunc(giveWayTimeout, func() { c.fail(errors.New("gave way to newer connections")) })
}

// incoming is a frame that is being read, up to a limit. Each part of it is a sign of
// life: a peer that sends a large one over a slow line can answer no ping meanwhile.
type incoming struct {
	frame io.Reader
	live  *liveness
	left  int64
}

func (in *incoming) Read(p []byte) (int, error) {
	if in.left <= 0 {
		return 0, io.EOF
	}
	n, err := in.frame.Read(p[:min(int64(len(p)), in.left)])
	in.left -= int64(n)
	in.live.heard()
	return n, err
}

func (c *conn) readError(err error) error {
	if errors.Is(err, websocket.ErrReadLimit) {
		c.srv.stats.tooBig.Add(1)
		c.warn("frame far too big, connection closed", "limit", c.limit)
		return fmt.Errorf("frame far over %d bytes", c.limit)
	}
	if cause := c.out.cause(); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) || websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived) {
		return errors.New("closed by the peer")
	}
	return err
}

// handle takes one frame, which is only valid during the call.
func (c *conn) handle(kind int, frame []byte) {
	if kind != websocket.TextMessage {
		c.bad(nil, errors.New("binary frame"))
		return
	}
	ev := &c.event
	*ev = event{}
	if err := c.dialect.decode(frame, ev); rawjson.TooDeep(err) {
		c.skip(frame, fmt.Sprintf("a frame may be nested at most %d deep", spec.MaxDepth))
		return
	} else if err != nil {
		c.bad(nil, err)
		return
	}
	if ev.kind != evAnswer && !c.messages.Allow() {
		c.srv.stats.tooFast.Add(1)
		c.Close(spec.CloseTooFast, fmt.Sprintf("more than %d messages a second", messagesPerSecond))
		return
	}
	if c.attachment == nil {
		c.handleFirst(ev)
		return
	}
	switch ev.kind {
	case evIgnored:
	case evPair, evHello:
		c.bad(ev.id, spec.Errorf(spec.CodeInvalidRequest, "hello was said before"))
	case evMessage:
		c.registrar.message(c, ev.tab, ev.id, ev.msg)
	case evAnswer:
		if !c.attachment.Answer(ev.tab, ev.requestID, ev.answer) && !isPing(ev.requestID) {
			c.srv.stats.stray.Add(1)
		}
	case evProgress:
		if !c.attachment.Progress(ev.tab, ev.progress) {
			c.srv.stats.stray.Add(1)
		}
	case evPing:
		c.Respond(ev.tab, ev.id, struct{}{}, nil)
	case evDashboard:
		c.dashboard(ev)
	case evInvalid, evRefused:
		c.bad(ev.id, ev.err)
	}
}

// dashboard gives a paired browser an address of the dashboard.
func (c *conn) dashboard(ev *event) {
	if ev.id == nil {
		return
	}
	if c.srv.opts.Dashboard == nil || c.admission.Pairing == "" {
		c.Respond(ev.tab, ev.id, nil, spec.Errorf(spec.CodeRefused, "only a paired browser is given an address of the dashboard"))
		return
	}
	url, err := c.srv.opts.Dashboard(c.admission)
	if err != nil {
		c.Respond(ev.tab, ev.id, nil, spec.Errorf(spec.CodeInternal, "%v", err))
		return
	}
	c.Respond(ev.tab, ev.id, spec.DashboardResult{URL: url}, nil)
}

// handleFirst takes a frame of a peer that was not admitted yet.
func (c *conn) handleFirst(ev *event) {
	switch ev.kind {
	case evPair:
		c.pair(ev)
	case evHello:
		c.admit(ev)
	case evMessage:
		if ev.early {
			return
		}
		tab, id, msg := ev.tab, ev.id, ev.msg
		*ev = event{kind: evHello, tab: tab}
		c.admit(ev)
		if c.attachment != nil {
			c.registrar.message(c, tab, id, msg)
		}
	case evPing:
		c.Respond(ev.tab, ev.id, struct{}{}, nil)
	case evRefused:
		c.refuse(ev.id, ev.err)
	case evInvalid:
		c.bad(ev.id, ev.err)
	case evAnswer, evProgress, evDashboard:
		c.srv.stats.stray.Add(1)
	}
}

// pair answers the first message of a pairing handshake, which hello ends.
func (c *conn) pair(ev *event) {
	ex, err := c.exchange, error(nil)
	switch {
	case ex != nil:
		err = spec.Errorf(spec.CodeInvalidRequest, "one handshake a connection")
	case c.srv.opts.Pair == nil:
		err = spec.Errorf(spec.CodeUnpaired, "no browser can be paired here")
	default:
		ex, err = c.srv.opts.Pair(c.request, ev.pair)
	}
	if err != nil {
		c.refuse(ev.id, err)
		return
	}
	c.exchange = ex
	c.control(c.dialect.appendResponse(nil, 0, ev.id, ex.Result(), nil))
}

// admit lets the peer take part, or refuses it.
func (c *conn) admit(ev *event) {
	c.live.pause() // it has said hello; what follows is up to us
	hello := ev.hello
	adm, err := c.srv.opts.Authenticate(c.request, hello, c.exchange)
	c.exchange = nil
	if err != nil {
		c.refuse(ev.id, err)
		return
	}
	c.unknown.Leave()
	if adm.User == "" {
		adm.User = spec.LocalUser
	}
	if adm.Origin == "" {
		adm.Origin = c.origin
	}
	if hello != nil {
		hello.Token, hello.Proof = "", "" // nobody behind this needs them
	}
	if ev.claimKey {
		key := c.srv.claimKey(tabKey{adm.User, adm.Origin, hello.TabKey})
		hello.TabKey = key.key
		c.release = func() { c.srv.releaseKey(key) }
	}
	ctx, cancel := context.WithTimeout(c.ctx, spec.ControlTimeout)
	defer cancel()
	attachment, err := c.srv.Transport(adm.User).Attach(ctx, tabtransport.Conn{
		Origin:        adm.Origin,
		Attested:      adm.Attested,
		Pairing:       adm.Pairing,
		ClaimedOrigin: ev.claimedOrigin,
		Dialect:       c.dialect.name(),
		Remote:        c.remote,
		Hello:         hello,
	}, func(acc tabtransport.Accepted) tabtransport.Link {
		c.welcome(ev.id, acc.Result)
		return c
	})
	if err != nil {
		c.refuse(ev.id, err)
		return
	}
	c.attachment = attachment
	c.request = nil
	c.admission = adm
	c.out.admitted()
	c.limit = c.srv.opts.MaxFrame
	c.ws.SetReadLimit(maxSkipped * c.limit)
	if adm.Revoked != nil {
		why := "the token was replaced"
		if adm.Pairing != "" {
			why = "the pairing was forgotten"
		}
		c.unrevoke = context.AfterFunc(adm.Revoked, func() { c.Close(spec.CloseRefused, why) })
	}
	if !adm.Until.IsZero() {
		c.until = time.AfterFunc(time.Until(adm.Until), func() {
			c.Close(spec.CloseRefused, "the credential has expired")
		})
	}
	c.keepAlive()
}

func (c *conn) welcome(id json.RawMessage, result spec.HelloResult) {
	if result.KeepAliveMs == 0 {
		result.KeepAliveMs = c.srv.opts.KeepAlive.Milliseconds()
	}
	if result.Limits == (spec.Limits{}) {
		result.Limits = spec.DefaultLimits
		result.Limits.MaxFrame = int(c.srv.opts.MaxFrame)
	}
	c.control(c.dialect.appendWelcome(nil, id, result))
}

func (c *conn) refuse(id json.RawMessage, err error) {
	c.srv.stats.refused.Add(1)
	coded, ok := errors.AsType[*spec.Error](err)
	if !ok {
		coded = spec.Errorf(spec.CodeRefused, "%s", err.Error())
	}
	if c.srv.logsRefusal(c.origin) {
		c.warn("connection refused", "err", coded)
	}
	c.control(c.dialect.appendRefusal(nil, id, coded))
	c.Close(closeCode(err), coded.Message)
}

// skip takes a frame that cannot be read to its end, of which start is known. What
// waits for it is told at once.
func (c *conn) skip(start []byte, what string) {
	ev := &c.event
	*ev = event{}
	c.dialect.concerns(start, ev)
	problem := spec.Errorf(spec.CodeLimit, "%s", what)
	if c.attachment != nil && ev.requestID != "" {
		tooMuch := func(spec.Request) (spec.Response, error) {
			return spec.Response{}, spec.Errorf(spec.CodeLimit, "the tab's answer cannot be taken: %s", what)
		}
		if c.attachment.Answer(ev.tab, ev.requestID, tooMuch) {
			ev.id = nil
		}
	}
	c.bad(ev.id, problem)
}

// bad counts a frame that is no message, and answers it if it has an id.
func (c *conn) bad(id json.RawMessage, err error) {
	c.srv.stats.malformed.Add(1)
	if c.malformed == nil {
		c.malformed = rate.NewLimiter(malformedPerSecond, malformedBurst)
		c.warn("malformed frame; further ones of this connection are only counted", "err", err)
	}
	if id != nil {
		coded, ok := errors.AsType[*spec.Error](err)
		if !ok {
			coded = spec.Errorf(spec.CodeInvalidRequest, "%s", err.Error())
		}
		c.control(c.dialect.appendResponse(nil, c.event.tab, id, nil, coded))
	}
	if !c.malformed.Allow() {
		c.srv.stats.tooFast.Add(1)
		c.Close(spec.CloseTooFast, "too many malformed frames")
	}
}

func (c *conn) warn(msg string, args ...any) {
	args = append(args, "dialect", c.dialect.name(), "origin", c.origin, "remote", c.remote)
	if c.attachment != nil {
		args = append(args, "tab", c.attachment.Peer())
	}
	c.srv.log.Warn(msg, args...)
}
