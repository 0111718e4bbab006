package delivery

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// passing is a node that passes on one answer, with what is known of that where it is written.
type passing struct {
	all    Passed
	conn   *Conn
	answer answer
	client *net.TCPConn
	r      *bufio.Reader
}

// request has a client send a request to a server that knows what becomes of answers.
func request(t *testing.T, serve http.HandlerFunc) (client *net.TCPConn) {
	t.Helper()
	s := httptest.NewUnstartedServer(serve)
	s.Listener, s.Config.ConnContext = Listen(s.Listener), WithConn
	s.Start()
	t.Cleanup(s.Close)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	return conn.(*net.TCPConn)
}

// passOn has a client ask for an answer, which is passed on by a node that ask reaches.
func passOn(t *testing.T, text string, ask func(p *passing) Asker) *passing {
	t.Helper()
	p := &passing{answer: make(answer, 2)}
	nodes := NewNodes(ask(p))
	passed := make(chan bool, 2)
	client := request(t, func(w http.ResponseWriter, r *http.Request) {
		resp, read := p.all.Pass(w, FromContext(r.Context()), "owner")
		nodes.Read("front", read)
		p.conn = nodes.Conn("front", resp.ID)
		counted := p.conn.Counts(resp)
		p.conn.Writing(p.answer)
		if _, err := io.WriteString(counted, text); err != nil {
			t.Error(err)
		}
		p.conn.Wrote(p.answer)
		p.conn.Over(false)
		resp.End(true)
		passed <- true
	})
	p.client, p.r = client, bufio.NewReader(client)
	<-passed
	return p
}

// knows asks the node itself.
func knows(p *passing) Asker {
	return func(_ context.Context, node string, ids []uint64) (fates []*Fate, err error) {
		if node != "front" {
			return nil, errors.New("another node is asked: " + node)
		}
		for _, id := range ids {
			var known *Fate
			if f, ok := p.all.Fate(id); ok {
				known = &f
			}
			fates = append(fates, known)
		}
		return fates, nil
	}
}

func (p *passing) readAll(t *testing.T) {
	t.Helper()
	resp, err := http.ReadResponse(p.r, nil)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What has become of an answer that another node passes on is what that node says.
func TestPassedOn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system tells when somebody reads, and not before")
	}
	for name, test := range map[string]struct {
		does func(t *testing.T, p *passing)
		ask  func(p *passing) Asker
		want string
	}{
		"reads it and leaves": {func(t *testing.T, p *passing) { p.readAll(t); p.client.Close() }, knows, "delivered"},
		"leaves":              {func(_ *testing.T, p *passing) { p.client.Close() }, knows, "lost"},
		"reads and asks for something else": {func(t *testing.T, p *passing) {
			p.readAll(t)
			p.all.of[p.all.first].conn.Asked()
		}, knows, "delivered"},
		"its node is gone": {func(*testing.T, *passing) {}, func(*passing) Asker {
			return func(context.Context, string, []uint64) ([]*Fate, error) { return nil, errors.New("no connection") }
		}, "lost"},
		"its node has an older program": {func(*testing.T, *passing) {}, func(*passing) Asker {
			return func(context.Context, string, []uint64) ([]*Fate, error) { return nil, nil }
		}, "delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			p := passOn(t, "some words", test.ask)
			if !p.conn.IsFar() || p.conn.IsLost(p.answer) || p.conn.IsGone() {
				t.Error("it is lost before anybody has asked")
			}
			test.does(t, p)
			Look([]*Conn{p.conn})
			if got := <-p.answer; got != test.want {
				t.Errorf("it is %s", got)
			}
		})
	}
}

// While a client may yet read its answer nothing is said of it, and in the end it is delivered.
func TestPassedOnAndNotRead(t *testing.T) {
	p := passOn(t, "some words", knows)
	for range 3 {
		Look([]*Conn{p.conn})
	}
	if p.conn.IsLost(p.answer) || p.conn.IsGone() || len(p.answer) > 0 {
		t.Error("it is lost, or told")
	}
	p.conn.mu.Lock()
	p.conn.known[0].at = time.Now().Add(-within)
	p.conn.mu.Unlock()
	p.conn.far.nodes.due["front"] = []*Conn{p.conn}
	p.conn.far.nodes.lookAtDue()
	if got := <-p.answer; got != "delivered" || len(p.conn.known) > 0 {
		t.Errorf("it is %s, and %d are known", got, len(p.conn.known))
	}
}

// A response that its node gives up has reached its client as far as that node knows.
func TestGivenUp(t *testing.T) {
	for _, test := range []struct {
		fate *Fate
		want string
	}{
		{&Fate{Left: true, Taken: 9}, "lost"},
		{&Fate{Left: true, Taken: 10}, "delivered"},
		{&Fate{Left: true, Reset: true, Taken: 10}, "lost"},
		{nil, "delivered"},
	} {
		c := NewNodes(func(context.Context, string, []uint64) ([]*Fate, error) { return []*Fate{test.fate}, nil }).Conn("front", 7)
		a := make(answer, 1)
		c.Writing(a)
		_, _ = io.WriteString(c.Counts(httptest.NewRecorder()), "some words")
		c.Wrote(a)
		c.Over(true)
		c.far.nodes.lookAtDue()
		if got := <-a; got != test.want {
			t.Errorf("%+v: it is %s", test.fate, got)
		}
	}
}

// What a node had not passed on when it died was not read, also if nobody asks at once.
func TestGivenUpByANodeThatDies(t *testing.T) {
	c := NewNodes(func(context.Context, string, []uint64) ([]*Fate, error) { return nil, errors.New("no connection") }).Conn("front", 7)
	old, late := make(answer, 1), make(answer, 1)
	for _, a := range []answer{old, late} {
		c.Writing(a)
		_, _ = io.WriteString(c.Counts(httptest.NewRecorder()), "some words")
		c.Wrote(a)
	}
	c.known[0].at = time.Now().Add(-within)
	c.Over(true)
	c.far.nodes.lookAtDue()
	if was, is := <-old, <-late; was != "delivered" || is != "lost" {
		t.Errorf("what was written long before is %s, and what was not %s", was, is)
	}
}

// A node that could not be asked once says later what has become of what was written meanwhile.
func TestNodeThatIsSlowOnce(t *testing.T) {
	slow := true
	nodes := NewNodes(func(context.Context, string, []uint64) ([]*Fate, error) {
		if slow {
			return nil, errors.New("no answer in time")
		}
		return []*Fate{{Taken: 20}}, nil
	})
	c := nodes.Conn("front", 7)
	w := c.Counts(httptest.NewRecorder())
	write := func() answer {
		a := make(answer, 1)
		c.Writing(a)
		_, _ = io.WriteString(w, "some words")
		c.Wrote(a)
		return a
	}
	first := write()
	Look([]*Conn{c})
	if !c.IsLost(first) || !c.IsGone() {
		t.Error("the node cannot be asked, and the client can read")
	}
	second := write()
	slow = false
	Look([]*Conn{c})
	if c.IsLost(first) || c.IsLost(second) || c.IsGone() || len(first)+len(second) > 0 {
		t.Error("the client is gone, though its node has said that it is not")
	}
}

// held is a response of which it is known only later that it was handed to the system.
type held struct {
	http.ResponseWriter
	flushed, goOn chan bool
}

func (h *held) FlushError() error {
	err := http.NewResponseController(h.ResponseWriter).Flush()
	h.flushed <- true
	<-h.goOn
	return err
}

// Who reads the last of an answer and asks for the same at once has read it, also when the node that
// passes it on has not heard that it was sent.
func TestReadBeforeItIsKnown(t *testing.T) {
	const text = "some words"
	var all Passed
	h := &held{flushed: make(chan bool), goOn: make(chan bool)}
	client := request(t, func(w http.ResponseWriter, r *http.Request) {
		h.ResponseWriter = w
		w.Header().Set("Content-Length", "10")
		resp, _ := all.Pass(h, FromContext(r.Context()), "owner")
		if f, ok := all.Fate(resp.ID); !ok || f != (Fate{}) {
			t.Errorf("before anything is written: %+v", f)
		}
		if _, err := io.WriteString(resp, text); err != nil {
			t.Error(err)
		}
		if f, _ := all.Fate(resp.ID); f != (Fate{}) {
			t.Errorf("before it is sent: %+v", f)
		}
		resp.End(true)
	})
	<-h.flushed
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); string(got) != text || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	client.Close()
	if f, _ := all.Fate(all.first); f.Taken != uint64(len(text)) || f.Reset {
		t.Errorf("it was read: %+v", f)
	}
	h.goOn <- true
}

// halves is a response that a server writes in two parts.
type halves struct {
	http.ResponseWriter
	half, goOn chan bool
}

func (h *halves) Write(b []byte) (int, error) {
	n, err := h.ResponseWriter.Write(b[:len(b)/2])
	if err == nil {
		err = http.NewResponseController(h.ResponseWriter).Flush()
	}
	h.half <- true
	<-h.goOn
	if err != nil {
		return n, err
	}
	m, err := h.ResponseWriter.Write(b[len(b)/2:])
	return n + m, err
}

// Who leaves between two parts of an answer has not read the second.
func TestLeavesBetweenTwoParts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system tells when somebody reads, and not before")
	}
	text := strings.Repeat("x", 3000)
	var all Passed
	h := &halves{half: make(chan bool), goOn: make(chan bool)}
	client := request(t, func(w http.ResponseWriter, r *http.Request) {
		h.ResponseWriter = w
		w.Header().Set("Content-Length", "3000")
		resp, _ := all.Pass(h, FromContext(r.Context()), "owner")
		_, err := io.WriteString(resp, text)
		resp.End(err == nil)
	})
	<-h.half
	r := bufio.NewReader(client)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, len(text)/2)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	f, _ := all.Fate(all.first)
	if !f.Left || f.Reset || f.Taken < uint64(len(text)/2) || f.Taken == uint64(len(text)) {
		t.Errorf("it has read the half: %+v", f)
	}
	h.goOn <- true
}

// A node that has just begun knows nothing of what it has passed on before, which is not read.
func TestPassedOnByAnEarlierProcess(t *testing.T) {
	var all Passed
	lost := Fate{Left: true, Reset: true}
	if f, ok := all.Fate(7); !ok || f != lost {
		t.Errorf("%+v, %t", f, ok)
	}
	conn := &Conn{peek: func() seen { return seen{} }}
	r, _ := all.Pass(httptest.NewRecorder(), conn, "owner")
	for _, id := range []uint64{r.ID - 1, r.ID + 1} {
		if f, ok := all.Fate(id); !ok || f != lost {
			t.Errorf("%+v, %t", f, ok)
		}
	}
	r.End(true)
	conn.Asked()
	if f, ok := all.Fate(r.ID); ok {
		t.Errorf("it was read: %+v", f)
	}
}

// A node keeps nothing of what its clients have read, and what is lost for a while.
func TestPassedIsForgotten(t *testing.T) {
	p := passOn(t, "some words", knows)
	p.readAll(t)
	p.all.of[p.all.first].conn.Asked()
	if _, ok := p.all.Fate(p.all.first); ok || len(p.all.of) != 0 {
		t.Error("it is kept")
	}
}

// What is kept of a response that nobody has read is little: not what its client has sent.
func TestLittleIsKept(t *testing.T) {
	p := passOn(t, "some words", knows)
	p.client.Close()
	Look([]*Conn{p.conn})
	<-p.answer
	if r := p.all.of[p.all.first]; r == nil || r.ResponseWriter != nil {
		t.Errorf("it is kept as %+v", r)
	}
}

// With a client's next request the node that has written its answer hears that it was read.
func TestReadIsToldWithTheNext(t *testing.T) {
	p := passOn(t, "some words", knows)
	p.readAll(t)
	first := p.conn
	p.all.of[p.all.first].conn.Asked()
	if first.rests() {
		t.Error("it is known before it was told")
	}
	io.WriteString(p.client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	p.readAll(t)
	if got := <-p.answer; got != "delivered" || !first.rests() || len(p.conn.far.nodes.open) != 1 {
		t.Errorf("it is %s, and %d are open", got, len(p.conn.far.nodes.open))
	}
}

// A stream that is asked for once more, as its connection to the node broke off, is known when the
// first has ended.
func TestStreamThatIsAskedForOnceMore(t *testing.T) {
	nodes := NewNodes(nil)
	first := nodes.Conn("front", 7)
	second := nodes.Conn("front", 7)
	first.Over(false)
	if nodes.open[place{"front", 7}] != second {
		t.Error("it is not known")
	}
	second.Over(false)
	if len(nodes.open) > 0 {
		t.Error("it is kept")
	}
}

// Before a node ends, those whose answers it has passed on ask it what it knows.
func TestNodeThatLeaves(t *testing.T) {
	p := passOn(t, "some words", knows)
	p.readAll(t)
	if got := p.all.Nodes(); !slices.Equal(got, []string{"owner"}) {
		t.Errorf("these are to be told: %v", got)
	}
	p.all.of[p.all.first].conn.Asked()
	if got := p.all.Nodes(); !slices.Equal(got, []string{"owner"}) {
		t.Errorf("then these are to be told: %v", got)
	}
	p.conn.far.nodes.Leaves("another")
	if len(p.answer) > 0 {
		t.Error("another node has said what has become of it")
	}
	p.conn.far.nodes.Leaves("front")
	if got := <-p.answer; got != "delivered" || !p.conn.rests() {
		t.Errorf("it is %s", got)
	}
	p.all.forgetRead()
	if got := p.all.Nodes(); len(got) > 0 {
		t.Errorf("at last these are to be told: %v", got)
	}
}

// Many answers are asked for together, and each learns what is said of it.
func TestManyAreAskedForTogether(t *testing.T) {
	const n = 2*maxAsked + 1
	var asked []int
	nodes := NewNodes(func(_ context.Context, _ string, ids []uint64) (fates []*Fate, err error) {
		asked = append(asked, len(ids))
		for _, id := range ids {
			fates = append(fates, &Fate{Left: true, Taken: 4 * (id % 2)})
		}
		return fates, nil
	})
	var conns []*Conn
	var answers []answer
	for id := range uint64(n) {
		c, a := nodes.Conn("front", id), make(answer, 1)
		c.Writing(a)
		_, _ = io.WriteString(c.Counts(httptest.NewRecorder()), "text")
		c.Wrote(a)
		conns, answers = append(conns, c), append(answers, a)
	}
	Look(conns)
	for id, a := range answers {
		if got, want := <-a, []string{"lost", "delivered"}[id%2]; got != want {
			t.Fatalf("%d is %s", id, got)
		}
	}
	if !slices.Equal(asked, []int{maxAsked, maxAsked, 1}) {
		t.Errorf("asked for %v", asked)
	}
}
