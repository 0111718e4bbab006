// Package devtools speaks the Chrome DevTools Protocol with a browser over a pipe.
package devtools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Conn is a connection to a browser. Its methods are safe for concurrent use.
type Conn struct {
	rw   io.ReadWriteCloser
	done chan struct{} // closed when the pipe is

	writing sync.Mutex

	mu      sync.Mutex
	last    int
	pending map[int]chan<- answer
	ended   error // why no more answers come; nil: they do
}

// Event is a notification of the browser.
type Event struct {
	Session string // of the event's target; "" for the browser
	Method  string
	Params  json.RawMessage
}

type answer struct {
	result json.RawMessage
	err    error
}

// errEnded is why calls fail when the browser has closed the pipe.
var errEnded = errors.New("the browser has ended")

// New returns a connection, which owns rw. Its goroutine calls on with each event, in order; on must
// not block.
func New(rw io.ReadWriteCloser, on func(Event)) *Conn {
	c := &Conn{rw: rw, done: make(chan struct{}), pending: make(map[int]chan<- answer)}
	go c.read(on)
	return c
}

// Close ends the connection, and so the browser, and waits for the goroutine that delivers events.
func (c *Conn) Close() error {
	err := c.rw.Close()
	<-c.done
	return err
}

// Done is closed when the browser or Close has ended the connection.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Call calls a method, in the session of a target unless that is "", and blocks for the answer.
// It decodes the answer into result unless that is nil. The error is ctx's cause, or the browser's.
func (c *Conn) Call(ctx context.Context, session, method string, params, result any) error {
	answered := make(chan answer, 1)
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return c.ended
	}
	c.last++
	id := c.last
	c.pending[id] = answered
	c.mu.Unlock()
	defer c.forget(id)
	message, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{id, session, method, params})
	if err != nil {
		return err
	}
	c.writing.Lock()
	_, err = c.rw.Write(append(message, 0))
	c.writing.Unlock()
	if err != nil {
		return errEnded
	}
	select {
	case a := <-answered:
		if a.err != nil {
			return fmt.Errorf("%s: %w", method, a.err)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.result, result)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Conn) forget(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

func (c *Conn) read(on func(Event)) {
	defer close(c.done)
	r := bufio.NewReader(c.rw)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			c.end()
			return
		}
		var m struct {
			ID      int             `json:"id"`
			Session string          `json:"sessionId"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
			Result  json.RawMessage `json:"result"`
			Error   *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m) != nil {
			continue // not of the protocol
		}
		if m.ID == 0 {
			on(Event{m.Session, m.Method, m.Params})
			continue
		}
		a := answer{result: m.Result}
		if m.Error != nil {
			a.err = errors.New(m.Error.Message)
		}
		c.mu.Lock()
		if to := c.pending[m.ID]; to != nil {
			to <- a // its buffer has room for the only answer
			delete(c.pending, m.ID)
		}
		c.mu.Unlock()
	}
}

// end fails all pending calls.
func (c *Conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = errEnded
	for _, to := range c.pending {
		to <- answer{err: errEnded}
	}
	clear(c.pending)
}
