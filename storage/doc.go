// Package storage stores what a hub must remember over a restart. The interface is
// [DomainToolStorage]; [Bolt] implements it over one bbolt file. Package storagetest has
// the tests that every implementation must pass, and one in memory for tests of others.
//
// # The file
//
// One bbolt file of mode 0600, opened by one process at a time:
//
//	meta
//	  version          the schema version, a varint
//	users
//	  <user>           a bucket for each spec.UserID
//	    epoch          the greatest epoch under which anything was written, a varint
//	    tabs           pair(domain, tab key) → Tab: url, title, index, tools, …
//	    names          public name           → Name: the identity that it stands for
//	    numbers        pair(domain, tab key) → Number
//	    browsers       browser id            → Browser: secret hash, name, last seen, label
//	    sites          domain                → Site: the user's settings
//	    settings       name                  → Settings: a document of a part of the hub
//	    documents      pair(kind, id)        → Document: one of many of a part of the hub
//
// pair(a, b) is the length of a as a varint, then a, then b. Values are the fields
// of the type of the same name, in order, as varints and length-prefixed bytes
// (codec.go): what a page wrote is kept byte for byte, which JSON within JSON would
// not do.
//
// A change of the layout raises schemaVersion; a file of another version is refused. The buckets
// are made by the first commit; a file that holds none is a new store.
//
// # Another implementation
//
// What all implementations share is exported, so that another one, over a key-value
// store in a network say, is written in a package of its own: [KeyOf] and [Key] say
// where a change goes, [Encode] and [State.Decode] how a value is stored,
// [State.Prune] finds what is stale, [Validate] refuses what cannot be stored, [Size]
// bounds what is queued, and [CheckEpoch] refuses the writes of a superseded hub.
// storagetest.Memory is made of these, and package jetstream, which writes batches of [Entry]
// values.
package storage
