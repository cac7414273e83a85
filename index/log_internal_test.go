package index

import (
	"testing"

	"kith/ppr"
)

// TestLogSets verifies that states which catch up from the same version share one set, and that a
// log keeps at most maxSets sets.
func TestLogSets(t *testing.T) {
	t.Parallel()
	l := changeLog{start: 1}
	if s, ok := l.changeSet(1); s == nil || !ok {
		t.Errorf("an empty log: %v, %v", s, ok)
	}
	for v := uint64(2); v < 10; v++ {
		l.add(v, []ppr.Change{{U: 0, V: ID(v), New: 1}})
	}
	if s, ok := l.changeSet(0); ok {
		t.Errorf("before the log begins: %v", s)
	}
	first, _ := l.changeSet(1)
	for v := uint64(2); v <= maxSets; v++ {
		if s, ok := l.changeSet(v); s == first || !ok {
			t.Errorf("after %d: %v, the first one: %v", v, ok, s == first)
		}
	}
	if s, _ := l.changeSet(1); s != first {
		t.Error("the first set is forgotten early")
	}
	next := l
	next.add(10, []ppr.Change{{U: 0, V: 1, New: 1}})
	if s, _ := next.changeSet(1); s == first {
		t.Error("the set of a shorter stretch")
	}
	l.changeSet(maxSets + 1)
	if s, _ := l.changeSet(1); s == first {
		t.Error("the first set is still kept")
	}
}
