package forward

import (
	"bufio"
	"io"
	"net"
	"time"
)

const (
	upgradeTimeout = 15 * time.Second // for a node to answer an upgrade
	// lingerTimeout is how long a client may take to close its side after the node has closed its own.
	lingerTimeout = 5 * time.Second
	// idleBuffer is what each direction of an idle splice holds; larger data goes through a buffer of
	// the shared pool.
	idleBuffer = 2 << 10
	bulkBuffer = 32 << 10
)

// Hijack implements http.Hijacker. The client's connection closes with that to the node.
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

// spliced is a client's connection that is spliced with a link. io.Copy uses its methods, which need
// little memory while the splice is idle: a tab stays for hours.
type spliced struct {
	net.Conn
	early []byte // read from the client before the splice
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

// ReadFrom implements io.ReaderFrom. It fails when the client takes nothing for writeTimeout.
func (s *spliced) ReadFrom(from io.Reader) (int64, error) { return 0, copyAll(s, from) }

// Write implements net.Conn.
func (s *spliced) Write(b []byte) (int, error) {
	s.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.Conn.Write(b)
}

// CloseWrite tells the client that the node sends no more.
func (s *spliced) CloseWrite() error {
	if err := closeWrite(s.Conn); err != nil {
		return err
	}
	return s.SetReadDeadline(time.Now().Add(lingerTimeout))
}

// closeWrite tells the other side that nothing more comes. It returns an error if a connection cannot do
// that; the caller must close it then.
func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return net.ErrClosed
	}
	return half.CloseWrite()
}

// copyAll is io.Copy, with a small buffer while little comes.
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

// copyBulk copies with a large buffer as long as each read fills it.
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
