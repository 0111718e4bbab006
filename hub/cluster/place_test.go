package cluster

import (
	"fmt"
	"math"
	"testing"

	"tabhub/spec"
)

// When a node comes or goes, only the users may move that it gets or had; and each node must
// get its share of them.
func TestPlace(t *testing.T) {
	t.Parallel()
	const users = 6000
	place := func(nodes int, draining ...int) map[spec.UserID]string {
		n := &Node{opts: Options{timing: usual}, self: Member{Name: "node-0", State: Ready}, entries: make(map[string]*entry)}
		n.lease.hold = usual.hold
		n.lease.grant(now())
		for i := 1; i < nodes; i++ {
			e := &entry{record: record{Member: Member{Name: fmt.Sprintf("node-%d", i), State: Ready}}}
			e.at = e.at.AddDate(9000, 0, 0) // renewed at any time
			n.entries[e.Name] = e
		}
		for _, i := range draining {
			n.entries[fmt.Sprintf("node-%d", i)].State = Draining
		}
		at := make(map[spec.UserID]string)
		for i := range users {
			user := spec.UserID(fmt.Sprintf("user%d@example.com", i))
			m := n.Place(user)
			at[user] = m.Name
		}
		return at
	}
	five, six, drained := place(5), place(6), place(6, 3)
	moved, count := 0, make(map[string]int)
	for user, node := range six {
		count[node]++
		if five[user] != node {
			moved++
			if node != "node-5" {
				t.Fatalf("%s moves from %s to %s when node-5 comes", user, five[user], node)
			}
		}
		if drained[user] != node && node != "node-3" || drained[user] == "node-3" {
			t.Fatalf("%s moves from %s to %s when node-3 drains", user, node, drained[user])
		}
	}
	for node, n := range count {
		if math.Abs(float64(n-users/6)) > 5*math.Sqrt(users/6) {
			t.Errorf("%s has %d of %d users", node, n, users)
		}
	}
	t.Logf("%d of %d users move to the sixth node; %v", moved, users, count)
}
