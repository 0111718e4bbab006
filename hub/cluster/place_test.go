package cluster

import (
	"fmt"
	"math"
	"testing"

	"tabhub/spec"
)

// When a node comes or goes, only its users move; and each node gets its share of users.
func TestPlace(t *testing.T) {
	t.Parallel()
	const users = 6000
	placed := func(nodes int, draining ...int) map[spec.UserID]string {
		members := make([]Member, nodes)
		for i := range members {
			members[i] = Member{Name: fmt.Sprintf("node-%d", i), State: Ready}
		}
		for _, i := range draining {
			members[i].State = Draining
		}
		at := make(map[spec.UserID]string)
		for i := range users {
			user := spec.UserID(fmt.Sprintf("user%d@example.com", i))
			at[user] = placeAmong(members[0], members, user).Name
		}
		return at
	}
	if m := placeAmong(Member{Name: "node-0"}, []Member{{Name: "node-1", State: Draining}}, "user0@example.com"); m.Name != "node-0" {
		t.Errorf("with no node ready, a user is placed on %s, not on the node that is asked", m.Name)
	}
	five, six, drained := placed(5), placed(6), placed(6, 3)
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
