//go:build unix

package natstest

import "syscall"

// Pause stops server i where it is, with all its connections open.
func (c *Cluster) Pause(i int) { c.signal(i, syscall.SIGSTOP) }

// Resume lets server i go on after Pause.
func (c *Cluster) Resume(i int) { c.signal(i, syscall.SIGCONT) }

func (c *Cluster) signal(i int, sig syscall.Signal) {
	c.t.Helper()
	if err := c.own(i).cmd.Process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}
