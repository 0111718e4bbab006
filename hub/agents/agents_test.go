package agents

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tabhub/spec"
)

// fixture is an Agents beside many tabs.
type fixture struct {
	*Agents
	t   *testing.T
	now time.Time
}

func newFixture(t *testing.T) *fixture {
	return &fixture{Agents: New(manyTabs{}), t: t, now: time.Unix(1e9, 0)}
}

// change changes the Agents, and checks that what it knows of sessions agrees then.
func (f *fixture) change(change func(tx *Tx)) {
	f.t.Helper()
	tx := f.Begin(f.now)
	change(&tx)
	tx.End()
	leases, groups := 0, 0
	for id, ses := range f.sessions {
		if ses.id != id || id == (SessionID{}) {
			f.t.Fatalf("session %v is known as %v", ses.id, id)
		}
		for l := range ses.leases {
			if leases++; l.session != ses || f.leases[l.addr] != l {
				f.t.Fatalf("the lease of %s is not that of its session", l.addr)
			}
		}
		for addr := range ses.group {
			if groups++; f.groups[addr] != ses {
				f.t.Fatalf("another session has opened tab %s", addr)
			}
		}
		if len(ses.preferred) > maxPreferred || len(ses.group) > maxSessionTabs || len(ses.leases) > maxSessionTabs {
			f.t.Fatalf("session %v has too many tabs", id)
		}
	}
	if leases != len(f.leases) || groups != len(f.groups) {
		f.t.Fatalf("sessions have leased %d tabs and opened %d; known are %d and %d", leases, groups, len(f.leases), len(f.groups))
	}
}

type manyTabs struct{}

func (manyTabs) Len() int                                 { return 1000 }
func (manyTabs) Shows(spec.TabAddr) (url, title string)   { return "", "" }
func (manyTabs) Run(spec.PeerID) (spec.BrowserID, string) { return "", "" }
func at(tab int) spec.TabAddr                             { return spec.TabAddr{Peer: "browser:b", Tab: int64(tab)} }
func by(client string, id any) By                         { return By{Session: SessionID{client, fmt.Sprint(id)}} }

// However sessions come, go, lease, open and lose tabs, what is known of them agrees.
func TestConsistentAfterEachChange(t *testing.T) {
	f, r := newFixture(t), rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		by, at := by("c", r.IntN(4)), at(r.IntN(6))
		f.change([]func(tx *Tx){
			func(tx *Tx) { tx.Connect(by) },
			func(tx *Tx) { tx.Disconnect(by.Session, r.IntN(4) == 0) },
			func(tx *Tx) { tx.Lease(by, at, Terms{TTL: time.Minute}) },
			func(tx *Tx) { tx.Release(by.Session, at) },
			func(tx *Tx) { tx.EndLease(at) },
			func(tx *Tx) { tx.Opened(by, at) },
			func(tx *Tx) { tx.Prefer(by, at) },
			func(tx *Tx) { tx.Remember(by, at) },
			func(tx *Tx) { tx.Readdress(at, spec.TabAddr{Peer: at.Peer, Tab: (at.Tab + 1) % 6}) },
			func(tx *Tx) { tx.Forget(func(a spec.TabAddr) bool { return a == at }) },
			func(tx *Tx) { f.now = f.now.Add(time.Minute); tx.now = f.now; tx.Sweep() },
		}[r.IntN(11)])
	}
}

// A client, or a session, that takes whatever it gets must not drive out others or fill the memory.
func TestBounds(t *testing.T) {
	f := newFixture(t)
	holder := by("holder", 1)
	f.change(func(tx *Tx) { tx.Lease(holder, at(1), Terms{TTL: time.Hour}) })
	for i := range maxClientSessions + 50 {
		f.change(func(tx *Tx) {
			tx.Connect(by("connected", i))
			tx.Remember(by("flood", fmt.Sprint("=", i)), at(1))
		})
		f.now = f.now.Add(time.Millisecond)
	}
	last := by("flood", fmt.Sprint("=", maxClientSessions+49)).Session
	if _, n := f.Sessions("flood", "", 0, -1); n != maxClientSessions || f.Holder(at(1)) == nil || f.Session(last) == nil {
		t.Errorf("%d sessions of one client, %v", n, f.Holder(at(1)))
	}
	for i := range maxSessionTabs + 10 {
		f.change(func(tx *Tx) {
			tx.Prefer(holder, at(100+i))
			tx.Opened(holder, at(200+i))
			if h := tx.Lease(holder, at(200+i), Terms{TTL: time.Hour}); (h == nil) != (i >= maxSessionTabs-1) {
				t.Errorf("lease %d: %v", i, h)
			}
		})
	}
}
