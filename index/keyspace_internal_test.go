package index

import "testing"

// TestIsCurrent verifies that IsCurrent decides by the key whether a record belongs to a version.
func TestIsCurrent(t *testing.T) {
	t.Parallel()
	m := Meta{Version: 9, Generation: 3, Base: 5, LogStart: 4, Kept: 8}
	for _, c := range []struct {
		key  []byte
		want bool
	}{
		{[]byte{prefixMeta}, false}, // never stored in this form, without a part number
		{partKey([]byte{prefixMeta}, 0), true},
		{makeKey[uint64](prefixDict, 3, 0), true},
		{makeKey[uint64](prefixNode, 2, 0), false},
		{makeKey[uint64](prefixOut, 4, 0), false},
		{makeKey[uint64](prefixFeature, 7), true},
		{partKey(makeKey[uint64](prefixLog, 4), 0), false},
		{partKey(makeKey[uint64](prefixLog, 5), 0), true},
		{partKey(makeKey[uint64](prefixLog, 9), 1), true},
		{partKey(makeKey[uint64](prefixLog, 10), 0), false},
		{stateKey(StateID{}), false},
		{partKey(makeKey[uint64](prefixObservation, 9, 1), 0), true},
		{partKey(makeKey[uint64](prefixObservation, 10, 0), 0), false},
		{partKey(makeKey[uint64](prefixChange, 8), 0), false},
		{partKey(makeKey[uint64](prefixChange, 9), 0), true},
		{partKey(makeKey[uint64](prefixModelChange, 9), 0), true},
		{nameKey(prefixModel, "m"), true},
		{documentKey("m", 77), true},
		{[]byte{prefixOut, 3}, false},
	} {
		if got := m.IsCurrent(c.key); got != c.want {
			t.Errorf("%q: %v", c.key, got)
		}
	}
	m.Kept = 3
	if !m.IsCurrent(partKey(makeKey[uint64](prefixLog, 4), 0)) {
		t.Error("a log record from before the base belongs to a change that is kept")
	}
	if new(Meta).IsCurrent(makeKey[uint64](prefixDict, 0, 0)) {
		t.Error("without a generation there are no blocks")
	}
}

// Only keys of one kind of rows are read on demand.
func TestOnDemand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{{"x1", "x9", true}, {"y1", "y1", true}, {"x1", "y1", false}, {"k1", "k2", true}, {"o1", "o2", false}, {"", "x1", false}} {
		if got := OnDemand([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%q to %q: %v", c.a, c.b, got)
		}
	}
}
