package instance

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// closeGrace is how long a browser may take to close when it is asked to.
	closeGrace = 5 * time.Second
	// killGrace is how long what is left of a browser may take to be gone after it
	// was killed.
	killGrace = 2 * time.Second
)

// process is a browser's process with its children. It owns a goroutine that ends
// when they have.
type process struct {
	cmd   *exec.Cmd
	group *group
	said  tail
	ended chan struct{} // closed when the browser and its children are gone
	how   string        // it ended; static once ended is closed
}

// startProcess starts a browser, which is killed if this program dies.
func startProcess(cmd *exec.Cmd) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	prepare(cmd)
	// The hub's token is nothing for a browser.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TABHUB_TOKEN=") })
	cmd.Stderr = w
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(r, w, started)
	return p, <-started
}

// run starts the browser and waits until nothing of it is left.
func (p *process) run(r, w *os.File, started chan<- error) {
	defer close(p.ended)
	defer r.Close()
	// The system counts a child's parent as dead when the thread ends that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	w.Close()
	if err != nil {
		started <- err
		return
	}
	p.group = adopt(p.cmd.Process)
	started <- nil
	// The pipe is at its end when the last child is gone.
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(&p.said, r)
	}()
	_ = p.cmd.Wait()
	p.how = p.cmd.ProcessState.String()
	p.group.kill()
	timer := time.NewTimer(killGrace)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
		r.Close()
		<-drained
	}
	p.group.release()
}

// stop asks the browser to close, ends it if it does not, and waits until it is
// gone.
func (p *process) stop() {
	p.group.terminate()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-p.ended:
		return
	case <-timer.C:
	}
	p.group.kill()
	<-p.ended
}

// failure says how a browser ended that should not have, with what it said last.
func (p *process) failure() string {
	return fmt.Sprintf("%s; it said: %s", p.how, p.said.last())
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxTail; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// last returns the last line or two.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.buf)), "\n")
	text := strings.TrimSpace(strings.Join(lines[max(0, len(lines)-2):], " "))
	if text == "" {
		return "nothing"
	}
	return text[max(0, len(text)-400):]
}
