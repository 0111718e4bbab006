package cluster

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"

	"tabhub/storage/jetstream/natstest"
)

// When a node's lease ends, its connections to others are closed, and no other connections.
func TestConnectionsOfDeadNode(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b, d := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b"), ready(t, c.Conn(t), "d")
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ln := a.Listen(tcp)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	defer serving.Wait()
	defer ln.Close()
	echo := func(conn net.Conn) error {
		_, err := conn.Write([]byte("x"))
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
		}
		return err
	}
	connect := func(from *Node) net.Conn {
		conn, err := tls.Dial("tcp", tcp.Addr().String(), from.ClientTLS(a.Self()))
		if err == nil {
			err = echo(conn)
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	ofB, ofD := connect(b), connect(d)
	defer ofB.Close()
	crash(b)
	until(t, a, "b is dead", func() bool { return !a.Alive(b.ID()) })
	a.peers.close(b.ID())
	if err := echo(ofB); err == nil {
		t.Error("a dead node is answered")
	}
	if err := echo(ofD); err != nil {
		t.Error(err)
	}
	ofD.Close()
	until(t, a, "no connection is remembered", func() bool {
		a.peers.mu.Lock()
		defer a.peers.mu.Unlock()
		return len(a.peers.conns) == 0
	})
}
