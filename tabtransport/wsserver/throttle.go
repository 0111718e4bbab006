package wsserver

import (
	"encoding/json"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tabhub/spec"
)

// throttle delivers a connection's messages and holds back registrations beyond
// spec.MaxRegistrations a second and tab. What is held back is the tab's newest
// registration of its kind; it follows as soon as the rate allows, so the last
// state always wins. One that a newer replaces is answered with CodeLimit, if it
// was a request.
type throttle struct {
	mu   sync.Mutex // held while a message is delivered: an older never overtakes a newer
	tabs map[int64]*tabThrottle
	done bool
}

type tabThrottle struct {
	limit *rate.Limiter
	held  []heldRegistration // at most one of each kind
	timer *time.Timer        // runs while held is not empty
}

type heldRegistration struct {
	id  json.RawMessage
	msg *spec.Register
}

// maxThrottledTabs is from where on idle tabs are forgotten.
const maxThrottledTabs = 1024

func (t *throttle) message(c *conn, tab int64, id json.RawMessage, msg spec.Inbound) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch msg := msg.(type) {
	case *spec.Register:
		if t.holdLocked(c, tab, id, msg) {
			return
		}
	case *spec.TabClosed:
		t.forgetLocked(c, tab)
	}
	c.seat.Message(tab, id, msg)
}

// holdLocked reports whether it has held the registration back.
func (t *throttle) holdLocked(c *conn, tab int64, id json.RawMessage, msg *spec.Register) bool {
	tt := t.tabs[tab]
	if tt == nil {
		if t.tabs == nil {
			t.tabs = make(map[int64]*tabThrottle)
		}
		if len(t.tabs) >= maxThrottledTabs {
			t.pruneLocked()
		}
		tt = &tabThrottle{limit: rate.NewLimiter(spec.MaxRegistrations, spec.MaxRegistrations)}
		t.tabs[tab] = tt
	}
	for i, h := range tt.held {
		if h.msg.Kind == msg.Kind {
			tt.held[i] = heldRegistration{id, msg}
			c.superseded(tab, h)
			return true
		}
	}
	if tt.limit.Allow() {
		return false
	}
	tt.held = append(tt.held, heldRegistration{id, msg})
	if tt.timer == nil {
		tt.timer = time.AfterFunc(time.Second/spec.MaxRegistrations, func() { t.release(c, tab, tt) })
	}
	return true
}

// release delivers what the rate allows by now.
func (t *throttle) release(c *conn, tab int64, tt *tabThrottle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.tabs[tab] != tt {
		return
	}
	for len(tt.held) > 0 && tt.limit.Allow() {
		h := tt.held[0]
		tt.held = tt.held[1:]
		c.seat.Message(tab, h.id, h.msg)
	}
	if len(tt.held) > 0 {
		tt.timer.Reset(time.Second / spec.MaxRegistrations)
		return
	}
	tt.held, tt.timer = nil, nil
}

// forgetLocked drops what is held of a tab that was closed.
func (t *throttle) forgetLocked(c *conn, tab int64) {
	tt := t.tabs[tab]
	if tt == nil {
		return
	}
	delete(t.tabs, tab)
	if tt.timer != nil {
		tt.timer.Stop()
	}
	for _, h := range tt.held {
		c.superseded(tab, h)
	}
}

// pruneLocked forgets the tabs that have been quiet for a second.
func (t *throttle) pruneLocked() {
	for tab, tt := range t.tabs {
		if len(tt.held) == 0 && tt.limit.Tokens() >= spec.MaxRegistrations {
			delete(t.tabs, tab)
		}
	}
}

// flush delivers what is held, at the end of the connection.
func (t *throttle) flush(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	for tab, tt := range t.tabs {
		if tt.timer != nil {
			tt.timer.Stop()
		}
		for _, h := range tt.held {
			c.seat.Message(tab, h.id, h.msg)
		}
	}
	t.tabs = nil
}

func (c *conn) superseded(tab int64, h heldRegistration) {
	c.srv.stats.throttled.Add(1)
	if h.id != nil {
		c.Respond(tab, h.id, nil, spec.Errorf(spec.CodeLimit, "replaced by a later registration: at most %d a second", spec.MaxRegistrations))
	}
}
