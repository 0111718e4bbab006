//go:build unix

package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// checkSecret returns an error if others can read or change a file.
func checkSecret(path string, fi os.FileInfo) error {
	if err := checkOwner(path, fi); err != nil {
		return err
	}
	open := fi.Mode().Perm() & 0o077
	if Owner(fi) == 0 {
		open &^= 0o040
	}
	if open != 0 {
		return fmt.Errorf("others may use %s, which holds a secret (mode %04o); run `chmod 600 %s`", path, fi.Mode().Perm(), quote(path))
	}
	return nil
}

// checkFile returns an error if others can change a file or directory, of which fi is
// what os.Stat or an open file says.
func checkFile(path string, fi os.FileInfo, trusted ...int) error {
	if err := checkOwner(path, fi, trusted...); err != nil {
		return err
	}
	if (fi.Mode().IsRegular() || fi.IsDir()) && fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to %s (mode %04o); run `chmod go-w %s`", path, fi.Mode().Perm(), quote(path))
	}
	return nil
}

func checkOwner(path string, fi os.FileInfo, trusted ...int) error {
	if uid := Owner(fi); uid != 0 && uid != os.Geteuid() && !slices.Contains(trusted, uid) {
		return fmt.Errorf("%s belongs to another user (id %d)", path, uid)
	}
	return nil
}

// Owner returns the id of the user whose a file is.
func Owner(fi os.FileInfo) int {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return os.Geteuid() // of a file system that knows no owners
}

// CheckEntries returns an error if others can change the files and directories in dir; it
// does not look below these. It trusts the users of the ids, too.
func CheckEntries(dir string, trusted ...int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		fi, err := os.Lstat(path)
		if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			if err := checkOwner(path, fi, trusted...); err != nil {
				return err
			}
			fi, err = os.Stat(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile, or a dangling link
		}
		if err != nil {
			return err
		}
		if err := checkFile(path, fi, trusted...); err != nil {
			return err
		}
	}
	return nil
}

// CheckHome refuses root in the home directory of another user, as under `sudo -E`: that user could
// neither read nor change what is written there, and links in it would say what root writes.
func CheckHome(dir string) error {
	fi, err := os.Stat(dir)
	if os.Geteuid() != 0 || err != nil || Owner(fi) == 0 {
		return nil
	}
	return fmt.Errorf("you are root, and the home directory %s is another user's; run this as that user, or with HOME=/root", dir)
}

// maxLinks is how many symbolic links CheckPath follows.
const maxLinks = 40

// CheckPath returns an error if others can have path lead to another directory, or can
// write in the one that it leads to. It follows no symbolic link of others. What of the
// path does not exist is not looked at. It trusts the users of the ids, too.
//
// A directory for all, such as /tmp, may be on the way if it is sticky: what it holds
// can then be renamed by its owner alone. Below one that others cannot enter, the modes
// do not count. Directories on the way may be writable for the group that a user has alone,
// as a home directory's are where umask is 002.
func CheckPath(path string, trusted ...int) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	onWay := append(slices.Clone(trusted), unmapped()...)
	at, rest := "/", split(path)
	entered := true // other users can reach at
	for links := 0; ; {
		fi, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			err = checkOwner(at, fi, onWay...)
		} else {
			err = checkOwner(at, fi, trusted...)
		}
		if err != nil {
			return err
		}
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return fmt.Errorf("%s leads through too many symbolic links", path)
			}
			to, err := os.Readlink(at)
			if err != nil {
				return err
			}
			if !filepath.IsAbs(to) {
				to = filepath.Dir(at) + "/" + to
			}
			// From the root again: the link may lead out of what others cannot enter.
			at, rest, entered = "/", append(split(to), rest...), true
			continue
		case !fi.IsDir():
			return fmt.Errorf("%s is not a directory", at)
		case entered && fi.Mode().Perm()&0o022 != 0 && (len(rest) == 0 || fi.Mode()&fs.ModeSticky == 0 && !isOfOwnGroup(fi)):
			return checkFile(at, fi, onWay...)
		}
		if len(rest) == 0 {
			return nil
		}
		entered = entered && fi.Mode().Perm()&0o011 != 0
		if rest[0] == ".." {
			// at is no link, so that this is what the system would do.
			at, entered = filepath.Dir(at), true
		} else {
			at = filepath.Join(at, rest[0])
		}
		rest = rest[1:]
	}
}

// isOfOwnGroup reports whether only the group of its owner alone, which has the owner's id, may
// write to a directory besides the owner.
func isOfOwnGroup(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0 && st.Uid == st.Gid && fi.Mode().Perm()&0o002 == 0
}

// unmapped returns the id of directories whose owner, such as root, the user namespace of a
// sandbox does not map. Outside of sandboxes no user has it.
func unmapped() []int {
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || slices.Equal(strings.Fields(string(users)), []string{"0", "0", "4294967295"}) {
		return nil
	}
	return []int{65534}
}

// split returns the names that a path consists of. It leaves ".." as it is: behind a
// symbolic link it does not undo the name before it.
func split(path string) []string {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// quote quotes a path for a shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
