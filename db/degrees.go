package db

import (
	"context"
	"maps"
	"slices"
)

// Degrees says how many nodes have how many edges.
type Degrees struct {
	Counts []DegreeCount `json:"counts"` // in ascending order of Edges
	Nodes  int64         `json:"nodes"`  // number of nodes that were counted
	// Sampled is set if not every node was counted, but runs of nodes that follow each other, at equal distances.
	Sampled bool `json:"sampled"`
}

// DegreeCount is the number of nodes with some number of (outgoing) edges.
type DegreeCount struct {
	Edges int   `json:"edges"`
	Nodes int64 `json:"nodes"`
}

// degreeRun is the number of consecutive nodes that Degrees samples together: those of a stored block of degrees.
const degreeRun = 1 << 11

// Degrees counts the nodes by their number of (outgoing) edges. It looks at no more than about most nodes; 0 means 2^20. In
// a graph that is not in memory it reads the blocks of degrees of these nodes or, if edges have weights, their rows.
func (tx *Tx) Degrees(ctx context.Context, most int) (Degrees, error) {
	if tx.ended {
		return Degrees{}, ErrClosed
	}
	if most < 0 {
		return Degrees{}, inputf("degrees of %d nodes: want at least 1, or 0 for 2^20", most)
	}
	if most == 0 {
		most = 1 << 20
	}
	v := tx.view()
	all := v.Meta.Nodes
	runs := (all + degreeRun - 1) / degreeRun
	kept := min(max(int64(most)/degreeRun, 1), runs)
	d, counts := Degrees{Sampled: kept < runs}, map[int]int64{}
	for i := range kept {
		if err := ctx.Err(); err != nil {
			return Degrees{}, err
		}
		begin := i * runs / kept * degreeRun
		for id := begin; id < min(begin+degreeRun, all); id++ {
			if v.Live(uint32(id)) {
				counts[v.Graph.OutLen(uint32(id))]++
				d.Nodes++
			}
		}
	}
	for _, edges := range slices.Sorted(maps.Keys(counts)) {
		d.Counts = append(d.Counts, DegreeCount{edges, counts[edges]})
	}
	return d, nil
}
