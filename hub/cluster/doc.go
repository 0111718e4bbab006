// Package cluster makes a process one of the nodes of a cluster. It keeps the node's lease in
// NATS, knows the other nodes, authenticates connections between them, and chooses the node that
// opens a user's hub. The user's journal (storage/jetstream) names the owner node: it has the id
// of the lease under which it was last written.
//
// # In NATS
//
//	TABHUB_NODES    key: a node's name; value: its Member, an attempt count, a signature
//	TABHUB_CLUSTER  "cluster": the cluster's id and a check of its secret
//	                "doc.<name>": a sealed document (Documents)
//	TABHUB_HINTS    hash of a credential's id: its user, sealed; may have a time to live (Hints)
//
// They are key-value buckets with one revision a key. The first two have no time to live. Nodes
// read them from the stream's leader, or with a consumer in the order of the stream; direct reads
// from replicas are off. A hint never changes to another user, so a node reads hints from any
// replica, and asks the leader for those that the replica does not have. The metadata of the
// streams has the version of the format.
//
// # The lease
//
// A node writes its key every 0.7 s, on condition that the key's last revision is the one that it
// wrote last. It holds its lease until 2.7 s after it SENT the last renewal that succeeded; time
// in which its machine sleeps counts. Another node declares the lease ended when it has seen
// nothing newer for 3.5 s since it RECEIVED that renewal, and its own renewals have succeeded all
// that time: it writes so into the key, on condition that the renewal is still the key's last
// revision. A lease ends for other nodes only by this message or by one of the node itself, and
// it ends for ever: the node's next lease has another incarnation, and so another id.
//
// # Why two nodes never act for one user
//
// A node acts for a user only while it holds its lease and the user's journal names this lease as
// its last writer. Let lease L of node P be that writer, and let node Q take the user over.
//
//   - Q claims the journal only if L has ended: P's key has a message E that says so. Let R be
//     the renewal of L that E replaced. E and all renewals are conditional, so NATS stores no
//     renewal of L after R, even if one was late, sent twice, or thought lost: R is the last. (If
//     another program wrote or deleted the key between R and E, Q waits from the moment when it
//     learned of that, which is later.)
//   - P holds L until 2.7 s after it sent R, at most: it sent earlier renewals before, and later
//     ones never succeed. P counts from the sending, so it does not matter how late it reads the
//     answer, for example after a pause of the process. Q counts from the receipt, which is after
//     the sending, and waits 3.5 s. So P has not held L for 0.8 s when Q writes E; that covers
//     clocks that do not run equally fast. The time that clocks show, NATS's included, does not
//     matter, so setting a clock changes nothing.
//   - P's clocks count a sleep of its machine: one of them runs on; or the sleep looks like a
//     clock that was set, and P holds nothing until its next renewal. A sleep of Q's machine
//     makes Q wait longer.
//   - After E, P can hold a lease again only if it writes a new one after E, with another id. No
//     journal has that id before P opens the user anew. That takes a claim, and claims are
//     conditional on the journal's last message: of Q's claim and P's, one fails. What P had
//     opened before, or was opening, has a Term that is over.
//   - A node that cannot learn of E, because it is cut off from NATS, has no lease either: its
//     renewals cannot succeed.
//   - A lease of which NATS has nothing need not have ended: a person may have deleted the key,
//     its end may be more than a day ago, or a backup of NATS was restored. Then Q writes E on
//     condition that there is still no key, or that the key has an older lease that has ended. E
//     counts when 3.5 s have passed. If P is alive, it makes a new lease after E.
//
// Without E no node can have taken a user over, however long P could not renew. While NATS elects
// a leader, all nodes are suspended; they go on with their next renewal.
//
// This does not cover:
//
//   - Bytes that a process had given to its system, or was about to after it asked Held, when it
//     was paused: they leave when it wakes. A user's journal takes nothing of such a node.
//   - Clocks that stand still without the system knowing, as in a virtual machine that is stopped
//     from outside. Such a node may believe that it holds the lease until its next renewal fails,
//     up to a second of its time after it wakes.
//   - A NATS that forgets what it has acknowledged: servers that lose their disks, or lose power
//     before they sync.
//
// # Between nodes
//
// A node makes a key and a certificate for each lease. The lease has the certificate's hash and is
// signed with the cluster's secret. So a connection is TLS 1.3 with exactly the member that was
// meant, in both directions. A program that can write to NATS but lacks the secret can disturb the
// cluster, but cannot be a node of it.
package cluster
