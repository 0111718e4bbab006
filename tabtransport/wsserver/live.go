package wsserver

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// maxMissed is how many pings in a row a peer may leave without any sign of life.
const maxMissed = 2

// pingPrefix begins the ids of pings, which are in no request table.
const pingPrefix = "ping-"

// liveness closes a connection whose peer says nothing: no hello in time, or later
// no answer to pings. Each part of a frame counts as an answer.
type liveness struct {
	missed atomic.Int32
	sent   int // pings; owned by the timer

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

func (l *liveness) heard() { l.missed.Store(0) }

func (l *liveness) start(d time.Duration, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	if !l.stopped {
		l.timer = time.AfterFunc(d, f)
	}
}

// pause stops the timer until the next start.
func (l *liveness) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *liveness) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// awaitHello closes the connection if it is not admitted in time.
func (c *conn) awaitHello() {
	wait := c.dialect.helloTimeout()
	c.live.start(wait, func() {
		c.srv.stats.slow.Add(1)
		c.Close(spec.CloseSlow, "no hello within "+wait.String())
	})
}

// keepAlive pings the peer from now on. It must be a message where the dialect has
// one: a WebSocket ping does not keep an extension's service worker awake.
func (c *conn) keepAlive() {
	c.live.heard()
	c.live.start(c.srv.opts.KeepAlive, c.tick)
}

func (c *conn) tick() {
	if c.live.missed.Add(1) > maxMissed {
		c.srv.stats.slow.Add(1)
		c.Close(spec.CloseSlow, "no answer to "+strconv.Itoa(maxMissed)+" pings")
		return
	}
	c.live.sent++
	if ping := c.dialect.appendPing(nil, pingPrefix+strconv.Itoa(c.live.sent)); ping != nil {
		c.control(ping)
	} else if c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(lingerTimeout)) != nil {
		return // the reader sees why
	}
	c.live.start(c.srv.opts.KeepAlive, c.tick)
}

func isPing(requestID string) bool { return strings.HasPrefix(requestID, pingPrefix) }
