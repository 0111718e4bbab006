//go:build nightly && unix

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
)

// every is how often each client makes a call: with 50 users of two clients each these are 200 a
// second.
const every = 500 * time.Millisecond

// retryEvery is how soon a client calls again after a call failed.
const retryEvery = 100 * time.Millisecond

// toolWork is the longest time that a tool of a page takes.
const toolWork = 100 * time.Millisecond

// number returns a number from the environment, or n.
func number(name string, n int) int {
	if set, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return set
	}
	return n
}

// load is the users of a cluster, with their tabs and clients.
type load struct {
	t     testing.TB
	c     *cluster
	h     *history
	users []*user
	calls atomic.Int64

	journal *journal // nil on one hub
	stop    context.CancelFunc
	calm    atomic.Bool // tabs are left alone
	plain   bool        // tabs cannot resume calls
	ended   sync.WaitGroup
	worked  sync.Map // when a call of an agent has last worked: *agent → time.Time, of the call's begin
}

// user is one user.
type user struct {
	name   string
	token  string
	agents []*agent
	mu     sync.Mutex
	pages  []*page
	opened int
}

// startLoad opens the tabs of n users and waits until their clients list them.
func startLoad(t testing.TB, c *cluster, n int) *load {
	t.Helper()
	return (&load{t: t, c: c, h: newHistory()}).begin(n)
}

func (l *load) begin(n int) *load {
	t, c := l.t, l.c
	t.Helper()
	base := "http://" + c.balancer.addr()
	for i := range n {
		u := &user{name: fmt.Sprintf("user%02d", i)}
		u.token = c.token(u.name)
		l.users = append(l.users, u)
		u.agents = []*agent{
			{user: u.name, name: "session", h: l.h, face: &sessionFace{poster: newPoster(u.token), url: base + "/mcp"}},
			{user: u.name, name: "lone", h: l.h, face: &loneFace{poster: newPoster(u.token), url: base + "/mcp", name: "lone"}},
		}
		for range 2 {
			l.open(u)
		}
	}
	t.Cleanup(l.close)
	if c.nats != nil {
		l.journal = followJournals(t, c.nats.Conn(t), l.h)
	}
	for _, u := range l.users {
		for _, p := range u.pages {
			select {
			case <-p.joined:
			case <-time.After(timeout):
				t.Fatalf("the tab %s of %s has not joined", p.key, u.name)
			}
		}
		for _, a := range u.agents {
			wait(t, a.name+" of "+u.name+" lists the tools", func() bool { return a.list() && len(a.names) >= 9 })
		}
	}
	return l
}

// open opens a further tab.
func (l *load) open(u *user) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.opened++
	p := &page{
		user: u.name, key: fmt.Sprint(u.name, "-", u.opened), url: "ws://" + l.c.balancer.addr() + "/tabs", token: u.token,
		h: l.h, problem: l.t.Errorf, work: toolWork, plain: l.plain,
	}
	p.open()
	u.pages = append(u.pages, p)
}

// start begins the calls.
func (l *load) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	for _, u := range l.users {
		for _, a := range u.agents {
			l.ended.Go(func() { l.use(ctx, a) })
		}
		l.ended.Go(func() { l.live(ctx, u) })
	}
}

// pause waits for d; it returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// use makes calls until ctx ends.
func (l *load) use(ctx context.Context, a *agent) {
	next := rand.N(every)
	for n := 0; pause(ctx, next); n++ {
		if n%10 == 9 || l.calm.Load() {
			a.list()
		}
		began := time.Now()
		l.calls.Add(1)
		if a.call(a.names[rand.IntN(len(a.names))], fmt.Sprintf("%s-%s-%d", a.user, a.name, n)) {
			l.worked.Store(a, began)
			next = max(0, every-time.Since(began))
		} else {
			next = retryEvery
			a.list() // what it calls may be gone
		}
	}
}

// live is a user's activity: tabs reload, open and close, and their tools change.
func (l *load) live(ctx context.Context, u *user) {
	for pause(ctx, 2*time.Second+rand.N(6*time.Second)) {
		if l.calm.Load() {
			continue
		}
		p := u.pages[rand.IntN(len(u.pages))]
		switch rand.IntN(4) {
		case 0:
			p.reload()
		case 1, 2:
			p.change(rand.IntN(3))
		case 3:
			if len(u.pages) > 2 {
				last := len(u.pages) - 1
				u.pages[last].close()
				u.pages = u.pages[:last]
			} else {
				l.open(u)
			}
		}
	}
}

// settle leaves the tabs alone and waits until a call of each client works. For some seconds from
// then on, each call must work.
func (l *load) settle() {
	l.t.Helper()
	l.calm.Store(true)
	defer l.calm.Store(false)
	// A closed tab stays listed until it could have reconnected.
	pause(context.Background(), spec.TabGrace+time.Second)
	from := time.Now()
	late := from.Add(2 * time.Minute)
	for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
		missing := ""
		for _, u := range l.users {
			for _, a := range u.agents {
				at, _ := l.worked.Load(a)
				if at == nil || at.(time.Time).Before(from) {
					missing = a.name + " of " + u.name
				}
			}
		}
		if missing == "" || time.Now().After(late) {
			tick.Stop()
			if missing != "" {
				l.t.Errorf("calls of %s do not work again", missing)
			}
			break
		}
	}
	l.h.Add(Event{Kind: Calm})
	pause(context.Background(), 3*time.Second)
}

// finish ends all calls, and adds the record to the history.
func (l *load) finish() {
	l.t.Helper()
	l.stop()
	l.ended.Wait()
	for _, u := range l.users {
		l.record(u)
	}
	if l.journal != nil {
		l.journal.await()
	}
}

// close ends what finish has not ended.
func (l *load) close() {
	if l.stop != nil {
		l.stop()
	}
	l.ended.Wait()
	for _, u := range l.users {
		for _, p := range u.pages {
			p.close()
		}
		for _, a := range u.agents {
			a.face.close()
		}
	}
}

// record reads a user's record.
func (l *load) record(u *user) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.c.balancer.addr()+"/api/log?format=jsonl", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+u.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Errorf("the record of %s: %v", u.name, err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		l.t.Errorf("the record of %s: %s", u.name, resp.Status)
		return
	}
	for d := json.NewDecoder(resp.Body); d.More(); {
		var line struct {
			N                          uint64
			Event, Call, Outcome, Late string
		}
		if err := d.Decode(&line); err != nil {
			l.t.Errorf("the record of %s: %v", u.name, err)
			return
		}
		e := Event{Kind: Line, User: u.name, By: line.Event, N: line.N, Text: line.Outcome, Name: line.Late}
		if line.Event == "call" {
			e.Call = line.Call
		}
		l.h.Add(e)
	}
}

// check checks the history, and prints how calls have ended.
func (l *load) check() {
	l.t.Helper()
	events := l.h.Events()
	if path := os.Getenv("TABHUB_CLUSTER_HISTORY"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			l.t.Fatal(err)
		}
		defer f.Close()
		if err := Write(f, events); err != nil {
			l.t.Error(err)
		}
	}
	found := Check(events)
	broken := map[string]int{}
	for _, v := range found {
		if broken[v.Rule]++; broken[v.Rule] <= 5 {
			l.t.Error(v)
		}
	}
	for rule, n := range broken {
		l.t.Errorf("%d × not: %s", n, rule)
	}
	late := 0
	kinds := map[Kind]int{}
	reasons := map[string]int{}
	for _, e := range events {
		kinds[e.Kind]++
		if e.Kind == Line && e.Name != "" && e.Call != "" {
			late++
		}
		if e.Kind == Fail || e.Kind == Info {
			reasons[fmt.Sprintf("%s %.90s", e.Kind, e.Text)]++
		}
	}
	l.t.Logf("%d calls: %d ok, %d not sent, %d unsure; %d runs, %d lists, %d lines, %d of calls late, %d messages", kinds[Invoke], kinds[OK], kinds[Fail],
		kinds[Info], kinds[Run], kinds[List], kinds[Line], late, kinds[Wrote])
	var most []string
	for reason := range reasons {
		most = append(most, reason)
	}
	slices.SortFunc(most, func(a, b string) int { return reasons[b] - reasons[a] })
	for _, reason := range most[:min(len(most), 12)] {
		l.t.Logf("%5d × %s", reasons[reason], reason)
	}
}
