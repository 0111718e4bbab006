package porttest

import (
	"net"
	"testing"
)

func TestFree(t *testing.T) {
	addr := Free(t)
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("somebody listens")
	}
	for range 3 { // a hub that is started again
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		far, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		far.Close()
		conn.Close()
		ln.Close()
	}
	// More than there are ports of that kind: one of the others would be this one.
	for range 20_000 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if ln.Addr().String() == addr {
			t.Fatalf("%s was given to another", addr)
		}
		ln.Close()
	}
}
