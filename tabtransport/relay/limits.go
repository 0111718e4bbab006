package relay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"tabhub/spec"
)

// Limits bound what peers may use. The zero value of a field is its default.
type Limits struct {
	Grace            time.Duration // an extension's connections wait for it; 45 s
	AuthTimeout      time.Duration // until an extension has authenticated; 60 s, as it may have to refresh its token
	HandshakeTimeout time.Duration // until a client, or anybody on /relay, has shaken hands; 30 s
	RequestTimeout   time.Duration // until an answer; 150 s, as clients wait 120 s. Looked at every KeepAlive
	KeepAlive        time.Duration // between two messages to an extension; 15 s. A peer that is silent for three is closed

	MaxFrame       int64 // bytes; 32 MiB. It is 64 KiB until a peer is known
	MaxQueue       int   // bytes that wait for one peer; 64 MiB
	MaxQueueFrames int   // frames that wait for one peer; 4,096
	MaxUnknown     int   // WebSockets of peers that have not authenticated; 256. One more, and the oldest is closed
	MaxExtensions  int   // of a user; 64
	MaxClients     int   // of a user; 512
	MaxConnections int   // of a client that may have several; 64
	MaxInFlight    int   // requests of a connection; 128
	MaxMalformed   int   // frames in a row that cannot be read; 32

	// Requests of one client and of all clients of a user, per second, and how many
	// may come at once. An extension is slowed down to MessageRate instead.
	ClientRate, UserRate, MessageRate    rate.Limit // 500, 2,000, 5,000
	ClientBurst, UserBurst, MessageBurst int        // 1,000, 4,000, 10,000
}

func (l Limits) withDefaults() Limits {
	l.Grace = cmp.Or(l.Grace, spec.BrowserGrace)
	l.AuthTimeout = cmp.Or(l.AuthTimeout, time.Minute)
	l.HandshakeTimeout = cmp.Or(l.HandshakeTimeout, 30*time.Second)
	l.RequestTimeout = cmp.Or(l.RequestTimeout, 150*time.Second)
	l.KeepAlive = cmp.Or(l.KeepAlive, spec.KeepAlive)
	l.MaxFrame = cmp.Or(l.MaxFrame, spec.MaxFrame)
	l.MaxQueue = cmp.Or(l.MaxQueue, 2*spec.MaxFrame)
	l.MaxQueueFrames = cmp.Or(l.MaxQueueFrames, 4096)
	l.MaxUnknown = cmp.Or(l.MaxUnknown, 256)
	l.MaxExtensions = cmp.Or(l.MaxExtensions, 64)
	l.MaxClients = cmp.Or(l.MaxClients, 512)
	l.MaxConnections = cmp.Or(l.MaxConnections, 64)
	l.MaxInFlight = cmp.Or(l.MaxInFlight, 128)
	l.MaxMalformed = cmp.Or(l.MaxMalformed, 32)
	l.ClientRate = cmp.Or(l.ClientRate, 500)
	l.UserRate = cmp.Or(l.UserRate, 2000)
	l.MessageRate = cmp.Or(l.MessageRate, 5000)
	l.ClientBurst = cmp.Or(l.ClientBurst, 1000)
	l.UserBurst = cmp.Or(l.UserBurst, 4000)
	l.MessageBurst = cmp.Or(l.MessageBurst, 10_000)
	return l
}

const (
	writeTimeout = 30 * time.Second // of a frame, besides a second for each MiB
	closeTimeout = 5 * time.Second  // of all WebSockets when the hub ends

	maxFirstFrame = 64 << 10 // a frame of a peer that is not known yet
	maxEarly      = 32       // frames that are overlooked or refused before a peer is known
	maxID         = 512      // an id of a message, in bytes
	maxName       = 128      // a browser's name, as people see it
	maxClientID   = 256      // a client_id
)

// admit takes one request out of both limits, or says when to come back. It takes
// nothing if it refuses.
func admit(client, user *rate.Limiter) *spec.Error {
	now := time.Now()
	a := client.ReserveN(now, 1)
	wait := a.DelayFrom(now)
	if wait == 0 {
		b := user.ReserveN(now, 1)
		if wait = b.DelayFrom(now); wait == 0 {
			return nil
		}
		b.CancelAt(now)
	}
	a.CancelAt(now)
	return tooFast(wait)
}

func tooFast(wait time.Duration) *spec.Error {
	ms := max(wait.Milliseconds(), 1)
	return &spec.Error{
		Code:    spec.CodeLimit,
		Message: fmt.Sprintf("Too many requests: retry after %d ms", ms),
		Data:    json.RawMessage(fmt.Sprintf(`{"code":%q,"retryAfterMs":%d}`, spec.FailQueueFull, ms)),
	}
}
