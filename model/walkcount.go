package model

// Walks of three edges are counted on graphs of up to maxCounted nodes, from sources whose neighbours have up to
// maxCountedEdges edges.
const (
	maxCounted      = 1 << 16
	maxCountedEdges = 1 << 22
)

// walkCount counts the walks of two edges from a source to every node.
type walkCount struct {
	walks []float32
}

// walkCountOf returns nil if counting is too expensive.
func walkCountOf(g Graph, source ID) *walkCount {
	if g.NumNodes() > maxCounted {
		return nil
	}
	out, _ := g.Out(source)
	edges := 0
	for _, w := range out {
		next, _ := g.Out(w)
		edges += len(next)
	}
	if edges > maxCountedEdges {
		return nil
	}
	r := &walkCount{make([]float32, g.NumNodes())}
	for _, w := range out {
		next, _ := g.Out(w)
		for _, v := range next {
			if v != w && w != source {
				r.walks[v]++
			}
		}
	}
	return r
}

// to returns the number of walks of three edges to a node. known is false for a nil walkCount.
func (r *walkCount) to(g Graph, target ID) (n float64, known bool) {
	if r == nil {
		return 0, false
	}
	in, _ := g.In(target)
	for _, w := range in {
		if w != target {
			n += float64(r.walks[w])
		}
	}
	return n, true
}
