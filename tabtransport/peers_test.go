package tabtransport_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// recorder is a handler that takes everybody for whom their browserId names.
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
	r.add("connect " + string(c.Hello.BrowserID))
	return tabtransport.Accepted{Peer: spec.PeerID(c.Hello.BrowserID)}, nil
}

func (r *recorder) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	r.add("message " + from.String())
}

func (r *recorder) Disconnected(p spec.PeerID, cause error) { r.add("disconnected " + string(p)) }

func hello(id, session string) tabtransport.Conn {
	return tabtransport.Conn{Dialect: "memory", Attested: true, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: spec.BrowserID(id), Session: session}}
}

func TestInProcessTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tabtransport.NewPeers()
		rec := &recorder{}
		m.Handle(rec)
		tab, err := m.Join(t.Context(), hello("b", "1"), func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
			switch in.Request.(*spec.ExecuteTool).ToolName {
			case "echo":
				return spec.Response{Result: in.Request.(*spec.ExecuteTool).Args}, nil
			case "slow":
				for i := range 5 {
					time.Sleep(20 * time.Second)
					in.Progress(float64(i), nil, "")
				}
				return spec.Response{Result: json.RawMessage(`"done"`)}, nil
			case "throw":
				return spec.Response{}, errors.New("boom")
			}
			<-ctx.Done()
			return spec.Response{}, context.Cause(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		to := spec.TabAddr{Peer: "b", Tab: 3}
		resp, err := m.SendRequest(t.Context(), to, &spec.ExecuteTool{ToolName: "echo", Args: json.RawMessage(`{"a":1}`)}, tabtransport.Wait{})
		if err != nil || string(resp.Result) != `{"a":1}` {
			t.Fatalf("echo: %s %v", resp.Result, err)
		}
		resp, err = m.SendRequest(t.Context(), to, &spec.ExecuteTool{ToolName: "throw"}, tabtransport.Wait{})
		if err != nil || !resp.Failed || string(resp.Result) != `"boom"` {
			t.Fatalf("throw: %+v %v", resp, err)
		}
		n := 0
		resp, err = m.SendRequest(t.Context(), to, &spec.ExecuteTool{ToolName: "slow"}, tabtransport.Wait{Timeout: 30 * time.Second, Max: 10 * time.Minute, Progress: func(spec.Progress) { n++ }})
		if err != nil || n != 5 {
			t.Fatalf("slow: %+v %v, %d reports of progress", resp, err, n)
		}
		if _, err = m.SendRequest(t.Context(), to, &spec.ExecuteTool{ToolName: "hang"}, tabtransport.Wait{}); !errors.Is(err, tabtransport.ErrTimeout) {
			t.Fatalf("hang: %v", err)
		}
		if m.InFlight() != 0 {
			t.Fatal("requests are left")
		}
		tab.Close()
		if _, err = m.SendRequest(t.Context(), to, &spec.Ping{}, tabtransport.Wait{}); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Fatalf("after close: %v", err)
		}
	})
}

// forgetful gives each peer up in the instant in which it is admitted.
type forgetful struct {
	recorder
	m *tabtransport.Peers
}

func (f *forgetful) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	acc, err := f.recorder.Connect(c)
	f.m.Disconnect(spec.TabAddr{Peer: acc.Peer}, spec.CloseGoingAway, "the browser has ended")
	return acc, err
}

// A peer that the hub has forgotten must not stay connected: its pages would offer
// tools that nobody lists.
func TestPeerThatIsGivenUpWhileItIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tabtransport.NewPeers()
		m.Handle(&forgetful{m: m})
		join := func(id string) error {
			_, err := m.Join(t.Context(), hello(id, "1"), func(context.Context, tabtransport.Incoming) (spec.Response, error) {
				return spec.Response{}, nil
			})
			return err
		}
		if err := join("refused"); err == nil {
			t.Error("admitted although the hub has refused it")
		}
		if err := join("b"); err != nil {
			t.Fatal(err)
		}
		if m.Connected() != 0 {
			t.Error("the peer still has its connection")
		}
		if _, err := m.SendRequest(t.Context(), spec.TabAddr{Peer: "b"}, &spec.Ping{}, tabtransport.Wait{}); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Errorf("a request to it ended with %v", err)
		}
	})
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

// One page's heavy registration must delay no other tab, nor anybody who connects;
// what its own next connection says must come after it.
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
