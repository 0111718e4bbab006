package wsconn

import "testing"

func TestOldestYields(t *testing.T) {
	u := &unadmitted{max: 2}
	a, b, c, d := &Conn{}, &Conn{}, &Conn{}, &Conn{}
	u.add(a)
	u.add(b)
	u.remove(a)
	if oldest := u.add(c); oldest != nil {
		t.Error("one yields to another that had room")
	}
	if oldest := u.add(d); oldest != b || u.conns.Len() != 2 {
		t.Errorf("%p yields instead of %p, %d are left", oldest, b, u.conns.Len())
	}
	u.remove(b)
	u.remove(b)
	if u.conns.Len() != 2 {
		t.Errorf("%d are left", u.conns.Len())
	}
}

func TestMemoryIsShared(t *testing.T) {
	u := &unadmitted{max: 10, shared: 100}
	a, b := &Conn{}, &Conn{}
	u.add(a)
	u.add(b)
	for i, step := range []struct {
		conn *Conn
		n    int
		ok   bool
	}{
		{a, freeUnadmitted, true}, {b, freeUnadmitted, true}, // by itself
		{a, freeUnadmitted + 60, true}, {b, freeUnadmitted + 41, false}, {b, freeUnadmitted + 40, true},
		{a, freeUnadmitted + 61, false}, {a, freeUnadmitted + 50, true}, {b, freeUnadmitted + 50, true},
	} {
		if got := u.hold(step.conn, step.n); got != step.ok {
			t.Errorf("step %d: %v", i, got)
		}
	}
	u.remove(a)
	if !u.hold(b, freeUnadmitted+100) {
		t.Error("what one has left another cannot have")
	}
	u.hold(b, 0)
	if u.used != 0 {
		t.Errorf("%d are still used", u.used)
	}
}
