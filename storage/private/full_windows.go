package private

import (
	"errors"

	"golang.org/x/sys/windows"
)

func whyNotWritten(err error, _ string) string {
	switch {
	case errors.Is(err, windows.ERROR_DISK_FULL), errors.Is(err, windows.ERROR_HANDLE_DISK_FULL):
		return "is full: make room there"
	case errors.Is(err, windows.ERROR_WRITE_PROTECT):
		return "can only be read: end its write protection"
	}
	return ""
}
