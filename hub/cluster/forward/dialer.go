package forward

import (
	"net"
	"time"
)

// ackTimeout is how long a node may acknowledge nothing of what it was sent, or have no room for more,
// until the connection breaks off.
const ackTimeout = 10 * time.Second

// Dialer returns a dialer for Options.Dial. On Linux its connections break off 10 s after a node has
// become unreachable to which something is sent, and half a minute after if nothing is. Elsewhere TCP
// tries for minutes.
func Dialer() *net.Dialer { return dialer(ackTimeout) }

func dialer(timeout time.Duration) *net.Dialer { return &net.Dialer{Control: control(timeout)} }
