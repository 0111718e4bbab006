package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"syscall"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/portowner"
	"tabhub/cmd/tabhub/internal/settings"
)

// openListeners opens the hub's listeners. fallback lets a taken port be replaced by a
// free one, as it must be for a hub that nobody started by hand; notes say so.
func openListeners(c *settings.Config, fallback bool, log *slog.Logger) (lns []net.Listener, notes []string, err error) {
	defer func() {
		if err != nil {
			closeAll(lns)
		}
	}()
	secure, err := tlsConfig(c)
	if err != nil {
		return nil, nil, err
	}
	addrs := c.Listen
	if len(addrs) == 0 {
		addrs = []string{settings.DefaultListen}
	}
	for _, addr := range addrs {
		ln, err := net.Listen("tcp", addr)
		if fallback && errors.Is(err, syscall.EADDRINUSE) {
			host, _, _ := net.SplitHostPort(addr)
			taken := portowner.Describe(addr)
			if ln, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err == nil {
				notes = append(notes, fmt.Sprintf("%s is in use by %s, so the hub listens on %s, where pages and extensions will not look for it", addr, taken, ln.Addr()))
			}
		}
		if err != nil {
			return lns, nil, explainListen(addr, err)
		}
		lns = append(lns, ln)
	}
	if len(c.Listen) == 0 {
		if ln, err := net.Listen("tcp", settings.RelayListen); err == nil {
			lns = append(lns, ln)
		} else {
			log.Info("pages with the webmcp.v1 widget will not find this hub", "addr", settings.RelayListen, "err", err)
		}
	}
	if secure != nil {
		for i := range lns {
			lns[i] = tls.NewListener(lns[i], secure)
		}
	}
	return lns, notes, nil
}

func closeAll(lns []net.Listener) {
	for _, ln := range lns {
		ln.Close()
	}
}

func tlsConfig(c *settings.Config) (*tls.Config, error) {
	if c.TlsCert == "" {
		return nil, nil
	}
	cert := &certificate{certFile: c.TlsCert, keyFile: c.TlsKey}
	if _, err := cert.get(nil); err != nil {
		return nil, command.Usagef("the certificate cannot be used: %w", err)
	}
	// WebSockets and bridges upgrade a connection, which HTTP/2 does not know.
	return &tls.Config{GetCertificate: cert.get, NextProtos: []string{"http/1.1"}}, nil
}

// explainListen says why an address cannot be listened on, and what to do.
func explainListen(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return command.Usagef("%s is in use by %s; end that, or pass --listen with another port (--listen %s for any free one)", addr, portowner.Describe(addr), anyPort(addr))
	case errors.Is(err, syscall.EACCES):
		return command.Usagef("listening on %s is not permitted; pass --listen with a port above 1023", addr)
	}
	return command.Usagef("--listen %s: %w", addr, err)
}

func anyPort(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, "0")
}

// reachableAddr returns an address by which this machine reaches a listener.
func reachableAddr(ln net.Listener) string {
	tcp, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return ln.Addr().String()
	}
	host := "127.0.0.1"
	if tcp.IP.To4() == nil {
		host = "::1"
	}
	return net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}
