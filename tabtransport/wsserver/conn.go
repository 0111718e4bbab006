package wsserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsconn"
)

// conn is the connection of a tab or a browser. Its reader is the goroutine that runs
// run.
type conn struct {
	// static after construction
	srv    *Server
	ws     *wsconn.Conn
	origin string // the Origin header

	// owned by the reader
	dialect   dialect
	request   *http.Request          // until admitted
	exchange  *pairing.Exchange      // begun and not ended; may be nil
	admission tabtransport.Admission // once admitted
	event     event
	messages  *rate.Limiter
	malformed *rate.Limiter // nil until the first malformed frame
	registrar registrar
	release   func() // gives back the tab key, if not nil
	unwatch   func() // ends watch, if not nil
	unretire  func() // ends the wait for what the connection passes through to end, if not nil

	// set by the reader in admit, read by everyone afterwards
	peer       spec.PeerID
	attachment tabtransport.Attachment
	paired     bool // the peer is the owner's browser
}

func newConn(s *Server, ws *wsconn.Conn, r *http.Request) *conn {
	return &conn{
		srv:       s,
		ws:        ws,
		origin:    r.Header.Get("Origin"),
		request:   r,
		messages:  rate.NewLimiter(messagesPerSecond, messageBurst),
		registrar: newRegistrar(),
	}
}

// run reads until the connection ends, and cleans up. Its own frame is small: it stays
// on the stack of each idle connection.
func (c *conn) run() {
	c.open()
	c.end(c.ws.Read(c.handle))
}

// open says what the server says first, and awaits the peer's hello.
func (c *conn) open() {
	c.control(c.dialect.appendOpening(nil))
	wait := c.dialect.helloTimeout()
	c.ws.CloseAt(time.Now().Add(wait), spec.CloseSlow, "no hello within "+wait.String())
}

// end cleans up after the connection has ended.
func (c *conn) end(cause error) {
	if e, ok := errors.AsType[*wsconn.TooBigError](cause); ok {
		c.warn("frame much too big, connection closed", "limit", e.Limit)
	}
	if c.unwatch != nil {
		c.unwatch()
	}
	if c.unretire != nil {
		c.unretire()
	}
	if c.attachment != nil {
		c.registrar.flush(c)
		c.attachment.Leave(cause)
	}
	if c.release != nil {
		c.release()
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
		c.leave(ev.id, err)
		return
	}
	c.exchange = ex
	c.control(c.dialect.appendResponse(nil, 0, ev.id, ex.Result(), nil))
}

// admit lets the peer take part, or refuses it.
func (c *conn) admit(ev *event) {
	c.ws.CloseAt(time.Time{}, 0, "") // it has said hello; what follows is up to us
	hello := ev.hello
	adm, err := c.srv.authenticate(c.request, hello, c.exchange)
	c.exchange = nil
	if err != nil {
		c.leave(ev.id, err)
		return
	}
	adm.Origin = cmp.Or(adm.Origin, c.origin)
	if hello != nil {
		hello.Token, hello.Proof = "", "" // nobody behind this needs them
	}
	if ev.claimKey {
		hello.TabKey, c.release = c.srv.claimKey(tabKey{adm.User, adm.Origin, hello.TabKey})
	}
	c.paired = adm.Pairing != ""
	ctx, cancel := context.WithTimeout(c.ws.Context(), spec.ControlTimeout)
	defer cancel()
	attachment, err := c.srv.Transport(adm.User).Attach(ctx, tabtransport.Conn{
		Origin:        adm.Origin,
		Attested:      adm.Attested,
		Pairing:       adm.Pairing,
		ClaimedOrigin: ev.claimedOrigin,
		Dialect:       c.dialect.name(),
		Remote:        c.ws.Remote(),
		Hello:         hello,
	}, func(acc tabtransport.Accepted) tabtransport.Link {
		c.welcome(ev.id, acc.Result)
		c.peer = acc.Peer
		return c
	})
	if err != nil {
		c.refuse(ev.id, err)
		return
	}
	c.attachment = attachment
	ending := tabtransport.Ending(c.request.Context())
	c.request = nil
	c.admission = adm
	c.ws.Admit()
	c.ws.CloseAt(adm.Expires, spec.CloseRefused, "the credential has expired")
	why := "the token was replaced"
	if adm.Pairing != "" {
		why = "the pairing was forgotten"
	}
	c.ws.CloseWhen(adm.Revoked, spec.CloseRefused, why)
	c.keepAlive()
	c.watch(hello)
	if ending != nil {
		c.retireWhen(ending)
	}
}

// retireTimeout is how long a connection that is about to end waits for answers.
const retireTimeout = 8 * time.Second

// retireWhen closes the connection once ending is done and all requests sent over it are
// answered.
func (c *conn) retireWhen(ending context.Context) {
	var retiring sync.WaitGroup
	retiring.Add(1)
	stop := context.AfterFunc(ending, func() {
		defer retiring.Done()
		ctx, cancel := context.WithTimeout(c.ws.Context(), retireTimeout)
		defer cancel()
		c.attachment.Retire(ctx)
		c.Close(spec.CloseGoingAway, "this connection's server shuts down: connect again")
	})
	c.unretire = func() {
		if !stop() {
			retiring.Wait()
		}
	}
}

// watch sends a paired browser, from now on, what it is to know of its owner's hub.
func (c *conn) watch(hello *spec.Hello) {
	d, ok := c.dialect.(*tabhub)
	if !ok || c.srv.opts.Watch == nil || !c.paired {
		return
	}
	ctx, cancel := context.WithCancel(c.ws.Context())
	adm, peer := c.admission, c.peer
	packs := slices.Contains(hello.Capabilities, spec.CapPacks)
	var watching sync.WaitGroup
	watching.Go(func() {
		c.srv.opts.Watch(ctx, adm, peer, func(notice any) {
			switch notice.(type) {
			case spec.OwnerState:
				c.control(d.appendNotice(nil, spec.MethodOwnerState, notice))
			case spec.Packs:
				if packs {
					c.control(d.appendNotice(nil, spec.MethodPacks, notice))
				}
			}
		})
	})
	c.unwatch = func() { cancel(); watching.Wait() }
}

// pingPrefix begins the ids of pings, which no request has.
const pingPrefix = "ping-"

func isPing(requestID string) bool { return strings.HasPrefix(requestID, pingPrefix) }

// keepAlive pings the peer from now on, with messages where the dialect has one: a
// WebSocket ping does not keep an extension's service worker awake.
func (c *conn) keepAlive() {
	sent := 0
	c.ws.KeepAlive(func() []byte {
		sent++
		return c.dialect.appendPing(nil, pingPrefix+strconv.Itoa(sent))
	})
}

func (c *conn) welcome(id json.RawMessage, result spec.HelloResult) {
	result.KeepAliveMs = cmp.Or(result.KeepAliveMs, c.srv.opts.KeepAlive.Milliseconds())
	if result.Limits == (spec.Limits{}) {
		result.Limits = spec.DefaultLimits
		result.Limits.MaxFrame = int(c.srv.opts.MaxFrame)
	}
	c.control(c.dialect.appendWelcome(nil, id, result))
}

// leave refuses the peer, or lets another process serve it.
func (c *conn) leave(id json.RawMessage, err error) {
	if e, ok := errors.AsType[*tabtransport.RemoteError](err); ok {
		c.ws.Detach(e.Handler, c.request, 0)
		return
	}
	c.refuse(id, err)
}

func (c *conn) refuse(id json.RawMessage, err error) {
	c.srv.stats.refused.Add(1)
	problem := coded(err, spec.CodeRefused)
	if c.srv.logsRefusal(c.origin) {
		c.warn("connection refused", "err", problem)
	}
	c.control(c.dialect.appendRefusal(nil, id, problem))
	c.Close(closeCode(err), problem.Message)
}

// coded returns err in the form that a peer gets, with code if it has none.
func coded(err error, code int) *spec.Error {
	if e, ok := errors.AsType[*spec.Error](err); ok {
		return e
	}
	return spec.Errorf(code, "%s", err)
}

func (c *conn) warn(msg string, args ...any) {
	args = append(args, "dialect", c.dialect.name(), "origin", c.origin, "remote", c.ws.Remote())
	if c.attachment != nil {
		args = append(args, "tab", c.attachment.Peer())
	}
	c.srv.opts.Log.Warn(msg, args...)
}
