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

// maxSkipped bounds, as a multiple of the limit, the frames that are skipped.
const maxSkipped = 4

// Read reads until the connection ends, and calls handle for each frame, which is only
// valid during the call. What comes while the connection is being closed is not handled.
// Read returns why the connection has ended, when nothing of it is left. It is called
// once.
func (c *Conn) Read(handle func(kind Kind, frame []byte)) error {
	for {
		kind, r, err := c.ws.NextReader()
		if err == nil {
			err = c.readFrame(kind, r, handle)
		}
		if err != nil {
			return c.end(err)
		}
	}
}

// errNoMemory says that the memory for the frames of unadmitted peers is used up.
var errNoMemory = errors.New("no memory for a first frame")

func (c *Conn) readFrame(wire int, r io.Reader, handle func(Kind, []byte)) error {
	pooled := c.admitted
	frame, err := c.readAll(r)
	kind := Text
	switch {
	case err == errNoMemory:
		c.Close(spec.CloseTooFast, "others who have not "+c.srv.config.Awaited+" use all the memory there is for that; come back later")
		return c.skip(r)
	case err != nil:
		return err
	case int64(len(frame)) > c.limit:
		c.srv.tooBig.Add(1)
		kind = TooBig
		if err := c.skip(r); err != nil {
			return err
		}
	case wire == websocket.BinaryMessage:
		kind = Binary
	}
	if !c.Closing() {
		handle(kind, frame)
	}
	if pooled {
		release(frame)
	} else {
		c.srv.unadmitted.hold(c, 0)
	}
	return nil
}

// readAll reads r to its end, or until it is over the limit. Each part of a frame is a
// sign of life: a peer that sends a large one over a slow line can answer no ping
// meanwhile.
func (c *Conn) readAll(r io.Reader) ([]byte, error) {
	var frame []byte
	if c.admitted {
		frame = firstBuffer()
	}
	for int64(len(frame)) <= c.limit {
		if len(frame) == cap(frame) {
			if c.admitted {
				frame = grow(frame, c.limit)
			} else if frame = c.growUnadmitted(frame); frame == nil {
				return nil, errNoMemory
			}
		}
		n, err := r.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+n]
		c.heard()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return frame, nil
}

// growUnadmitted is grow for a peer that is not admitted: half a frame may be all that
// ever comes. It returns nil if there is no memory for that.
func (c *Conn) growUnadmitted(frame []byte) []byte {
	size := int(min(max(firstUnadmitted, 2*int64(cap(frame))), c.limit+1))
	if c.Closing() || !c.srv.unadmitted.hold(c, size) {
		c.srv.unadmitted.hold(c, 0)
		return nil
	}
	return append(make([]byte, 0, size), frame...)
}

// skip reads the rest of a frame.
func (c *Conn) skip(r io.Reader) error {
	_, err := io.Copy(signsOfLife{c}, r)
	return err
}

// signsOfLife takes what is skipped.
type signsOfLife struct{ conn *Conn }

func (s signsOfLife) Write(b []byte) (int, error) {
	s.conn.heard()
	return len(b), nil
}
