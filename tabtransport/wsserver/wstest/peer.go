package wstest

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// Peer is a browser or tab that reaches a hub over the network. It sends and
// receives frames as the bytes that they are. Send and Close may be called by
// several goroutines, Receive by one.
type Peer struct {
	ws *websocket.Conn
	mu sync.Mutex // writes to ws
}

// Connect opens a WebSocket to url (ws://…). A header "Host" is sent instead of the
// URL's. If the server does not upgrade, the response says why; it is nil if there
// was none.
func Connect(ctx context.Context, url string, header http.Header, subprotocols ...string) (*Peer, *http.Response, error) {
	d := websocket.Dialer{Subprotocols: subprotocols}
	ws, resp, err := d.DialContext(ctx, url, header)
	if err != nil {
		return nil, resp, err
	}
	return &Peer{ws: ws}, resp, nil
}

// Send sends a text frame.
func (p *Peer) Send(frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ws.WriteMessage(websocket.TextMessage, frame)
}

// Receive blocks until the next frame or the end of the connection.
func (p *Peer) Receive() ([]byte, error) {
	_, frame, err := p.ws.ReadMessage()
	return frame, err
}

// Close cuts the connection, as a crash does.
func (p *Peer) Close() error { return p.ws.NetConn().Close() }

// CloseCode returns the code of the close frame that ended a connection with err, 0
// if there was none.
func CloseCode(err error) spec.CloseCode {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return spec.CloseCode(closed.Code)
	}
	return 0
}
