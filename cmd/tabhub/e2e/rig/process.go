package rig

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Timeout bounds each step that waits for a process, on a busy machine.
const Timeout = 40 * time.Second

// Build builds a release of tabhub into a directory, with more flags of go build.
func Build(dir, release string, flags ...string) (path string, err error) {
	path = filepath.Join(dir, "tabhub-"+release)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := append([]string{"build", "-o", path, "-ldflags", "-X tabhub/cmd/tabhub/internal/build.release=" + release}, slices.Concat(buildFlags, flags)...)
	if out, err := exec.Command("go", append(args, "tabhub/cmd/tabhub")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building tabhub: %w\n%s", err, out)
	}
	return path, nil
}

// CheckLog fails the test if a process has logged what must never happen.
func CheckLog(t testing.TB, log string) {
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if i := strings.Index(log, bad); i >= 0 {
			t.Errorf("a process of tabhub logged:\n%.4000s", log[i:])
		}
	}
}

// LastOf returns the end of a log, as much as a failed test should show.
func LastOf(log string) string { return log[max(0, len(log)-8<<10):] }

// Process is a tabhub that runs.
type Process struct {
	T      testing.TB
	Cmd    *exec.Cmd
	Stderr *Output
	Done   chan struct{} // closed when it has ended
}

// Start starts a program. The caller ends it with Stop, or makes it end and calls AwaitEnd.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{T: t, Cmd: cmd, Stderr: NewOutput(), Done: make(chan struct{})}
	cmd.Stderr = p.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		p.Stderr.End()
		close(p.Done)
	}()
	return p
}

// Stop ends the process as Ctrl-C does, and looks through what it has logged.
func (p *Process) Stop() {
	p.T.Helper()
	p.Cmd.Process.Signal(syscall.SIGTERM)
	p.AwaitEnd()
}

// AwaitEnd waits for the end of the process, and looks through what it has logged.
func (p *Process) AwaitEnd() {
	p.T.Helper()
	select {
	case <-p.Done:
	case <-time.After(Timeout):
		p.Cmd.Process.Kill()
		<-p.Done
		p.T.Errorf("%v did not end by itself", p.Cmd.Args)
	}
	log := p.Stderr.String()
	CheckLog(p.T, log)
	if p.T.Failed() {
		p.T.Logf("%v:\n%s", p.Cmd.Args[1:], LastOf(log))
	}
}

// Output keeps what a process writes. It is safe for concurrent use.
type Output struct {
	mu      sync.Mutex
	text    strings.Builder
	ended   bool
	changed chan struct{} // closed at the next change
}

// NewOutput returns an Output that has nothing.
func NewOutput() *Output { return &Output{changed: make(chan struct{})} }

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	close(o.changed)
	o.changed = make(chan struct{})
	return len(b), nil
}

// End says that nothing more comes.
func (o *Output) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Await waits until the process has written text, and fails the test if it has ended without.
func (o *Output) Await(t testing.TB, text string) {
	t.Helper()
	late := time.After(Timeout)
	for {
		o.mu.Lock()
		found, ended, changed := strings.Contains(o.text.String(), text), o.ended, o.changed
		o.mu.Unlock()
		switch {
		case found:
			return
		case ended:
			t.Fatalf("the process has ended without a word of %q: %s", text, o)
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("the process has not written %q: %s", text, o)
		}
	}
}
