package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/transcript"
	"tabhub/tabtransport"
)

// TestTranscripts plays testdata/*.txtar: a client of MCP before the hub and the pages
// behind it. Each line is one step:
//
//	page ORIGIN                 a tab is opened
//	tool|resource|prompt JSON   it registers one more item
//	asked METHOD PARAMS         the page is asked, and it
//	progress N [TOTAL] [TEXT]   reports progress
//	answer RESULT               or answers
//	refuse CODE MESSAGE         or fails with an error
//	cancelled                   or it has heard that its call was cancelled
//	gone                        the tab is closed
//
//	stdio                       a client connects over a stream
//	http                        or speaks Streamable HTTP
//	sse                         or MCP over SSE: the endpoint event has come
//	with NAME VALUE             a header of the next request over HTTP; "$name" as in messages
//	> MESSAGE                   the client sends
//	< MESSAGE                   it receives: on its stream, or as an answer
//	status CODE                 the HTTP status of the last request that was answered
//	header NAME VALUE           a header of that answer; "$name" as in messages
//	get                         the client opens the event stream of Streamable HTTP
//	resume                      or goes on with the one of the last event that it has had
//	delete                      it ends its session
//	leave                       it goes without a word
//	ended                       the hub has ended the stream
//	wait DURATION
func TestTranscripts(t *testing.T) {
	transcript.Run(t, "testdata/*.txtar", func(t *testing.T, v transcript.Vars) transcript.Player {
		h := hubtest.Open(t, hub.Options{})
		tool := builtin.Tool{
			Name:  "builtin",
			Input: json.RawMessage(`{"type":"object","properties":{}}`),
			Call: func(context.Context, *consent.Caller, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{"content":[{"type":"text","text":"from the hub"}]}`), nil
			},
		}
		s := New(h.ClientView(), Options{Options: methods.Options{Instructions: "Use the pages.", Builtin: []builtin.Tool{tool}}, MaxBody: 4096})
		web := inBubble(t, s)
		p := &player{T: t, vars: v, hub: h, server: s, client: web.http, url: web.url, header: http.Header{}, session: http.Header{}}
		p.ctx, p.leave = context.WithCancel(t.Context())
		t.Cleanup(func() { p.leave() })
		return p
	})
}

// player is the client and the pages.
type player struct {
	*testing.T
	vars   transcript.Vars
	hub    *hubtest.Hub
	server *Server
	page   *tabtransport.Local
	open   []pageRequest // of the hub to the page, the oldest first

	// the client
	ctx     context.Context // ends when it leaves
	leave   context.CancelFunc
	stdio   net.Conn
	client  *http.Client
	url     string
	path    string      // that messages are posted to
	session http.Header // sent with each request
	header  http.Header // sent with the next one

	mu       sync.Mutex
	asked    []string
	received []string
	answers  []*http.Response // the last one counts
	lastID   string           // of an event
	ended    bool
}

// pageRequest is a request of the hub that waits for the page.
type pageRequest struct {
	tabtransport.Incoming
	ctx    context.Context
	answer chan pageAnswer
}

type pageAnswer struct {
	raw json.RawMessage
	err error
}

func (p *player) Rest() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(p.asked, p.received...)
}

func (p *player) Step(verb, rest string) error {
	if f := p.pageStep(verb); f != nil {
		return f(rest)
	}
	switch verb {
	case "stdio":
		here, there := net.Pipe()
		p.stdio = here
		go func() {
			_ = p.server.ServeStream(asTester(p.ctx), there, there)
			there.Close()
		}()
		go p.lines(here)
		p.Cleanup(func() { here.Close() })
	case "http":
		p.path = "/mcp"
	case "sse":
		return p.sse()
	case "with":
		name, value, _ := strings.Cut(rest, " ")
		if plain, err := strconv.Unquote(value); err == nil {
			value = plain
		}
		p.header.Set(name, value)
	case ">":
		if p.stdio != nil {
			_, err := io.WriteString(p.stdio, rest+"\n")
			return err
		}
		p.do("POST", rest)
	case "resume":
		p.mu.Lock()
		p.header.Set("Last-Event-ID", p.lastID)
		p.mu.Unlock()
		p.do("GET", "")
	case "get":
		p.do("GET", "")
	case "delete":
		p.do("DELETE", "")
	case "<":
		return p.vars.Expect(rest, p.next(&p.received))
	case "status", "header":
		return p.answered(verb, rest)
	case "leave":
		p.leave()
		p.ctx, p.leave = context.WithCancel(p.Context())
	case "ended":
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.ended {
			return errors.New("the stream goes on")
		}
	case "wait":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	default:
		return errors.New("no such step")
	}
	return nil
}

// next is transcript.Next under the lock.
func (p *player) next(list *[]string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return transcript.Next(list)
}

func (p *player) receive(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, message)
}

// lines reads the messages of a stream.
func (p *player) lines(r io.Reader) {
	for in := bufio.NewScanner(r); in.Scan(); {
		p.receive(in.Text())
	}
	p.end()
}

func (p *player) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// do sends a request over HTTP; its answer is read while the script goes on.
func (p *player) do(method, body string) {
	r, err := http.NewRequestWithContext(p.ctx, method, p.url+p.path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, header := range []http.Header{p.session, p.header} {
		for name, value := range header {
			r.Header[name] = value
		}
	}
	clear(p.header)
	p.ended = false
	go func() {
		resp, err := p.client.Do(r)
		if err != nil {
			return // the client has left
		}
		defer resp.Body.Close()
		p.mu.Lock()
		p.answers = append(p.answers, resp)
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			p.session.Set("Mcp-Session-Id", id)
		}
		p.mu.Unlock()
		p.read(resp)
	}()
}

// read receives what an answer holds.
func (p *player) read(resp *http.Response) {
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		if b, _ := io.ReadAll(resp.Body); len(b) > 0 {
			p.receive(string(b))
		}
		return
	}
	name := ""
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		field, value, _ := strings.Cut(in.Text(), ": ")
		switch {
		case field == "event":
			name = value
		case field == "data" && name == "endpoint":
			p.mu.Lock()
			p.path = strings.TrimPrefix(value, p.url)
			p.mu.Unlock()
		case field == "id":
			p.mu.Lock()
			p.lastID = value
			p.mu.Unlock()
		case field == "data" && value != "":
			p.receive(value)
		}
	}
	p.end()
}

func (p *player) sse() error {
	p.path = "/sse"
	p.do("GET", "")
	for { // until the event has come
		p.mu.Lock()
		path := p.path
		p.mu.Unlock()
		if path != "/sse" {
			if !strings.HasPrefix(path, "/message?sessionId=") {
				return fmt.Errorf("the endpoint is %s", path)
			}
			return nil
		}
		time.Sleep(time.Second)
	}
}

// answered checks the last answer over HTTP.
func (p *player) answered(verb, want string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) == 0 {
		return errors.New("no answer")
	}
	last := p.answers[len(p.answers)-1]
	if verb == "status" {
		if got := strconv.Itoa(last.StatusCode); got != want {
			return errors.New(last.Status)
		}
		return nil
	}
	name, value, _ := strings.Cut(want, " ")
	return p.vars.Expect(value, strconv.Quote(last.Header.Get(name)))
}

// pageStep returns the step of that name if it is a page's.
func (p *player) pageStep(verb string) func(rest string) error {
	switch verb {
	case "page":
		return func(origin string) error {
			p.page = p.hub.Join(tabtransport.Conn{Origin: origin}, p.serve)
			return nil
		}
	case "tool", "resource", "prompt":
		return func(item string) error {
			p.hub.Register(p.page, spec.Kind(verb), item)
			return nil
		}
	case "gone":
		return func(string) error { p.page.Close(); return nil }
	case "asked":
		return func(want string) error {
			method, params, _ := strings.Cut(want, " ")
			gotMethod, got, _ := strings.Cut(p.next(&p.asked), " ")
			if method != gotMethod {
				return fmt.Errorf("asked %s %s", gotMethod, got)
			}
			return p.vars.Expect(params, got)
		}
	case "progress":
		return p.progress
	case "answer":
		return func(raw string) error { return p.answer(pageAnswer{raw: json.RawMessage(raw)}) }
	case "refuse":
		return func(rest string) error {
			code, message, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(code)
			return errors.Join(err, p.answer(pageAnswer{err: spec.Errorf(n, "%s", message)}))
		}
	case "cancelled":
		return func(string) error {
			if r := p.oldest(); r == nil || r.ctx.Err() == nil {
				return errors.New("the page still works for it")
			}
			return p.answer(pageAnswer{err: context.Canceled})
		}
	}
	return nil
}

func (p *player) serve(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
	params, err := json.Marshal(in.Request)
	if err != nil {
		return spec.Response{}, err
	}
	r := pageRequest{in, ctx, make(chan pageAnswer, 1)}
	p.mu.Lock()
	p.asked = append(p.asked, in.Request.Method()+" "+string(params))
	p.open = append(p.open, r)
	p.mu.Unlock()
	select {
	case answer := <-r.answer:
		return spec.Response{Result: answer.raw}, answer.err
	case <-p.Context().Done():
		return spec.Response{}, ctx.Err()
	}
}

func (p *player) oldest() *pageRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.open) == 0 {
		return nil
	}
	return &p.open[0]
}

func (p *player) answer(r pageAnswer) error {
	oldest := p.oldest()
	if oldest == nil {
		return errors.New("the page is not asked")
	}
	oldest.answer <- r
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = p.open[1:]
	return nil
}

func (p *player) progress(rest string) error {
	r := p.oldest()
	if r == nil {
		return errors.New("the page is not asked")
	}
	f := strings.SplitN(rest, " ", 3)
	n, err := strconv.ParseFloat(f[0], 64)
	var total *float64
	text := ""
	if len(f) > 1 {
		v, e := strconv.ParseFloat(f[1], 64)
		total, err = &v, errors.Join(err, e)
	}
	if len(f) > 2 {
		text = f[2]
	}
	r.Progress(n, total, text)
	return err
}
