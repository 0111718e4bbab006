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

// socketOwner returns the user who owns the open socket with the address at, connected to to. It
// reads the kernel's tables of sockets.
func socketOwner(at, to netip.AddrPort) (uid int, err error) {
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
