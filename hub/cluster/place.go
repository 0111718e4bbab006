package cluster

import (
	"crypto/sha256"
	"encoding/binary"

	"tabhub/spec"
)

// Place returns the ready member that opens the hub of a user without an owner node: the one with the
// highest hash of its name and the user. Nodes that see the same members agree. When a node comes or
// goes, only its users move. Place returns this node if none is ready.
func (n *Node) Place(user spec.UserID) Member { return placeAmong(n.Self(), n.Members(), user) }

func placeAmong(self Member, members []Member, user spec.UserID) Member {
	best := self
	var most uint64
	for _, m := range members {
		if h := weight(m.Name, user); m.State == Ready && h >= most {
			best, most = m, h
		}
	}
	return best
}

func weight(node string, user spec.UserID) uint64 {
	h := sha256.Sum256([]byte(node + "\x00" + string(user)))
	return binary.BigEndian.Uint64(h[:])
}
