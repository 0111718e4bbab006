//go:build !unix

package jetstream

import (
	"testing"

	"tabhub/storage/jetstream/natstest"
)

// pause does nothing: here no process can be stopped.
func pause(*testing.T, *natstest.Cluster, func(int64)) {}
