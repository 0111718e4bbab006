// Package cluster makes a process one of the nodes of a cluster: it keeps the node's lease in
// NATS, knows the other nodes and proves them to each other, and says on which of them a user's
// hub is opened. Whose a user is says the user's journal (storage/jetstream), by the id of the
// lease under which it was written.
//
// # In NATS
//
//	TABHUB_NODES    key: a node's name; value: its Member, an attempt count, a signature
//	TABHUB_CLUSTER  "cluster": the cluster's id and a check of its secret
//	                "doc.<name>": a sealed document (Documents)
//	TABHUB_HINTS    hash of a credential's id: its user, sealed; may have a time to live (Hints)
//
// They are key-value buckets of one revision a key. The first two have no time to live, and are
// read from the stream's leader or by a consumer in the order of the stream; direct reads from
// replicas are off. Of hints, which are never changed to another user, a replica answers what it
// has, and the leader what it has not. The metadata of the streams has the format.
//
// # The lease
//
// A node writes its key every 0.7 s, each time on condition that the key's last revision is
// the one that it wrote last. It holds its lease until 2.7 s after it SENT the last renewal that
// succeeded, the sleep of its machine included. Another node that has seen nothing
// newer for 3.5 s since it RECEIVED that renewal, and whose own renewals have succeeded all that
// time, writes into the key that the lease has ended, on condition that the renewal is still
// the key's last revision. That message is the only way in which a lease ends for others,
// besides one of the node itself, and it ends it for ever: the next lease of the node has
// another incarnation, so another id.
//
// # Why two nodes never act for one user
//
// A node acts for a user only while its lease is held and the user's journal says that this
// lease is the last that wrote. Let lease L of node P be that lease, and node Q take the user
// over.
//
//   - Q claims only if L has ended: a message E is in P's key that says so. Let R be the
//     renewal of L that E replaced. As E and all renewals are conditional, no renewal of L after
//     R is stored, ever, whatever was late, sent twice, or thought lost: R is the last. (If
//     somebody else has written the key between R and E, or deleted it, then Q waits from when
//     it learned of that, which was later.)
//   - P holds L until 2.7 s after it sent R, at most: renewals before R were sent before, and
//     those after R never succeed. P counts from the sending, so it does not matter how late it
//     reads the answer, after a pause of the process for example, and what it finds in its
//     socket then. The one that waits counts from the receipt, which is after the sending, and
//     waits 3.5 s. So when E is written P no longer holds L, by 0.8 s, which covers clocks
//     that do not run equally fast. What they show does not matter, and neither do those of
//     NATS: who sets a clock changes nothing.
//   - A sleep of P's machine is counted by P's clocks: one of them runs on, or it cannot be told
//     from a clock that was set, and P holds nothing until its next renewal. A sleep of Q's
//     makes Q wait for longer.
//   - After E, P can hold a lease again only by writing a new one after E, with another id. No
//     journal has that id before P opens the user anew, which is a claim, and claims are
//     conditional on the journal's last message: of Q's and P's, one fails. What P had opened
//     before, or was opening, has a Term that is over.
//   - A node that is told nothing of E (cut off from NATS) has no lease either: its renewals
//     cannot succeed.
//   - That nothing is known of L is not its end. It is when a person has deleted the key, or
//     when its end was more than a day ago, or a backup of NATS was restored. Then E is written on
//     condition that there is still no key, or an older lease in it that has ended, and counts
//     when 3.5 s have passed. If P was alive it makes a new lease after E.
//
// As long as no E is written, nobody can have taken anything over, however long P could not
// renew: while NATS elects a leader all nodes are suspended, and go on with their next renewal
// as if nothing had been.
//
// What this does not cover: bytes that a process had handed to its system, or was about to
// after it asked Held, when it was paused; they leave when it wakes. A user's journal takes
// nothing of such a node. Clocks that stand still without the system knowing, as those of a
// virtual machine that is stopped from outside: such a node may take itself for the holder until
// its next renewal fails, up to a second of its own time after it is woken. A NATS that forgets
// what it has acknowledged: servers that lose their disks, or power without syncing.
//
// # Nodes among each other
//
// A node makes a key and a certificate for each lease. The lease has the certificate's hash,
// signed with the cluster's secret, so connections are TLS 1.3 with exactly the member that
// was meant, in both directions. Who can write to NATS and does not have the secret can disturb
// the cluster, but be no node of it.
package cluster
