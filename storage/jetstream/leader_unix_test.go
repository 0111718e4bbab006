//go:build nightly && unix

package jetstream

import (
	"testing"

	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/storagetest"
)

// The contract holds of a stream that three servers keep.
func TestContractOfThree(t *testing.T) {
	c := natstest.Start(t, 3)
	storagetest.Run(t, true, fresh(t, c.Conn(t), 3))
}

// Leaders may go one after the other, and come back, also one that believes that it still leads.
func TestLeadersLost(t *testing.T) {
	losing(t, func(c *natstest.Cluster, more func()) {
		for _, lose := range []func(int){c.Kill, c.Kill, c.Shutdown} {
			leader := c.Leader(streamName)
			lose(leader)
			c.Leader(streamName)
			more()
			c.Restart(leader)
			c.Await()
		}
		leader := c.Leader(streamName)
		c.Pause(leader)
		more()
		c.Resume(leader)
		more()
	})
}
