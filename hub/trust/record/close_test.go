package record

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"
)

// silent is a medium of servers that do not answer.
type silent struct{ asked chan struct{} }

func (s silent) begin(ctx context.Context, _ *Note) (Head, []byte, error) {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return Head{}, nil, context.Cause(ctx)
}

func (silent) append(context.Context, uint64, []byte) (bool, error) { panic("it has not begun") }
func (silent) removePayloads(context.Context, []piece) error        { panic("it has not begun") }
func (silent) appendPayloads(context.Context, []byte) error         { panic("it has not begun") }
func (silent) remove(context.Context, []piece) error                { return nil }
func (silent) pieces(context.Context) iter.Seq2[piece, error] {
	return func(func(piece, error) bool) {}
}
func (silent) now(at time.Time) time.Time { return at }
func (silent) sync(Head) error            { return nil }
func (silent) close() error               { return nil }

// A hub that ends waits for servers that do not answer as long as it was to, and no longer: neither
// until the attempt under way has had its time, nor with another one. The process that has room for
// the lines waits as long as it is told to.
func TestCloseOfSilentServers(t *testing.T) {
	for name, late := range map[string]bool{"the rest is lost": false, "the process goes on": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const processWaits = 100 * time.Millisecond
				var o Options
				if late {
					o.Deferred = NewDeferred(1 << 20)
				}
				o.setDefaults()
				m := silent{make(chan struct{}, 1)}
				r := start(m, o, 0)
				r.Append(Entry{Time: time.Now(), Event: Call, Tool: "a"})
				<-m.asked
				r.Append(Entry{Time: time.Now(), Event: Call, Tool: "b"})
				began := time.Now()
				r.Close()
				if took := time.Since(began); took > closeTimeout {
					t.Errorf("a hub that ends waited %v, want %v", took, closeTimeout)
				}
				if late {
					ctx, cancel := context.WithTimeout(t.Context(), processWaits)
					defer cancel()
					began := time.Now()
					o.Deferred.Close(ctx)
					if took := time.Since(began); took > processWaits {
						t.Errorf("a process that ends waited %v, want %v", took, processWaits)
					}
				}
				if s := r.Status(); s.Lost != 2 || s.Error == "" {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}
