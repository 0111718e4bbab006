//go:build !linux

package forward

import (
	"syscall"
	"time"
)

func control(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
