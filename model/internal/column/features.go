package column

import (
	"math"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// Entries holds the entries of a feature vector that are not zero.
type Entries struct {
	nn.Sparse
	Unit float64 // factor that scales the vector to length 1; 0 if all entries are zero
}

// maxEntries limits the entries that a Features remembers: 8 MB.
const maxEntries = 1 << 20

// Features reads feature vectors. It remembers them until the next Open, because the surroundings
// of targets overlap and most entries of long vectors are zero.
type Features struct {
	World graph.World
	known map[graph.ID]Entries
	all   nn.Sparse // the entries of all known vectors, vector by vector
}

// Open makes f read the vectors of a world. The entries that f returned before become invalid.
func (f *Features) Open(w graph.World) {
	f.World, f.all = w, nn.Sparse{At: f.all.At[:0], Value: f.all.Value[:0]}
	clear(f.known)
}

// Of returns the entries of a node's vector. A node without features has no entries.
func (f *Features) Of(u graph.ID) Entries {
	e, known := f.known[u]
	if known || f.World.Features == nil {
		return e
	}
	v := f.World.Features(u)
	if f.known == nil || len(f.all.At) > maxEntries || len(f.known) >= maxKnown {
		f.known, f.all = map[graph.ID]Entries{}, nn.Sparse{}
	}
	first := len(f.all.At)
	f.all.AppendVector(v)
	e.At, e.Value = f.all.At[first:], f.all.Value[first:]
	if square := nn.Dot64(e.Value, e.Value); square > 0 {
		e.Unit = 1 / math.Sqrt(square)
	}
	f.known[u] = e
	return e
}
