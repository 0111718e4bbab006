//go:build nightly && unix

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// How a page comes back, as /tab.js does.
const (
	retryFirst = 500 * time.Millisecond
	retryLast  = 15 * time.Second
	helloWait  = 10 * time.Second
	quiet      = 45 * time.Second
)

// pageOrigin is where all pages are.
const pageOrigin = "http://shop.localhost:8000"

// page is a tab of a user, and the document in it. It speaks tabhub.v1 as /tab.js does: it
// reconnects when the connection is lost, remembers its calls, and repeats answers that may not have
// arrived.
type page struct {
	user, key string
	url       string // of the WebSocket
	token     string
	h         *history // nil: nobody looks
	problem   func(format string, args ...any)
	// work is the longest that a tool takes.
	work time.Duration
	// plain pages cannot resume a call, and have no session.
	plain bool

	ctx    context.Context
	leave  context.CancelFunc
	ended  sync.WaitGroup
	joined chan struct{} // gets a value when the hub has taken the tools

	mu       sync.Mutex
	peer     *wstest.Peer // nil while there is no connection
	document int
	extra    int                // how many tools of the kind that comes and goes there are
	runs     map[string]*answer // of the document, by the call's id
}

// answer is that of one call; frame is nil while the tool works.
type answer struct {
	frame []byte
	came  time.Time // the call
}

// answersKept is how long a page remembers its calls.
const answersKept = time.Minute

// open opens the tab.
func (p *page) open() {
	p.ctx, p.leave = context.WithCancel(context.Background())
	p.joined = make(chan struct{}, 1)
	p.runs = map[string]*answer{}
	p.ended.Go(p.live)
}

// close closes the tab without a message.
func (p *page) close() {
	p.leave()
	p.ended.Wait()
}

// reload loads another document in the tab, which knows nothing of earlier calls.
func (p *page) reload() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.document++
	p.runs = map[string]*answer{}
	if p.peer != nil {
		p.peer.Close()
	}
}

// change changes the number of tools that the page offers.
func (p *page) change(extra int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.extra = extra
	if p.peer != nil {
		p.peer.Send(p.registrationLocked())
	}
}

func (p *page) registrationLocked() []byte {
	tools := []string{
		`{"name":"buy","description":"Buys","inputSchema":{"type":"object"}}`,
		`{"name":"look","description":"Looks","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		fmt.Sprintf(`{"name":%q,"description":"Is only there","inputSchema":{"type":"object"}}`, OwnTool(p.user)),
	}
	for i := range p.extra {
		tools = append(tools, fmt.Sprintf(`{"name":"extra%d","description":"Comes and goes","inputSchema":{"type":"object"}}`, i))
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"tools","method":"browser/registerTools","params":{"tools":[%s],"tabUrl":%q,"title":"Tab %s"}}`,
		strings.Join(tools, ","), pageOrigin+"/"+p.key, p.key)
}

// live connects again and again.
func (p *page) live() {
	for attempts := 0; p.ctx.Err() == nil; {
		if p.serve() {
			attempts = 0
		}
		step := min(retryLast, retryFirst<<min(attempts, 10))
		attempts++
		timer := time.NewTimer(time.Duration(float64(step) * (0.75 + rand.Float64()/2)))
		select {
		case <-timer.C:
		case <-p.ctx.Done():
			timer.Stop()
		}
	}
}

// serve serves one connection. It reports whether the hub has greeted the page.
func (p *page) serve() (greeted bool) {
	ctx, cancel := context.WithTimeout(p.ctx, helloWait)
	defer cancel()
	peer, _, err := wstest.Connect(ctx, p.url, http.Header{"Origin": {pageOrigin}}, spec.Subprotocol)
	if err != nil {
		return false
	}
	defer peer.Close()
	defer context.AfterFunc(p.ctx, func() { peer.Close() })()
	// A hub that is silent for so long is gone.
	silence := time.AfterFunc(helloWait, func() { peer.Close() })
	defer silence.Stop()

	p.mu.Lock()
	p.peer = peer
	document := p.document
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.peer = nil
	}()
	resumes := fmt.Sprintf(`"session":"%s-%d","capabilities":["resume"],`, p.key, document)
	if p.plain {
		resumes = ""
	}
	peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"hello","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":%q,%s"token":%q}}`, p.key, resumes, p.token))
	for {
		frame, err := peer.Receive()
		if err != nil {
			if code := wstest.CloseCode(err); code >= 4100 && code < 4200 && code != spec.CloseReplaced {
				p.problem("the tab %s of %s was refused: %v", p.key, p.user, err)
			}
			return greeted
		}
		if greeted {
			silence.Reset(quiet)
		}
		id, _ := rawjson.String(rawjson.Get(frame, "id"))
		method, _ := rawjson.String(rawjson.Get(frame, "method"))
		switch {
		case method == spec.MethodPing:
			peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"result":{}}`, id))
		case method == spec.MethodExecuteTool:
			p.execute(document, id, frame)
		case id == "hello":
			if rawjson.Get(frame, "error") != nil {
				continue // the close that follows says whether to come back
			}
			greeted = true
			silence.Reset(quiet)
			p.mu.Lock()
			peer.Send(p.registrationLocked())
			for _, a := range p.runs {
				if a.frame != nil && !p.plain {
					peer.Send(a.frame)
				}
			}
			p.mu.Unlock()
		case id == "tools":
			if fault := rawjson.Get(frame, "error"); fault != nil {
				p.problem("the tools of tab %s of %s were refused: %s", p.key, p.user, fault)
			}
			select {
			case p.joined <- struct{}{}:
			default:
			}
		}
	}
}

// execute runs a call in the document of its connection, unless it has had the call before.
func (p *page) execute(document int, id string, frame []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if document != p.document {
		return // it has gone
	}
	if a := p.runs[id]; a != nil {
		if a.frame != nil && p.peer != nil {
			p.peer.Send(a.frame)
		}
		return
	}
	now := time.Now()
	for id, a := range p.runs {
		if now.Sub(a.came) > answersKept {
			delete(p.runs, id)
		}
	}
	a := &answer{came: now}
	p.runs[id] = a
	tool, _ := rawjson.String(rawjson.Get(frame, "params", "toolName"))
	op, _ := rawjson.String(rawjson.Get(frame, "params", "args", "op"))
	text := fmt.Sprintf("%s ran in tab %s, document %d, as %.8s", op, p.key, document, id)
	if p.h != nil {
		p.h.Add(Event{Kind: Run, User: p.user, By: p.key, Op: op, Name: tool, Call: id, Text: text})
	}
	done := func() {
		a.frame = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"result":{"success":true,"payload":{"content":[{"type":"text","text":%q}]}}}`, id, text)
		if p.peer != nil {
			p.peer.Send(a.frame)
		}
	}
	if p.work == 0 {
		done()
		return
	}
	time.AfterFunc(rand.N(p.work), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if document == p.document {
			done()
		}
	})
}
