package delivery

import (
	"net"
	"strings"
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
	if conn.IsLost(a) {
		t.Error("it is lost at once")
	}
	conn.mu.Lock()
	conn.known[0].at = time.Now().Add(-2 * within)
	conn.mu.Unlock()
	conn.expire()
	if !conn.IsLost(a) {
		t.Error("it has arrived, though nobody has taken it")
	}
	conn.Close()
	if got := <-a; got != "lost" {
		t.Errorf("it is %s", got)
	}
}
