package anypage

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe in the folder is no file to upload: nobody waits for what a program may write into it.
func TestUploadsOpenNoPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		_, err := Uploads{dir}.open("pipe")
		opened <- err
	}()
	select {
	case err := <-opened:
		if err == nil {
			t.Error("it was opened")
		}
	case <-time.After(10 * time.Second):
		t.Error("the call waits for a program that writes into the pipe")
	}
}
