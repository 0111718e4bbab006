//go:build unix

package main

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"
)

// Stdin comes blocking or not, as the client has made it; a reader that waits for
// data must be woken by it in both cases, and at once.
func TestPollable(t *testing.T) {
	if in := new(bytes.Buffer); pollable(in) != in {
		t.Error("what is no file was changed")
	}
	for _, nonblocking := range []bool{false, true} {
		var fds [2]int
		if err := syscall.Pipe(fds[:]); err != nil {
			t.Fatal(err)
		}
		if err := syscall.SetNonblock(fds[0], nonblocking); err != nil {
			t.Fatal(err)
		}
		stdin, w := os.NewFile(uintptr(fds[0]), "stdin"), os.NewFile(uintptr(fds[1]), "w")
		in := pollable(stdin).(*os.File)
		if err := in.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Errorf("nonblocking %t: reads block a thread: %v", nonblocking, err)
		}
		read := make(chan error, 1)
		go func() {
			_, err := in.Read(make([]byte, 1))
			read <- err
		}()
		if _, err := w.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if err := <-read; err != nil {
			t.Errorf("nonblocking %t: %v", nonblocking, err)
		}
		if in != stdin {
			in.Close()
		}
		stdin.Close()
		w.Close()
	}
}
