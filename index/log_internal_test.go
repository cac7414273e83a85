package index

import "testing"

// TestLogSets verifies that states which catch up from the same version share one set, and that a
// log keeps at most maxSets sets.
func TestLogSets(t *testing.T) {
	t.Parallel()
	l, g := changeLog{start: 1}, NewGraph(false)
	if s, ok := l.changeSet(1, g); s == nil || !ok {
		t.Errorf("an empty log: %v, %v", s, ok)
	}
	for v := uint64(2); v < 10; v++ {
		l.add(v, []edgeChange{{Edge: Edge{Ends: Ends{V: ID(v)}, Weight: 1}}})
	}
	if s, ok := l.changeSet(0, g); ok {
		t.Errorf("before the log begins: %v", s)
	}
	first, _ := l.changeSet(1, g)
	for v := uint64(2); v <= maxSets; v++ {
		if s, ok := l.changeSet(v, g); s == first || !ok {
			t.Errorf("after %d: %v, the first one: %v", v, ok, s == first)
		}
	}
	if s, _ := l.changeSet(1, g); s != first {
		t.Error("the first set is forgotten early")
	}
	next := l
	next.add(10, []edgeChange{{Edge: Edge{Ends: Ends{V: 1}, Weight: 1}}})
	if s, _ := next.changeSet(1, g); s == first {
		t.Error("the set of a shorter stretch")
	}
	l.changeSet(maxSets+1, g)
	if s, _ := l.changeSet(1, g); s == first {
		t.Error("the first set is still kept")
	}
}
