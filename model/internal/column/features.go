package column

import (
	"math"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// Entries holds the entries of a feature vector that are not zero.
type Entries struct {
	nn.Sparse
	Unit float64 // factor that scales the vector to length 1; 0 if all entries are zero
}

// scale sets Unit.
func (e *Entries) scale() {
	if square := nn.Dot64(e.Value, e.Value); square > 0 {
		e.Unit = 1 / math.Sqrt(square)
	}
}

// vector returns the vector with the entries, up to the last one, in the memory of to.
func (e *Entries) vector(to []float32) []float32 {
	n := 0
	if len(e.At) > 0 {
		n = int(e.At[len(e.At)-1]) + 1
	}
	to = slices.Grow(to[:0], n)[:n]
	clear(to)
	for i, at := range e.At {
		to[at] = e.Value[i]
	}
	return to
}

// Content says what the content of nodes is: their feature vectors or, with words, vectors that
// have an entry for each word, and then those of the feature vector.
type Content struct {
	Words bool
}

// Append adds the content of a node of a world at the end of a vector. All words of a node have the
// same entry, and weigh as much as its feature vector.
func (c Content) Append(w graph.World, u graph.ID, to *nn.Sparse) {
	var features []float32
	if w.Features != nil {
		features = w.Features(u)
	}
	if !c.Words {
		to.AppendVector(features)
		return
	}
	first := len(to.At)
	if w.Words != nil {
		to.At = w.Words(u, to.At)
	}
	entry, n := float32(1), len(to.At)-first
	if square := nn.Product64(features, features); square > 0 {
		entry = float32(math.Sqrt(square / float64(n)))
	}
	for range n {
		to.Value = append(to.Value, entry)
	}
	for i, x := range features {
		if x != 0 {
			to.Append(graph.NumWords+i, x)
		}
	}
}

// Closeness returns a function that measures how much the content of a node is like the contents of
// some nodes: the sum of the cosines. It is safe for concurrent use. nil means that they have no
// content.
func (c Content) Closeness(w graph.World, nodes ...graph.ID) func(graph.ID) float32 {
	var sum []float32
	for _, u := range nodes {
		var e Entries
		c.Append(w, u, &e.Sparse)
		e.scale()
		for i, at := range e.At {
			sum = append(sum, make([]float32, max(0, int(at)+1-len(sum)))...)
			sum[at] += float32(float64(e.Value[i]) * e.Unit)
		}
	}
	if sum == nil {
		return nil
	}
	return func(u graph.ID) float32 {
		var e Entries
		c.Append(w, u, &e.Sparse)
		e.scale()
		return float32(e.Times(sum) * e.Unit)
	}
}

// reads reports whether nodes of a world have content.
func (c Content) reads(w graph.World) bool { return w.Features != nil || c.Words && w.Words != nil }

// maxEntries limits the entries that a Features remembers: 8 MB.
const maxEntries = 1 << 20

// Features reads the content of nodes. It remembers it until the next Open, because the
// surroundings of targets overlap and most entries of long vectors are zero.
type Features struct {
	Content
	World graph.World
	known map[graph.ID]Entries
	all   nn.Sparse // the entries of all known vectors, vector by vector
}

// Open makes f read the vectors of a world. The entries that f returned before become invalid.
func (f *Features) Open(w graph.World) {
	f.World, f.all = w, nn.Sparse{At: f.all.At[:0], Value: f.all.Value[:0]}
	clear(f.known)
}

// Of returns the entries of a node's content. A node without words and features has no entries.
func (f *Features) Of(u graph.ID) Entries {
	e, known := f.known[u]
	if known || !f.reads(f.World) {
		return e
	}
	if f.known == nil || len(f.all.At) > maxEntries || len(f.known) >= maxKnown {
		f.known, f.all = map[graph.ID]Entries{}, nn.Sparse{}
	}
	first := len(f.all.At)
	f.Append(f.World, u, &f.all)
	e.At, e.Value = f.all.At[first:], f.all.Value[first:]
	e.scale()
	f.known[u] = e
	return e
}
