package unknown

import "testing"

func TestOldestGivesWay(t *testing.T) {
	s := &Set{Max: 2}
	gave := map[string]int{}
	add := func(name string) *Conn { return s.Add(func() { gave[name]++ }) }
	a, b := add("a"), add("b")
	a.Leave()
	add("c")
	if len(gave) != 0 {
		t.Errorf("%v gave way to one that had room", gave)
	}
	add("d")
	if gave["b"] != 1 || len(gave) != 1 || s.Len() != 2 {
		t.Errorf("%v gave way, %d are left", gave, s.Len())
	}
	b.Leave()
	b.Leave()
	if s.Len() != 2 {
		t.Errorf("%d are left", s.Len())
	}
}

func TestMemoryIsShared(t *testing.T) {
	s := &Set{Max: 10, Shared: 100}
	a, b := s.Add(nil), s.Add(nil)
	for i, step := range []struct {
		conn *Conn
		n    int
		ok   bool
	}{
		{a, Own, true}, {b, Own, true}, // by itself
		{a, Own + 60, true}, {b, Own + 41, false}, {b, Own + 40, true},
		{a, Own + 61, false}, {a, Own + 50, true}, {b, Own + 50, true},
	} {
		if got := step.conn.Hold(step.n); got != step.ok {
			t.Errorf("step %d: %v", i, got)
		}
	}
	a.Leave()
	if !b.Hold(Own + 100) {
		t.Error("what one has left another cannot have")
	}
	b.Hold(0)
	if s.used != 0 {
		t.Errorf("%d are still used", s.used)
	}
}
