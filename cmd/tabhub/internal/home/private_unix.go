//go:build unix

package home

import (
	"fmt"
	"os"
	"syscall"

	"tabhub/cmd/tabhub/internal/shell"
)

// checkPrivate refuses a directory in which others can put a token, or a hub.json
// that leads whoever looks for the hub to them. Root may be given anybody's, as in
// containers.
func (d Dir) checkPrivate() error {
	fi, err := os.Stat(string(d))
	if err != nil {
		return fmt.Errorf("the data directory cannot be used (%w); pass another --data-dir", err)
	}
	if fi.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("everybody may write to the data directory %s; run `%s`, or pass another --data-dir", d, shell.Here("chmod", "700", string(d)))
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && me != 0 && st.Uid != 0 && int(st.Uid) != me {
		return fmt.Errorf("the data directory %s belongs to another user; pass another --data-dir", d)
	}
	return nil
}
