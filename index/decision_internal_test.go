package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDropDecisions verifies that DropDecisions deletes exactly the decisions that have ended, the earliest first,
// for end times in any order, although it does not read records from before its lower bound.
func TestDropDecisions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		from, id := int64(math.MinInt64), uint64(0)
		var want []DecisionEnd // ordered by end, then id
		for range rapid.IntRange(0, 60).Draw(rt, "operations") {
			if rapid.Bool().Draw(rt, "put?") {
				id++
				end := DecisionEnd{ID: id, At: rapid.Int64Range(-5, 50).Draw(rt, "end")}
				must(t, PutDecision(m, end.ID, end.At, []byte{1}))
				from = min(from, end.At)
				want = append(want, end)
				slices.SortFunc(want, func(a, b DecisionEnd) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
				continue
			}
			before, limit := rapid.Int64Range(-5, 50).Draw(rt, "before"), rapid.IntRange(0, 5).Draw(rt, "limit")
			next, err := DropDecisions(m, m, from, before, limit)
			must(t, err)
			from = next
			for ; limit > 0 && len(want) > 0 && want[0].At < before; limit-- {
				want = want[1:]
			}
			var got []DecisionEnd
			for end, err := range DecisionEnds(m, math.MinInt64) {
				must(t, err)
				_, ok, err := GetDecision(m, end.ID)
				if must(t, err); !ok {
					rt.Fatalf("decision %d has an end alone", end.ID)
				}
				got = append(got, end)
			}
			if !slices.Equal(got, want) || len(m.entries) != 2*len(want) {
				rt.Fatalf("before %d: %v, want %v", before, got, want)
			}
			if len(got) > 0 && from > got[0].At {
				rt.Fatal(fmt.Sprint("the next look begins at ", from, ", after ", got[0]))
			}
		}
	})
}
