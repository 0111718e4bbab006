//go:build unix

package jetstream

import (
	"testing"

	"tabhub/storage/jetstream/natstest"
)

// pause stops the leader until writes go on without it, and wakes it: it believes that it leads.
func pause(t *testing.T, c *natstest.Cluster, more func(int64)) {
	leader := c.Leader(streamName)
	c.Pause(leader)
	more(20)
	c.Resume(leader)
	more(20)
	t.Log("leader paused: it is no more, and nothing was lost")
}
