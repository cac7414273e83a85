package index

import "testing"

// TestLogSets verifies that states which catch up from the same version share one set, and that a
// log keeps at most maxSets sets.
func TestLogSets(t *testing.T) {
	t.Parallel()
	l, s := changeLog{start: 1}, New(soundMeta())
	if set, ok := l.changeSet(1, s); set == nil || !ok {
		t.Errorf("an empty log: %v, %v", set, ok)
	}
	for v := uint64(2); v < 10; v++ {
		l.add(v, []edgeChange{{Edge: Edge{Ends: Ends{V: ID(v)}, Weight: 1}}})
	}
	if set, ok := l.changeSet(0, s); ok {
		t.Errorf("before the log begins: %v", set)
	}
	first, _ := l.changeSet(1, s)
	for v := uint64(2); v <= maxSets; v++ {
		if set, ok := l.changeSet(v, s); set == first || !ok {
			t.Errorf("after %d: %v, the first one: %v", v, ok, set == first)
		}
	}
	if set, _ := l.changeSet(1, s); set != first {
		t.Error("the first set is forgotten early")
	}
	next := l
	next.add(10, []edgeChange{{Edge: Edge{Ends: Ends{V: 1}, Weight: 1}}})
	if set, _ := next.changeSet(1, s); set == first {
		t.Error("the set of a shorter stretch")
	}
	l.changeSet(maxSets+1, s)
	if set, _ := l.changeSet(1, s); set == first {
		t.Error("the first set is still kept")
	}
}
