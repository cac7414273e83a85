package model

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Pages behave as a map with all nodes. Editing a later version does not change an earlier one.
func TestPages(t *testing.T) {
	t.Parallel()
	nodes := []ID{0, 1, pageLen - 1, pageLen, 3*pageLen + 7, 9 * pageLen}
	rapid.Check(t, func(t *rapid.T) {
		versions, oracles := []pages[int]{nil}, []map[ID]int{{}}
		for range rapid.IntRange(1, 10).Draw(t, "versions") {
			before := versions[len(versions)-1]
			now, want := slices.Clone(before), maps.Clone(oracles[len(oracles)-1])
			for range rapid.IntRange(0, 5).Draw(t, "edits") {
				u := rapid.SampledFrom(nodes).Draw(t, "node")
				*now.edit(before, u) += 1 + int(u)
				want[u] += 1 + int(u)
			}
			versions, oracles = append(versions, now), append(oracles, want)
		}
		for i, want := range oracles {
			held := make(map[ID]bool)
			for _, u := range nodes {
				if got := versions[i].at(u); got != want[u] {
					t.Fatalf("version %d, node %d: %d, want %d", i, u, got, want[u])
				}
				if want[u] != 0 {
					held[u/pageLen] = true
				}
			}
			if got := versions[i].entries(); got != pageLen*len(held) {
				t.Fatalf("version %d holds %d entries, want those of %d pages", i, got, len(held))
			}
		}
	})
}
