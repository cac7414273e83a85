package index

import "testing"

// TestMetaCounts verifies that Counts decides by the key whether a record belongs to a version.
func TestMetaCounts(t *testing.T) {
	t.Parallel()
	m := Meta{Version: 9, Generation: 3, Base: 5, LogStart: 4}
	for _, c := range []struct {
		key  []byte
		want bool
	}{
		{metaKey(), false}, // never stored in this form, without a part number
		{partKey(metaKey(), 0), true},
		{blockKey(prefixDict, 3, 0), true},
		{blockKey(prefixNode, 2, 0), false},
		{blockKey(prefixAdjacency, 4, 0), false},
		{featureKey(7), true},
		{partKey(logKey(4), 0), false},
		{partKey(logKey(5), 0), true},
		{partKey(logKey(9), 1), true},
		{partKey(logKey(10), 0), false},
		{stateKey(StateID{}), false},
		{partKey(observationKey(9, 1), 0), true},
		{partKey(observationKey(10, 0), 0), false},
		{modelKey("m"), true},
		{documentKey("m", 77), true},
		{[]byte{prefixAdjacency, 3}, false},
	} {
		if got := m.IsCurrent(c.key); got != c.want {
			t.Errorf("%q: %v", c.key, got)
		}
	}
	if new(Meta).IsCurrent(blockKey(prefixDict, 0, 0)) {
		t.Error("without a generation there are no blocks")
	}
}
