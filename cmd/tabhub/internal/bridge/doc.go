// Package bridge is `tabhub stdio`: a thin pipe between an MCP client on stdin and
// stdout and the hub, which lives in another process. It finds the hub, starts one
// if none runs, and outlives it: when the hub dies, the bridge attaches to the next
// one and the client notices as little as can be.
//
// Two goroutines pipe. Run's own, the hub side, owns the connection: it connects,
// restores the session, copies lines from the hub to the client, and settles what
// was open when a connection was lost. The client side reads the client's lines and
// writes them to the present connection. Both look into a message only as far as its id
// and method. Bridge.mu guards what they share.
//
// # When a hub dies
//
// Requests that were under way are settled by what they are. A tools/call may have
// reached a page: it is sent again only if the tool says readOnlyHint or
// idempotentHint, and answered NOT_CONNECTED otherwise. The bridge knows these hints
// from the tools/list answers that have passed through it; it keeps the latest as
// bytes and parses it only now. A tool that the client never listed counts as unsafe.
// Every other request can be sent twice without harm, and is sent again.
//
// For a session of the older revisions, the client's own initialize is sent first,
// as the bridge's request whose answer is dropped, then notifications/initialized,
// the log level and the resource subscriptions. Of the revision without sessions,
// subscriptions/listen is a request that is still open, and sent again like others;
// its second acknowledgement is dropped, and so is the answer with which a hub that ends
// on purpose ends it. Then the bridge notifies the client once that the lists
// may have changed.
//
// A hub whose process lives is never given up, however long it takes to answer: it may
// be slow, or the machine may have slept, and it holds the lock, so that no other could
// be started. Clients have limits of their own. Only the bridge of a client that has
// gone leaves after a while.
//
// A hub that ends on purpose says so in a last line (httpd.FarewellMethod). It says
// there, too, whether it has answered all that it had begun: then what is still open goes
// to the next hub, calls too. After "stop" the bridge waits until the client asks for something
// before it starts a hub again; after any other end it does so at once.
//
// A bridge whose client goes says so in its last line, by the same method: what the hub keeps for
// the session, the tabs that it has leased first of all, does not wait for another connection.
package bridge
