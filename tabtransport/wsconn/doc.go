// Package wsconn is a WebSocket of the hub: how frames are read, written and bounded,
// how a silent or slow peer is found, and how a connection ends. What the frames say
// is for the packages that use it, wsserver and relay. Tests apart, it is the only
// importer of gorilla/websocket.
//
// A Server accepts connections and closes them together. Each Conn has one goroutine
// that reads, started by Server.Serve, and at most one that writes, lent by the Server
// while there is something to write. No other goroutine touches the wire, and only the
// writer waits for the peer to read: frames wait in a bounded queue, and the connection of
// a peer that lets it overflow is closed.
//
// The peer of a connection is unknown until the connection's owner calls Conn.Admit. Until then
// its frames are small, all such connections share the memory for them, and the oldest
// of too many is closed.
//
// A connection ends in one way. Close lets the writer send what is queued, but for
// requests, then a close frame; it waits a moment for the peer's, and closes the socket.
// All of that is bounded, and Abort skips it. When Conn.Read returns nothing of the
// connection is left.
package wsconn
