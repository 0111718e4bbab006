//go:build unix

package private

import (
	"errors"
	"syscall"
)

func whyNotWritten(err error, dir string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC) && outOfFiles(dir):
		return "holds as many files as it can: delete some there"
	case errors.Is(err, syscall.ENOSPC):
		return "is full: make room there"
	case errors.Is(err, syscall.EDQUOT):
		return "gives you no more room: delete something there"
	case errors.Is(err, syscall.EROFS):
		return "can only be read: mount it so that it can be written"
	}
	return ""
}
