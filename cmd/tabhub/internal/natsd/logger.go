//go:build embedded_nats

package natsd

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// quiet is how long the logger does not repeat itself: a server that cannot reach another one
// says so each second, and for each of its addresses.
const quiet = time.Minute

// logger has a NATS server log as the node does. What the server takes for an error, such as
// that it cannot reach another one, is one for people only if the node cannot go on, of which
// the node itself tells.
type logger struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal error                // the first reason for which the server cannot work
	said  map[string]time.Time // by format; there are as many as nats-server's source has
}

func (l *logger) Noticef(format string, args ...any) { l.debug(format, args) }
func (l *logger) Debugf(format string, args ...any)  { l.debug(format, args) }
func (l *logger) Tracef(format string, args ...any)  { l.debug(format, args) }
func (l *logger) Warnf(format string, args ...any)   { l.warn(format, args) }
func (l *logger) Errorf(format string, args ...any)  { l.warn(format, args) }

func (l *logger) debug(format string, args []any) { l.log.Debug(fmt.Sprintf(format, args...)) }

func (l *logger) warn(format string, args []any) {
	if l.repeats(format) {
		l.debug(format, args)
		return
	}
	text := fmt.Sprintf(format, args...)
	if strings.Contains(text, "TLS route handshake error") {
		l.log.Warn("a connection of NATS servers was refused; the secret of the cluster must be the same on all nodes", "err", text)
		return
	}
	l.log.Warn(text)
}

// repeats reports whether the same was said a moment ago. Of formats with a prefix for the
// connection it sees only what follows.
func (l *logger) repeats(format string) bool {
	if i := strings.LastIndex(format, " - "); i >= 0 {
		format = format[i:]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.said[format]) < quiet {
		return true
	}
	if l.said == nil {
		l.said = map[string]time.Time{}
	}
	l.said[format] = now
	return false
}

func (l *logger) Fatalf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = fmt.Errorf(format, args...)
	}
}

// failed returns why the server cannot work, if it cannot.
func (l *logger) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		return nil
	}
	return fmt.Errorf("the NATS server inside: %w", l.fatal)
}
