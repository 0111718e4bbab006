//go:build unix

package daemon

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"
)

// sshd gives a command one socket for both ways. Reading from it must go on waiting.
func TestPollableLeavesASharedSocket(t *testing.T) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far")
	defer near.Close()
	defer far.Close()
	fd, err := syscall.Dup(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.NewFile(uintptr(fd), "stdout")
	defer stdout.Close()
	if in := pollable(near, new(bytes.Buffer), stdout); in != near {
		t.Error("the socket that is stdout, too, was taken")
	}
}

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
