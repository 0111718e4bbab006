package httpd

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// A program that opens connections without a credential takes none from others, and no more than there
// are for such connections.
func TestStrangersYield(t *testing.T) {
	d := open(t, func(*GuardOptions, *Options) {})
	kept, err := net.Dial("tcp", d.addr) // a client's, which shows its credential
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	ask := func() string {
		kept.SetDeadline(time.Now().Add(time.Minute))
		if _, err := kept.Write([]byte("GET /api/tabs HTTP/1.1\r\nHost: " + d.addr + "\r\nAuthorization: Bearer " + secret + "\r\n\r\n")); err != nil {
			return err.Error()
		}
		head := make([]byte, len("HTTP/1.1 200"))
		if _, err := kept.Read(head); err != nil {
			return err.Error()
		}
		rest := make([]byte, 1<<20)
		kept.Read(rest)
		return string(head)
	}
	if got := ask(); got != "HTTP/1.1 200" {
		t.Fatal(got)
	}
	var crowd []net.Conn
	for range maxUnproved + 50 {
		conn, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		crowd = append(crowd, conn)
	}
	if got := ask(); got != "HTTP/1.1 200" {
		t.Errorf("the connection with a credential: %s", got)
	}
	if status, _, _ := d.ask("GET", "/api/tabs", "", "Authorization", "Bearer "+secret); status != http.StatusOK {
		t.Errorf("a new one: %d", status)
	}
	crowd[0].SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := crowd[0].Read(make([]byte, 1)); err == nil {
		t.Error("the oldest stranger got an answer")
	} else if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		t.Error("the oldest stranger is still connected")
	}
	d.server.conns.mu.Lock()
	defer d.server.conns.mu.Unlock()
	if n := d.server.conns.unproved.Len(); n > maxUnproved || n != len(d.server.conns.at) {
		t.Errorf("%d strangers", n)
	}
}
