package tabtransport_test

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// recorder is a handler that admits every peer under the name in its browserId or tabKey.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) add(s string) {
	r.mu.Lock()
	r.events = append(r.events, s)
	r.mu.Unlock()
}

func (r *recorder) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	if c.Hello.BrowserID == "refused" {
		return tabtransport.Accepted{}, spec.Errorf(spec.CodeRefused, "go away")
	}
	id := cmp.Or(string(c.Hello.BrowserID), c.Hello.TabKey)
	r.add("connect " + id)
	return tabtransport.Accepted{Peer: spec.PeerID(id)}, nil
}

func (r *recorder) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	r.add("message " + from.String())
}

func (r *recorder) Disconnected(p spec.PeerID, cause error) { r.add("disconnected " + string(p)) }

func hello(id, session string) tabtransport.Conn {
	return tabtransport.Conn{Dialect: "memory", Attested: true, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: spec.BrowserID(id), Session: session}}
}

// slow takes long over the messages of one peer.
type slow struct {
	recorder
	busy chan struct{} // closed when it is done

	mu    sync.Mutex
	heard []string
}

func (s *slow) Message(from spec.TabAddr, _ json.RawMessage, msg spec.Inbound) {
	title := *msg.(*spec.TabState).Title
	if title == "heavy" {
		<-s.busy
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, string(from.Peer)+" "+title)
}

// One page's heavy registration must delay no other tab and no new connection; messages of the
// page's next connection must come after it.
func TestHeavyMessageDelaysOnlyItsPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tabtransport.NewPeers()
		s := &slow{busy: make(chan struct{})}
		m.Handle(s)
		join := func(id string) *tabtransport.Local {
			l, err := m.Join(t.Context(), hello(id, "1"), func(context.Context, tabtransport.Incoming) (spec.Response, error) {
				return spec.Response{}, nil
			})
			if err != nil {
				t.Error(err)
			}
			return l
		}
		say := func(l *tabtransport.Local, title string) { l.Send(1, &spec.TabState{Title: &title}) }
		other, first := join("other"), join("b")
		var wg sync.WaitGroup
		wg.Go(func() { say(first, "heavy") })
		synctest.Wait()
		say(other, "1")
		say(join("third"), "2")
		wg.Go(func() { say(join("b"), "next") })
		say(other, "3")
		close(s.busy)
		wg.Wait()
		if want := []string{"other 1", "third 2", "other 3", "b heavy", "b next"}; !slices.Equal(s.heard, want) {
			t.Errorf("heard %q, want %q", s.heard, want)
		}
	})
}
