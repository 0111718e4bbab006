package httpd

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ownPeer reports whether the program at the other end of a request's connection, which was made on
// this machine, runs as the hub's own user. A program of root's does not count: it may pass on
// requests of others.
func ownPeer(r *http.Request) bool {
	uid, err := peerUser(r)
	return err == nil && uid == os.Geteuid()
}

// peerUser returns the user whose program is at the other end of a request's connection, which was
// made on this machine.
func peerUser(r *http.Request) (uid int, err error) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if local == nil || err != nil {
		return 0, errNoSocket
	}
	return socketOwner(remote, local.AddrPort())
}

var errNoSocket = errors.New("there is no such open socket")

// socketOwner returns the user who owns the open socket with the address at, connected to to.
func socketOwner(at, to netip.AddrPort) (uid int, err error) {
	at, to = unmap(at), unmap(to)
	if uid, err = askKernel(at, to); err != nil {
		return readTables(at, to) // a kernel that cannot be asked says that there is none, too
	}
	return uid, nil
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// diagRequest is a netlink message that asks for one socket (sock_diag(7),
// inet_diag_req_v2).
type diagRequest struct {
	header   unix.NlMsghdr
	family   uint8
	protocol uint8
	_        [2]uint8
	states   uint32
	sport    [2]byte // big-endian
	dport    [2]byte
	src      [16]byte
	dst      [16]byte
	_        uint32 // interface
	cookie   [2]uint32
}

const (
	sockDiagByFamily = 20
	diagHeader       = 16           // of a netlink message
	diagState        = 1            // in inet_diag_msg
	diagUID          = 4 + 48 + 3*4 // behind states, socket id, timer and queues
	diagInode        = diagUID + 4
	established      = 1
	diagLeast        = diagHeader + 72 // both
)

// askKernel looks one socket up by netlink, in microseconds however many there are. A table takes
// tens of milliseconds if there are thousands.
func askKernel(at, to netip.AddrPort) (uid int, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	q := diagRequest{
		header:   unix.NlMsghdr{Len: uint32(unsafe.Sizeof(diagRequest{})), Type: sockDiagByFamily, Flags: unix.NLM_F_REQUEST},
		family:   unix.AF_INET6,
		protocol: unix.IPPROTO_TCP,
		states:   ^uint32(0),
		cookie:   [2]uint32{^uint32(0), ^uint32(0)}, // any
	}
	if at.Addr().Is4() {
		q.family = unix.AF_INET
	}
	binary.BigEndian.PutUint16(q.sport[:], at.Port())
	binary.BigEndian.PutUint16(q.dport[:], to.Port())
	copy(q.src[:], at.Addr().AsSlice())
	copy(q.dst[:], to.Addr().AsSlice())
	message := unsafe.Slice((*byte)(unsafe.Pointer(&q)), unsafe.Sizeof(q))
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, err
	}
	answer := make([]byte, 1024)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return 0, err
	}
	if n >= diagHeader+4 && binary.NativeEndian.Uint16(answer[4:]) == unix.NLMSG_ERROR {
		code := unix.Errno(-int32(binary.NativeEndian.Uint32(answer[diagHeader:])))
		if code == unix.ENOENT {
			return 0, errNoSocket
		}
		return 0, code
	}
	if n < diagLeast {
		return 0, errors.New("the kernel's answer is too short")
	}
	message = answer[diagHeader:]
	if message[diagState] != established || binary.NativeEndian.Uint32(message[diagInode:]) == 0 {
		return 0, errNoSocket
	}
	return int(binary.NativeEndian.Uint32(message[diagUID:])), nil
}

// readTables looks a socket up in the tables of /proc, for kernels and sandboxes that cannot be asked.
func readTables(at, to netip.AddrPort) (uid int, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
		const established, closed = " 01 ", "0" // the inode of a socket that no program has open
		row := []byte(" " + tableAddr(at, table) + " " + tableAddr(to, table) + established)
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if !bytes.Contains(s.Bytes(), row) { // there may be thousands
				continue
			}
			if fields := strings.Fields(s.Text()); len(fields) >= 10 && fields[9] != closed {
				return strconv.Atoi(fields[7])
			}
		}
	}
	return 0, errNoSocket
}

// tableAddr writes an address as a table does: in hexadecimal, each 32 bits in the machine's order.
func tableAddr(a netip.AddrPort, table string) string {
	b := a.Addr().Unmap().AsSlice()
	if strings.HasSuffix(table, "6") {
		wide := a.Addr().As16()
		b = wide[:]
	}
	for word := range slices.Chunk(b, 4) {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	return fmt.Sprintf("%X:%04X", b, a.Port())
}
