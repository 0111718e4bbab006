package delivery

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// keep is how long a node knows what has become of a response that it could not pass on whole, or
// that its client has not read.
const keep = time.Minute

// Fate is what a node knows of a response that it passes on to a client for another one.
type Fate struct {
	Left  bool   `json:"left,omitempty"`  // the client has left
	Reset bool   `json:"reset,omitempty"` // without reading all that had come
	Taken uint64 `json:"taken"`           // bytes of the body that the client's system has taken
}

// Passed are the responses that a node passes on to its clients. Another node has written them,
// and asks for their fates. Its methods are safe for concurrent use and do not block. The zero
// value is ready.
type Passed struct {
	mu    sync.Mutex
	first uint64 // id, which no other process gives
	last  uint64
	of    map[uint64]*Response
	read  map[string][]uint64 // by the node that has written them
}

// maxRead is how many responses a node is told of, with a request, that clients have read.
const maxRead = 64

// Response is a response that is passed on. It is used as a ResponseWriter is. End must follow.
type Response struct {
	http.ResponseWriter
	ID uint64 // for Passed.Fate

	all   *Passed
	conn  *Conn
	node  string // has written it, as far as is known
	whole bool   // set by End

	mu      sync.Mutex // not held while anything is written
	written uint64     // bytes of the body, with those that are being written
	flushed uint64     // of them, those that the system has for certain
	before  uint64     // Conn.sent when it had no others
}

// Pass returns w as a response of a node on conn, which Fate knows. read are responses of that node
// that clients have read.
func (p *Passed) Pass(w http.ResponseWriter, conn *Conn, node string) (r *Response, read []uint64) {
	r = &Response{ResponseWriter: w, all: p, conn: conn, node: node}
	p.mu.Lock()
	if p.of == nil {
		p.of = map[uint64]*Response{}
		p.last = rand.Uint64N(1 << 48)
		p.first = p.last + 1
	}
	p.last++
	r.ID = p.last
	p.of[r.ID] = r
	read = p.read[node]
	delete(p.read, node)
	p.mu.Unlock()
	conn.Writing(r)
	return r, read
}

// Nodes returns the nodes that may not know what has become of their responses.
func (p *Passed) Nodes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	nodes := map[string]bool{}
	for node := range p.read {
		nodes[node] = true
	}
	for _, r := range p.of {
		nodes[r.node] = true
	}
	return slices.Collect(maps.Keys(nodes))
}

// Fate returns what is known of a response, false for one of which nothing is kept: its client has
// read it, for all that is known. One of an earlier process was not read.
func (p *Passed) Fate(id uint64) (Fate, bool) {
	p.mu.Lock()
	r := p.of[id]
	mine := p.of != nil && id >= p.first && id <= p.last
	p.mu.Unlock()
	switch {
	case !mine:
		return Fate{Left: true, Reset: true}, true
	case r == nil:
		return Fate{}, false
	}
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		handed := r.handed()
		f := Fate{Left: c.look(), Reset: c.reset, Taken: handed}
		if sent := c.sent.Load(); sent > c.acked {
			f.Taken -= min(handed, sent-c.acked) // each byte of the body is one at least of these
		}
		if r.handed() == handed { // else it is not known which are on their way
			return f, true
		}
	}
}

// handed returns how many bytes of the body the system has, at most. While some are written that
// may be all that were sent meanwhile: a client that has read them can ask again before it is known
// here that they were written.
func (r *Response) handed() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(r.written, r.flushed+r.conn.sent.Load()-r.before)
}

// Unwrap is for http.ResponseController.
func (r *Response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Write implements http.ResponseWriter.
func (r *Response) Write(b []byte) (int, error) {
	r.mu.Lock()
	if r.written == r.flushed {
		r.before = r.conn.sent.Load()
	}
	r.written += uint64(len(b))
	r.mu.Unlock()
	n, err := r.ResponseWriter.Write(b)
	if err != nil {
		r.broke()
	}
	return n, err
}

// broke says that the system has not taken what was written last.
func (r *Response) broke() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = r.flushed
}

// FlushError is for http.ResponseController.
func (r *Response) FlushError() error {
	err := http.NewResponseController(r.ResponseWriter).Flush()
	if err != nil {
		r.broke()
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = r.written
	return nil
}

// End says that nothing more is written. whole: it is all that there was. What is left of a body
// without a length goes with its end, which the server writes: a client that leaves when it has read
// the one must leave nothing unread.
func (r *Response) End(whole bool) {
	if r.Header().Get("Content-Length") != "" && r.FlushError() != nil {
		whole = false
	}
	r.whole = whole
	r.ResponseWriter = nil // it has the request and its buffers, and r may be kept for long
	r.conn.wrote(r, r.written-r.handed())
}

// Delivered implements Answer.
func (r *Response) Delivered() {
	if !r.whole {
		r.Lost()
		return
	}
	p := r.all
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, r.ID)
	if read := p.read[r.node]; len(read) < maxRead { // else the node will ask
		if p.read == nil {
			p.read = map[string][]uint64{}
			time.AfterFunc(keep, p.forgetRead)
		}
		p.read[r.node] = append(read, r.ID)
	}
}

// forgetRead forgets what no node was told: it has asked, or died.
func (p *Passed) forgetRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = nil
}

// Lost implements Answer.
func (r *Response) Lost() { time.AfterFunc(keep, r.forget) }

func (r *Response) forget() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	delete(r.all.of, r.ID)
}
