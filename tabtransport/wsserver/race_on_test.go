//go:build race

package wsserver_test

import "time"

// busy is what a busy machine may add to a call, and the race detector to reading
// megabytes from the socket that its answer comes over, too.
const busy = 10 * time.Second
