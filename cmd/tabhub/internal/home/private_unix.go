//go:build unix

package home

import (
	"fmt"
	"os"

	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/storage/private"
)

// CheckPrivate refuses a directory in which others can put a token, a store, or a
// hub.json that leads programs of the owner to them, one in the place of which they can
// put another, and one that holds files of others. Root may be given anybody's, as in
// containers, and then trusts its owner.
func (d Dir) CheckPrivate() error {
	fi, err := os.Stat(string(d))
	if err != nil {
		return fmt.Errorf("the data directory cannot be used (%w); pass another --data-dir", err)
	}
	if fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to the data directory %s; run `%s`, or pass another --data-dir", d, shell.Here("chmod", "700", string(d)))
	}
	owner := private.Owner(fi)
	if me := os.Geteuid(); me != 0 && owner != 0 && owner != me {
		return fmt.Errorf("the data directory %s belongs to another user; pass another --data-dir", d)
	}
	// The volume of a pod is writable for all, and nobody else is there.
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		var trusted []int
		if os.Geteuid() == 0 {
			trusted = []int{owner}
		}
		if err := private.CheckPath(string(d), trusted...); err != nil {
			return fmt.Errorf("others can put another directory in the place of the data directory %s: %w; or pass another --data-dir", d, err)
		}
	}
	for _, lock := range []string{HubLock, StartLock} {
		// A user who can open the file can hold the lock, and make the hub.json of a hub that
		// has ended look like that of one that runs.
		if fi, err := os.Stat(d.path(lock)); err == nil && fi.Mode().Perm()&0o077 != 0 {
			return fmt.Errorf("others may hold the lock %s; run `%s`", d.path(lock), shell.Here("chmod", "600", d.path(lock)))
		}
	}
	if err := private.CheckEntries(string(d), owner); err != nil {
		return fmt.Errorf("what is in the data directory may be of others: %w; or pass another --data-dir", err)
	}
	return nil
}
