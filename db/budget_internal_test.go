package db

import (
	"errors"
	"testing"

	"kith/index"
	"kith/model"
)

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

// A model may take what the graph leaves of its part of the memory. On the same graph, katz, which
// takes numbers for each node, fits into a larger memory.
func TestModelMemory(t *testing.T) {
	t.Parallel()
	m, err := model.New(model.Spec{Policy: "katz"})
	must(t, err)
	for _, c := range []struct {
		memory int64
		nodes  int
		want   error
	}{
		{64 << 20, 100_000, nil}, {64 << 20, 1_000_000, ErrTooLarge}, {1 << 30, 1_000_000, nil},
	} {
		db := &DB{opts: Options{Memory: c.memory}}
		limit := db.modelMemory(&index.Meta{Nodes: int64(c.nodes)})
		if err := db.checkMemory("asking takes", m.Scorer().Bytes(c.nodes), limit); !errors.Is(err, c.want) {
			t.Errorf("%d nodes in %d bytes: %v, want %v", c.nodes, c.memory, err, c.want)
		}
	}
}
