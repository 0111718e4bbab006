package relay

import (
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
	orDefault(&l.Grace, spec.BrowserGrace)
	orDefault(&l.AuthTimeout, time.Minute)
	orDefault(&l.HandshakeTimeout, 30*time.Second)
	orDefault(&l.RequestTimeout, 150*time.Second)
	orDefault(&l.KeepAlive, spec.KeepAlive)
	orDefault(&l.MaxFrame, spec.MaxFrame)
	orDefault(&l.MaxQueue, 2*spec.MaxFrame)
	orDefault(&l.MaxQueueFrames, 4096)
	orDefault(&l.MaxUnknown, 256)
	orDefault(&l.MaxExtensions, 64)
	orDefault(&l.MaxClients, 512)
	orDefault(&l.MaxConnections, 64)
	orDefault(&l.MaxInFlight, 128)
	orDefault(&l.MaxMalformed, 32)
	orDefault(&l.ClientRate, 500)
	orDefault(&l.UserRate, 2000)
	orDefault(&l.MessageRate, 5000)
	orDefault(&l.ClientBurst, 1000)
	orDefault(&l.UserBurst, 4000)
	orDefault(&l.MessageBurst, 10_000)
	return l
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
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
	e := failed(spec.FailQueueFull, "Too many requests: retry after %d ms", ms)
	e.Code = spec.CodeLimit
	e.Data = json.RawMessage(fmt.Sprintf(`{"code":%q,"retryAfterMs":%d}`, spec.FailQueueFull, ms))
	return e
}
