package foreign

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A graph in the format of METIS is recognized whatever its edges are, unless all lines have two or
// three columns.
func TestMetis(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(r, "nodes")
		lists, edges := make([][]int, n), 0
		for u := range n {
			for v := range u {
				if rapid.Bool().Draw(r, "edge") {
					lists[u], lists[v] = append(lists[u], v+1), append(lists[v], u+1)
					edges++
				}
			}
		}
		text := fmt.Sprintf("%% a graph\n%d %d\n", n, edges)
		uneven := false
		for _, list := range lists {
			uneven = uneven || len(list) != len(lists[0]) || len(list) > 3
			text += strings.Trim(fmt.Sprint(list), "[]") + "\n"
		}
		if got, want := isMetis([]byte(text)), uneven && edges > 1; got != want {
			r.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}
