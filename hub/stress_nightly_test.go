//go:build nightly

package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// crowd is a Hub whose tabs come, go, reload and register at random, and count
// how often each call has run.
type crowd struct {
	*fixture
	mu      sync.Mutex
	ran     map[string]int // by the call's own id
	strayed []string       // calls that ran where they should not
}

const (
	stressDomains = 3
	stressTools   = 4
)

func site(i int) string { return fmt.Sprintf("https://s%d.com", i%stressDomains) }

// serve is how every tab answers: late, or with an error, or never.
func (c *crowd) serve(rnd *lockedRand, origin func(tab int64) string) tabtransport.Serve {
	return func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		switch req := in.Request.(type) {
		case *spec.OpenTab:
			if rnd.n(3) == 0 {
				return spec.Response{}, errors.New("no window")
			}
			return spec.Response{Result: json.RawMessage(fmt.Sprintf(`{"tabId":%d}`, 1+rnd.n(6)))}, nil
		case *spec.ExecuteTool:
			var args struct{ ID, Site string }
			_ = json.Unmarshal(req.Args, &args)
			if rnd.n(8) == 0 {
				return spec.Response{}, &spec.Error{Code: spec.CodeTabNotFound, Message: "loading", Data: spec.NotDelivered}
			}
			c.mu.Lock()
			c.ran[args.ID]++
			if at := origin(in.Tab); at != args.Site {
				c.strayed = append(c.strayed, fmt.Sprintf("%s, meant for %s, ran at %s", args.ID, args.Site, at))
			}
			c.mu.Unlock()
			select {
			case <-time.After(time.Duration(rnd.n(3000)) * time.Millisecond):
			case <-ctx.Done():
			}
			if rnd.n(10) == 0 {
				<-ctx.Done()
			}
			return spec.Response{Result: json.RawMessage(`{"content":[]}`)}, nil
		}
		return spec.Response{Result: json.RawMessage(`{}`)}, nil
	}
}

// lockedRand is a random source with a seed, for several goroutines.
type lockedRand struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (l *lockedRand) n(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.IntN(n)
}

func (l *lockedRand) pause(max int) { time.Sleep(time.Duration(l.n(max)) * time.Millisecond) }

// register makes a random registration for a site. Of its tools t0 may be run again
// and t1 is cached.
func randomTools(rnd *lockedRand, url string) *spec.Register {
	m := tools(url)
	for i := range stressTools {
		extra := []string{`:"annotations":{"readOnlyHint":true}`, `:"annotations":{"cache":true}`, "", ""}[i]
		if rnd.n(4) > 0 {
			m.Items = append(m.Items, tools("", fmt.Sprint("t", i)+extra).Items...)
		}
	}
	if rnd.n(6) == 0 {
		m.Items = append(m.Items, json.RawMessage(`{"name":"t2","inputSchema":{"type":"object","required":["id"]}}`))
	}
	return m
}

// leaving makes a random registration of a document some of whose tools have departed.
func leaving(rnd *lockedRand, url string) *spec.Register {
	m := randomTools(rnd, url)
	for i, it := range m.Items {
		if rnd.n(3) > 0 {
			m.Items[i] = append([]byte(`{"departed":true,`), it[1:]...)
		}
	}
	return m
}

// page lives as a single tab of one site.
func (c *crowd) livePage(ctx context.Context, i int, rnd *lockedRand) {
	for session := 0; ctx.Err() == nil; session++ {
		hello := &spec.Hello{TabKey: fmt.Sprint("k", i), Session: fmt.Sprint(session / 2)}
		l, err := c.peers.Join(ctx, tabtransport.Conn{Origin: site(i), Dialect: spec.Subprotocol, Hello: hello}, c.serve(rnd, func(int64) string { return site(i) }))
		if err != nil {
			return
		}
		for range rnd.n(6) {
			switch rnd.n(4) {
			case 0:
				l.Send(0, &spec.TabState{Visible: ptr(rnd.n(2) == 0), URL: ptr(site(i) + fmt.Sprint("/", rnd.n(3)))})
			case 1:
				_, _ = l.Ask(ctx, 0, randomTools(rnd, site(i)+"/"))
			default:
				l.Send(0, randomTools(rnd, site(i)+"/"))
			}
			rnd.pause(2000)
		}
		if rnd.n(5) == 0 {
			l.Send(0, &spec.TabClosed{})
		}
		l.Close()
		rnd.pause(9000)
	}
}

// liveBrowser lives as a browser with the extension. A tab n of it is at site n, so
// that none changes its site.
func (c *crowd) liveBrowser(ctx context.Context, i int, rnd *lockedRand) {
	id := fmt.Sprint("b", i)
	for session := 0; ctx.Err() == nil; session++ {
		conn := chromeConn(id, fmt.Sprint(session/3), "")
		l, err := c.peers.Join(ctx, conn, c.serve(rnd, func(tab int64) string { return site(int(tab)) }))
		if err != nil {
			return
		}
		for range rnd.n(20) {
			n := 1 + rnd.n(6)
			switch rnd.n(9) {
			case 0:
				l.Send(int64(n), &spec.TabClosed{})
			case 1:
				l.Send(int64(n), &spec.TabState{Active: ptr(rnd.n(2) == 0), WindowID: ptr(int64(rnd.n(2))), WindowFocused: ptr(rnd.n(2) == 0)})
			case 2:
				_, _ = l.Ask(ctx, int64(n), randomTools(rnd, site(n)+"/"))
			case 3:
				l.Send(int64(n), leaving(rnd, site(n)+"/"))
			case 4:
				l.Send(int64(n), &spec.TabState{Discarded: ptr(rnd.n(2) == 0)})
			case 5: // that of the other tab at its site
				l.Send(int64(n), &spec.TabState{Replaces: int64((n+2)%6 + 1), Discarded: ptr(true)})
			default:
				l.Send(int64(n), randomTools(rnd, site(n)+fmt.Sprint("/", rnd.n(3))))
			}
			rnd.pause(1500)
		}
		l.Close()
		if rnd.n(4) == 0 {
			c.hub.Core.Forget(spec.PeerID("browser:"+id), spec.CloseGoingAway, "gone")
		}
		rnd.pause([]int{500, 60_000}[rnd.n(2)])
	}
}

// However tabs come, go, sleep, reload and change what they offer: each call ends, in time;
// none runs twice but one that may; and none runs at another site.
func TestCrowd(t *testing.T) {
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{fixture: newFixture(t, Options{}), ran: map[string]int{}}
			ctx, stop := context.WithCancel(t.Context())
			var lives, calls sync.WaitGroup
			random := func(stream int) *lockedRand {
				return &lockedRand{r: rand.New(rand.NewPCG(seed, uint64(stream)))}
			}
			for i := range 8 {
				lives.Go(func() { c.livePage(ctx, i, random(i)) })
			}
			for i := range 4 {
				lives.Go(func() { c.liveBrowser(ctx, i, random(100+i)) })
			}
			outcomes := map[string]int{}
			for i := range 1500 {
				calls.Go(func() { c.call1(i, random(1000+i), outcomes) })
			}
			calls.Wait()
			stop()
			lives.Wait()
			t.Logf("seed %d: %v", seed, outcomes)
			if len(c.strayed) > 0 {
				t.Errorf("%d calls went astray, such as: %s", len(c.strayed), c.strayed[0])
			}
			if n := c.peers.InFlight(); n != 0 {
				t.Errorf("%d requests are left", n)
			}
			time.Sleep(spec.BrowserGrace + time.Minute)
			if n := len(c.hub.Tabs(nil)); n != 0 {
				t.Errorf("%d tabs are left", n)
			}
			if s := c.hub.Status(); s.InFlight != 0 {
				t.Errorf("%d calls are left", s.InFlight)
			}
		})
	}
}

// call1 makes one call at a random time and checks how it ends.
func (c *crowd) call1(i int, rnd *lockedRand, outcomes map[string]int) {
	rnd.pause(120_000)
	tool, s := rnd.n(stressTools), rnd.n(stressDomains)
	id := fmt.Sprint("call", i)
	name := fmt.Sprintf("website_tool_s%d_com_t%d", s, tool)
	if rnd.n(3) == 0 {
		name = fmt.Sprintf("website_tool_s%d_com_tab%d_t%d", s, 1+rnd.n(5), tool)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	if rnd.n(10) == 0 {
		time.AfterFunc(time.Duration(rnd.n(5000))*time.Millisecond, cancel)
	}
	defer cancel()
	began := time.Now()
	result, err := c.hub.Calls.Call(ctx, call.Request{By: tester, Name: name, Args: json.RawMessage(fmt.Sprintf(`{"id":%q,"site":%q}`, id, site(s)))})
	took := time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	outcome := "ok"
	var unknown *lists.UnknownError
	switch {
	case errors.As(err, &unknown):
		outcome = "unknown"
	case err != nil:
		outcome = err.Error()
	default:
		for _, code := range []spec.FailureCode{
			spec.FailTabNotFound, spec.FailTabClosed, spec.FailNotConnected, spec.FailToolTimeout, spec.FailToolError, spec.FailInvalidArguments, spec.FailQueueFull,
		} {
			if strings.Contains(string(result), string(code)) {
				outcome = string(code)
			}
		}
	}
	outcomes[outcome]++
	if took > 3*time.Minute {
		c.t.Errorf("%s ended with %s after %v", id, outcome, took)
	}
	n := c.ran[id]
	switch {
	case n > 1 && tool != 0:
		c.t.Errorf("%s ran %d times", id, n)
	case n == 0 && outcome == "ok":
		c.t.Errorf("%s has a result and did not run", id)
	case n > 0 && tool != 0 && (outcome == string(spec.FailTabNotFound) || outcome == string(spec.FailNotConnected) || outcome == "unknown" || outcome == string(spec.FailInvalidArguments)):
		c.t.Errorf("%s ran and ended with %s", id, outcome)
	}
}
