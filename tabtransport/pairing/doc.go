// Package pairing is how a hub and a browser's extension prove to one another that
// the owner has paired them: each shows that it knows a key that both have, and
// neither ever sends it (spec/PROTOCOL.md, "Pairing").
//
// The keys of one hub are its Ring: a file in the data directory, or, where the hubs of users
// move from process to process, a document of each user's. There are two kinds of pairing,
// told apart by the id that the browser names:
//
//	copy     a copy of the extension that this hub's command wrote to a directory.
//	         Its key is derived from the ring's own and the id, so a copy is known
//	         without having been recorded.
//	browser  a browser that the owner has introduced with an Invitation, a secret that
//	         is good once and for a few minutes. Its key is computed by both sides from
//	         that secret and the nonces of their first handshake.
//
// A handshake is an Exchange: the browser's nonce comes in, the hub's nonce and proof go
// out, the browser's proof comes in. The proofs cover the address at which the two have
// met, as each knows it by itself: the browser has dialed it, the hub has the socket. So a
// program at another port cannot forward the messages and pass for the hub.
package pairing
