package forward

import (
	"net"
	"time"
)

// ackTimeout is how long sent data may stay unacknowledged, or find no room at the node, before the
// connection breaks off.
const ackTimeout = 10 * time.Second

// Dialer returns a dialer for Options.Dial. On Linux its connections break off 10 s after a node becomes
// unreachable, or half a minute after if nothing is being sent. On other systems TCP tries for minutes.
func Dialer() *net.Dialer { return dialer(ackTimeout) }

func dialer(timeout time.Duration) *net.Dialer { return &net.Dialer{Control: control(timeout)} }
