package httpd

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ownPeer reports whether the program at the far end of a request's connection, which
// was made on this machine, runs as the hub's own user. Root does not count: a program of
// root's may pass on what others say.
func ownPeer(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if local == nil || err != nil {
		return false
	}
	uid, err := socketOwner(remote, local.AddrPort())
	return err == nil && uid == os.Geteuid()
}

// socketOwner returns the user who owns the open socket with the address at, connected to
// to, as the tables of /proc have it.
func socketOwner(at, to netip.AddrPort) (uid int, err error) {
	at, to = unmap(at), unmap(to)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
			fields := strings.Fields(line)
			// One that nobody has any more, with the inode 0, is called root's.
			if len(fields) >= 10 && fields[3] == "01" && fields[9] != "0" && tableAddr(fields[1]) == at && tableAddr(fields[2]) == to {
				return strconv.Atoi(fields[7])
			}
		}
	}
	return 0, errors.New("there is no such socket")
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// tableAddr reads an address as the tables have it: hexadecimal, each 32 bits in the
// machine's order.
func tableAddr(s string) netip.AddrPort {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(b)%4 != 0 {
		return netip.AddrPort{}
	}
	for word := range slices.Chunk(b, 4) {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n))
}
