package db

import "testing"

// The parts of Options.Memory sum to at most all of it.
func TestMemoryShares(t *testing.T) {
	t.Parallel()
	var sum int64
	for p, percent := range memoryShares() {
		if percent <= 0 {
			t.Errorf("part %d has no share", p)
		}
		sum += percent
	}
	if sum > 100 {
		t.Errorf("the shares sum to %d %%", sum)
	}
	for _, memory := range []int64{minMemory, 100<<20 + 1, 1 << 30, 1 << 40} {
		o := Options{Memory: memory}
		if got := o.memory(graphPart, workPart, storePart, statesPart, versionsPart); got > memory {
			t.Errorf("%d bytes are divided into %d", memory, got)
		}
	}
}
