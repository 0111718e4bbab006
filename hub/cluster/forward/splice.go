package forward

import (
	"bufio"
	"io"
	"net"
	"time"
)

const (
	upgradeTimeout = 15 * time.Second // for a node to answer that it speaks another protocol
	// lingerTimeout is how long a client may take to end its side when the node has ended its.
	lingerTimeout = 5 * time.Second
	// idleBuffer is what a direction of a splice holds while nothing comes; what is larger is
	// copied with a buffer that all share.
	idleBuffer = 2 << 10
	bulkBuffer = 32 << 10
)

// Hijack implements http.Hijacker: the connection closes with that of the node.
func (c *clientWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := c.rc.Hijack()
	if err != nil {
		return nil, nil, err
	}
	s := &spliced{Conn: conn}
	s.early, _ = buf.Reader.Peek(buf.Reader.Buffered())
	c.sender.link.splice(s)
	return s, buf, nil
}

// spliced is a client's connection that is spliced with a link. io.Copy uses its methods, which hold
// little memory while nothing comes: a tab stays for hours.
type spliced struct {
	net.Conn
	early []byte // what the client has said already
}

// WriteTo implements io.WriterTo.
func (s *spliced) WriteTo(to io.Writer) (int64, error) {
	if len(s.early) > 0 {
		if _, err := to.Write(s.early); err != nil {
			return 0, err
		}
		s.early = nil
	}
	return 0, copyAll(to, s.Conn)
}

// ReadFrom implements io.ReaderFrom. A client that takes nothing for writeTimeout ends it.
func (s *spliced) ReadFrom(from io.Reader) (int64, error) { return 0, copyAll(s, from) }

// Write implements net.Conn.
func (s *spliced) Write(b []byte) (int, error) {
	s.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.Conn.Write(b)
}

// CloseWrite tells the client that the node says no more.
func (s *spliced) CloseWrite() error {
	if err := closeWrite(s.Conn); err != nil {
		return err
	}
	return s.SetReadDeadline(time.Now().Add(lingerTimeout))
}

// closeWrite tells the other side that nothing more comes. Where that cannot be said alone, it
// returns an error, and the connection is to be closed.
func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return net.ErrClosed
	}
	return half.CloseWrite()
}

// copyAll is io.Copy with a small buffer while little comes.
func copyAll(to io.Writer, from io.Reader) error {
	idle := make([]byte, idleBuffer)
	for {
		n, err := copyOnce(to, from, idle)
		if n == len(idle) && err == nil {
			err = copyBulk(to, from)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// copyBulk copies as long as there is as much as fits a large buffer.
func copyBulk(to io.Writer, from io.Reader) error {
	b := buffers.Get()
	defer buffers.Put(b)
	for {
		if n, err := copyOnce(to, from, b); err != nil || n < len(b) {
			return err
		}
	}
}

func copyOnce(to io.Writer, from io.Reader, b []byte) (int, error) {
	n, err := from.Read(b)
	if n > 0 {
		if _, err := to.Write(b[:n]); err != nil {
			return n, err
		}
	}
	return n, err
}
