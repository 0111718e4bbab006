package delivery

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the client's system has not taken after a while is lost for who asks, and when the connection ends.
func TestAnswerOnItsWay(t *testing.T) {
	conn, client := pair(t)
	if err := client.SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn.(*net.TCPConn).SetWriteBuffer(2 << 20); err != nil {
		t.Fatal(err)
	}
	const size = 150 << 10 // more than the client's system takes, less than the buffers of this end
	a := make(answer, 1)
	conn.write(t, a, strings.Repeat("x", size))
	if conn.of.IsLost(a) {
		t.Error("it is lost at once")
	}
	conn.of.mu.Lock()
	conn.of.known[0].at = time.Now().Add(-2 * within)
	conn.of.mu.Unlock()
	conn.of.expire()
	if !conn.of.IsLost(a) {
		t.Error("it has arrived, though nobody has taken it")
	}
	conn.Close()
	if got := <-a; got != "lost" {
		t.Errorf("it is %s", got)
	}
}

// Who leaves while an answer is written, and asks again at once, must not have it done again. The
// system may be at work on the write when it is asked who has left, so that this takes many rounds.
func TestLeavesWhileItIsWritten(t *testing.T) {
	text := strings.Repeat("x", 100<<10)
	for range 1000 {
		conn, client := pair(t)
		a := make(answer, 1)
		conn.of.Writing(a)
		var writes sync.WaitGroup
		writes.Go(func() { _, _ = io.WriteString(conn, text) })
		read(t, client, 1000)
		client.Close()
		if !conn.of.IsLost(a) {
			t.Error("it is not lost")
		}
		writes.Wait()
		conn.Close()
	}
}
