package instance

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// usedBy says what uses a user data directory, "" if nothing does. A browser keeps
// the lock file open for itself alone.
func usedBy(data string) string {
	f, err := os.OpenFile(filepath.Join(data, "lockfile"), os.O_RDWR, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return "a running browser"
	}
	if err == nil {
		f.Close()
	}
	return ""
}

// unlock does nothing: the system removes the lock of a browser that has ended.
func unlock(string) {}
