//go:build unix

package daemon

import (
	"io"
	"os"
	"syscall"
	"time"
)

// pollable returns stdin as a file that the runtime waits for along with the sockets,
// if it is a pipe. Otherwise each read blocks a thread, and every message pays for
// its waking. The mode belongs to the pipe, not to this process, so a terminal, which
// others go on using, is left as it is. So is a socket that is one of outs, too, as sshd
// and inetd have it: a write to a full one would fail rather than wait.
func pollable(in io.Reader, outs ...io.Writer) io.Reader {
	f, ok := in.(*os.File)
	if !ok || f.SetReadDeadline(time.Time{}) == nil { // it is pollable already
		return in
	}
	fi, err := f.Stat()
	if err != nil || fi.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in
	}
	for _, out := range outs {
		if o, ok := out.(*os.File); ok {
			if same, err := o.Stat(); err != nil || os.SameFile(fi, same) {
				return in
			}
		}
	}
	fd := f.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return in
	}
	return os.NewFile(fd, f.Name())
}
