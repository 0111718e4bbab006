// Package tabtransport carries a hub's requests to tabs, and what tabs say to it.
//
// The hub sees a [TabHubTransport] and is its [Handler]. A wire (the WebSocket
// transport in wsserver, a tab inside this process made by [Join]) sees an [Attacher]:
// it attaches each of its connections as a [Link], and what comes over the connection
// goes into the [Attachment] that it gets. [Peers] is between the two: which peers are
// connected, and which requests wait for an answer. Neither interface needs the hub and
// the wire to be in one process.
//
// Package tabtest has a fake tab and the tests that every implementation must pass.
package tabtransport
