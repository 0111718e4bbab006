package httpd

import (
	"sync"
	"time"
)

// clients counts the MCP clients and the relay's peers that the hub serves, and reports when there has
// been none for a while.
type clients struct {
	idle    time.Duration // 0: never
	expired func()        // called once, from a timer's goroutine

	mu      sync.Mutex
	n       int
	timer   *time.Timer // runs while n is 0
	stopped bool
}

func (c *clients) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restartLocked(max(c.idle, firstClient))
}

// firstClient is how long the first client may take to connect, if idle is shorter: it has started the
// hub, and learns only then that it runs.
const firstClient = 30 * time.Second

// enter counts a client until the function that it returns is called.
func (c *clients) enter() (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.n--
		c.restartLocked(c.idle)
	}
}

func (c *clients) restartLocked(after time.Duration) {
	if c.n > 0 || c.idle <= 0 || c.stopped {
		return
	}
	c.timer = time.AfterFunc(after, func() {
		c.mu.Lock()
		fire := c.n == 0 && !c.stopped
		c.stopped = c.stopped || fire
		c.mu.Unlock()
		if fire {
			c.expired()
		}
	})
}

func (c *clients) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *clients) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
