package httpd

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/trust/auth"
)

// AttachProtocol is the protocol to which a bridge upgrades /attach: JSON-RPC messages of MCP, one a
// line, in both directions.
const AttachProtocol = "tabhub-attach"

// A bridge names its session in these headers: a random ID of 32 hexadecimal digits, which it made when
// it started, and the time of its start (time.RFC3339Nano).
const (
	SessionHeader = "Tabhub-Session"
	BeganHeader   = "Tabhub-Began"
)

// FarewellMethod is a notification that only /attach carries, as its last line. params.reason says why
// the hub ends: "stop" (the user wants it), "upgrade", "idle", "failed" (a listener has failed) or
// "moved" (only the user's hub ends here: another process serves the user). A stream that ends without
// it has ended by accident. With params.settled, no request without an answer has begun, so the bridge
// can send them to the next hub. A bridge sends it, too, without parameters, when its client goes.
const FarewellMethod = methods.FarewellMethod

// Farewell is the parameters of FarewellMethod.
type Farewell struct {
	Reason  string `json:"reason"`
	Settled bool   `json:"settled"`
}

// attach serves a bridge, which connects to a listener of ServeOwner.
func (s *Server) attach(r *endpoint.Request) error {
	if r.Method != http.MethodGet || !isUpgrade(r.Request, AttachProtocol) {
		r.W.Header().Set("Upgrade", AttachProtocol)
		return &endpoint.Error{Status: http.StatusUpgradeRequired, Text: "this endpoint is for `tabhub stdio`; MCP clients use /mcp"}
	}
	id, err := boundIdentity(r)
	if err != nil {
		return err
	}
	conn, buf, err := http.NewResponseController(r.W).Hijack()
	if err != nil {
		return err
	}
	defer conn.Close()
	s.serveBridge(r, id, conn, buf.Reader)
	return nil
}

// serveBridge serves a bridge on a connection whose beginning is read from buf.
func (s *Server) serveBridge(r *endpoint.Request, id *auth.Identity, conn net.Conn, buf *bufio.Reader) {
	if !s.addBridge() {
		return
	}
	defer s.bridge.Done()
	conn.SetDeadline(time.Time{})
	answer := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + AttachProtocol + "\r\n"
	if id.Bound != nil {
		answer += BrowserHeader + ": " + strings.Join(id.Bound, ",") + "\r\n"
	}
	if _, err := io.WriteString(conn, answer+"\r\n"); err != nil {
		return
	}
	ctx, cancel := id.Context(s.ctx)
	defer cancel()
	// The buffer holds what the bridge sent along with its request. The rest is read from the connection
	// itself, which must not be closed before the farewell.
	head, _ := buf.Peek(buf.Buffered())
	s.log.Debug("bridge attached", "user", id.User)
	settled, err := r.Tenant.MCP.ServeBridge(methods.WithIdentity(ctx, id), bridged(r.Header), io.MultiReader(bytes.NewReader(bytes.Clone(head)), conn), conn)
	s.log.Debug("bridge left", "user", id.User, "err", err)
	if s.draining.Load() || errors.Is(err, methods.ErrClosing) {
		s.sayFarewell(conn, settled)
		letRead(conn)
	}
}

// bridged returns the session that a bridge names; a new one if its headers make no sense.
func bridged(h http.Header) mcpserver.Bridged {
	now := time.Now()
	id, err := hex.DecodeString(h.Get(SessionHeader))
	began, e := time.Parse(time.RFC3339Nano, h.Get(BeganHeader))
	if err != nil || len(id) != 16 || e != nil || began.After(now) {
		return mcpserver.Bridged{Session: rand.Text(), Began: now}
	}
	return mcpserver.Bridged{Session: h.Get(SessionHeader), Began: began}
}

// letRead gives the bridge time to read what was written last. Closing a connection with unread data of
// the bridge resets it, and loses what is still to reach the bridge.
func letRead(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		conn.SetReadDeadline(time.Now().Add(lastRead))
		_, _ = io.Copy(io.Discard, conn)
	}
}

// lastRead is how long a bridge may take to read the end of its stream.
const lastRead = time.Second

// addBridge counts a stream for which Shutdown waits, unless Shutdown has begun.
func (s *Server) addBridge() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.bridge.Add(1)
	return true
}

func (s *Server) sayFarewell(conn net.Conn, settled bool) {
	s.mu.Lock()
	why := "moved"
	if s.draining.Load() {
		why = s.farewell
	}
	s.mu.Unlock()
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": FarewellMethod, "params": Farewell{Reason: why, Settled: settled}})
	conn.SetWriteDeadline(time.Now().Add(time.Second))
	conn.Write(append(line, '\n'))
}
