package wsconn

import (
	"errors"
	"io"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// Kind says what a frame is.
type Kind int

// The kinds of frames.
const (
	Text Kind = iota
	Binary
	TooBig // the start of a frame over the limit; the rest was skipped
)

// firstBuffer is how many bytes of a frame are read to begin with.
const firstBuffer = 2 << 10

// maxSkipped bounds, as a multiple of the limit, the frames that are skipped.
const maxSkipped = 4

// Read reads until the connection ends, and calls handle for each frame, which is only
// valid during the call. What comes while the connection is being closed is not handled.
// Read returns why the connection has ended, when nothing of it is left. It is called
// once.
func (c *Conn) Read(handle func(kind Kind, frame []byte)) error {
	for {
		if c.recorder != nil && !c.recorder.off {
			c.recorder.begin()
		}
		kind, r, err := c.ws.NextReader()
		if err == nil {
			err = c.readFrame(kind, r, handle)
		}
		if c.handOver != nil {
			err = errDetached
		}
		if err != nil {
			return c.end(err)
		}
	}
}

// errNoMemory says that the memory for the frames of unadmitted peers is used up.
var errNoMemory = errors.New("no memory for a first frame")

func (c *Conn) readFrame(wire int, r io.Reader, handle func(Kind, []byte)) error {
	buf := &Buffer{}
	if c.admitted {
		buf = NewBuffer()
		defer buf.Free()
	} else {
		defer c.hold(0)
	}
	err := c.readAll(buf, r)
	kind := Text
	switch {
	case err == errNoMemory:
		buf.B = nil
		c.hold(0)
		c.Close(spec.CloseTooFast, "connections that have not "+c.srv.config.Awaited+" use all the memory for that; connect again later")
		return c.skip(r)
	case err != nil:
		return err
	case int64(len(buf.B)) > c.limit:
		c.srv.tooBig.Add(1)
		kind = TooBig
		if err := c.skip(r); err != nil {
			return err
		}
	case wire == websocket.BinaryMessage:
		kind = Binary
	}
	if !c.Closing() {
		handle(kind, buf.B)
	}
	return nil
}

// readAll reads r to its end, or until it is over the limit. Each part of a frame is a
// sign of life: a peer that sends a large one over a slow line can answer no ping
// meanwhile.
func (c *Conn) readAll(buf *Buffer, r io.Reader) error {
	for int64(len(buf.B)) <= c.limit {
		if len(buf.B) == cap(buf.B) && !c.grow(buf) {
			return errNoMemory
		}
		n, err := r.Read(buf.B[len(buf.B):cap(buf.B)])
		buf.B = buf.B[:len(buf.B)+n]
		c.heard()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// grow makes the buffer larger, but not much larger than the limit. It reports false if
// there is no memory for a peer that is not admitted: half a frame may be all that ever
// comes of it.
func (c *Conn) grow(buf *Buffer) bool {
	size := int(min(max(firstBuffer, 2*int64(cap(buf.B))), c.limit+1))
	if !c.admitted && (c.Closing() || !c.hold(size)) {
		return false
	}
	buf.B = append(make([]byte, 0, size), buf.B...)
	return true
}

// skip reads the rest of a frame.
func (c *Conn) skip(r io.Reader) error {
	_, err := io.Copy(signsOfLife{c}, r)
	return err
}

// signsOfLife discards skipped bytes, which show that the peer is alive.
type signsOfLife struct{ conn *Conn }

func (s signsOfLife) Write(b []byte) (int, error) {
	s.conn.heard()
	return len(b), nil
}
