package tabtransport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// order is a handler that checks the promises of Handler while peers come and go.
type order struct {
	t *testing.T
	m *tabtransport.Peers

	mu        sync.Mutex
	connected map[spec.PeerID]bool
	grace     map[spec.PeerID]*time.Timer
}

func (o *order) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := spec.PeerID(c.Hello.BrowserID)
	o.connected[id] = true
	if t := o.grace[id]; t != nil {
		t.Stop()
	}
	return tabtransport.Accepted{Peer: id}, nil
}

func (o *order) Message(from spec.TabAddr, id json.RawMessage, _ spec.Inbound) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.connected[from.Peer] {
		o.t.Errorf("message of %s, which is not connected", from)
	}
}

func (o *order) Disconnected(id spec.PeerID, _ error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.connected[id] {
		o.t.Errorf("%s is disconnected twice", id)
	}
	o.connected[id] = false
	o.grace[id] = time.AfterFunc(spec.TabGrace, func() { o.m.Disconnect(spec.TabAddr{Peer: id}, spec.CloseGoingAway, "") })
}

// However peers come, go, replace each other and answer, each call ends in time with an
// outcome that SendRequest documents, and the handler's events are consistent.
func TestPeersThatComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tabtransport.NewPeers()
		o := &order{t: t, m: m, connected: map[spec.PeerID]bool{}, grace: map[spec.PeerID]*time.Timer{}}
		m.Handle(o)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 12 {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			pause := func(max time.Duration) { time.Sleep(rand.N(max)) }
			wg.Go(func() {
				for ctx.Err() == nil {
					session := fmt.Sprint(rnd.IntN(2))
					tab, err := m.Join(ctx, hello(fmt.Sprintf("p%d", i%4), session), func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
						pause(2 * time.Second)
						in.Progress(1, nil, "")
						pause(2 * time.Second)
						return spec.Response{Result: json.RawMessage(in.Request.(*spec.ExecuteTool).ToolName)}, ctx.Err()
					})
					if err != nil {
						return
					}
					for range rnd.IntN(5) {
						tab.Send(int64(1+rnd.IntN(3)), &spec.TabState{})
						pause(time.Second)
					}
					tab.Close()
					pause(8 * time.Second)
				}
			})
		}
		count := map[string]int{}
		var mu sync.Mutex
		var calls sync.WaitGroup
		for i := range 3000 {
			calls.Go(func() {
				time.Sleep(rand.N(time.Minute))
				name := fmt.Sprint(i)
				began := time.Now()
				resp, err := m.SendRequest(t.Context(), spec.TabAddr{Peer: spec.PeerID(fmt.Sprintf("p%d", i%4)), Tab: int64(1 + i%3)},
					&spec.ExecuteTool{ToolName: name}, tabtransport.Wait{Timeout: 3 * time.Second, Max: 20 * time.Second, Progress: func(spec.Progress) {}})
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("a call took %v", took)
				}
				outcome := "other"
				for _, known := range []error{nil, tabtransport.ErrNotConnected, tabtransport.ErrLost, tabtransport.ErrTimeout} {
					if errors.Is(err, known) {
						outcome = fmt.Sprint(known)
					}
				}
				if outcome == "other" || err == nil && !resp.Failed && string(resp.Result) != name {
					t.Errorf("call %s ended with %s, %v", name, resp.Result, err)
				}
				mu.Lock()
				count[outcome]++
				mu.Unlock()
			})
		}
		calls.Wait()
		stop()
		wg.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		if m.InFlight() != 0 || m.Connected() != 0 {
			t.Errorf("%d requests and %d connections are left", m.InFlight(), m.Connected())
		}
		for _, outcome := range []string{"<nil>", tabtransport.ErrNotConnected.Error(), tabtransport.ErrLost.Error(), tabtransport.ErrTimeout.Error()} {
			if count[outcome] == 0 {
				t.Errorf("no call ended with %s: %v", outcome, count)
			}
		}
	})
}
