//go:build !race

package wsserver_test

import "time"

// busy is what a busy machine may add to a call.
const busy = 100 * time.Millisecond
