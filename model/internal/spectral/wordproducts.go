package spectral

import (
	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/nn"
)

// T holds the words of the nodes: rows of length 1, entries times rarity. N averages rows over the
// neighbours of each node, W over the neighbours and the node itself. A mix is the row of a source
// in one of these matrices:
const (
	mixOwn = iota // T
	mixW          // WT
	mixWW         // W²T
	mixN          // NT
	mixNN         // N²T
	numMixes
)

// maxMixed limits the neighbours of a node that are averaged. The neighbours with the lowest ids
// are averaged.
const maxMixed = 64

// Columns of the products, in order: scalar products of the row of one end and the row of the
// other. If the two rows are of different kinds there are two products, the smaller one first, so
// that no column depends on which end is the source.
const (
	productOwnW  = 0                // T and WT
	productWWW   = productOwnW + 2  // WT and W²T
	productOwnN  = productWWW + 2   // T and NT
	productOwnNN = productOwnN + 2  // T and N²T
	productW     = productOwnNN + 2 // WT and WT
	productN     = productW + 1     // NT and NT
	productLen   = productN + 1
)

// wordProducts computes the products of a source with its targets. In contrast to latent vectors
// they retain which rare words two nodes share. They use the current graph and feature vectors,
// with the rarities of the training.
type wordProducts struct {
	*profile
	read  *column.Features
	mix   []mixes               // mixes of the source, for each word
	own   column.Memo[mixes]    // products of mix with a node's row of T
	means column.Memo[averages] // averages of own
}

// mixes holds one number for each mix.
type mixes [numMixes]float32

func (m *mixes) add(by float32, other mixes) {
	for k, x := range other {
		m[k] += by * x
	}
}

// averages holds the averages of a node by N and by W, and the neighbours that were averaged.
type averages struct {
	near []ID
	n, w mixes
}

// products prepares the products of a source.
func (p *profile) products(read *column.Features, source ID) *wordProducts {
	f := &wordProducts{profile: p, read: read, mix: make([]mixes, len(p.rarity))}
	nodes, weight := f.weights(source)
	for _, u := range nodes {
		words := f.row(u)
		for i, at := range words.At {
			f.mix[at].add(words.Value[i], weight[u])
		}
	}
	return f
}

// row returns a node's row of T.
func (f *wordProducts) row(u ID) nn.Sparse { return nn.WordRow(f.read.Of(u).Sparse, f.rarity) }

// weights returns the nodes within two steps of the source and their weights in each mix.
func (f *wordProducts) weights(source ID) (nodes []ID, weight map[ID]mixes) {
	weight = map[ID]mixes{}
	add := func(u ID, by mixes) {
		m, known := weight[u]
		if !known {
			nodes = append(nodes, u)
		}
		m.add(1, by)
		weight[u] = m
	}
	spread := func(u ID, w, n float32) { // w and n: weight of u in WT and NT
		next := f.neighbours(u)
		ww, nn := w/float32(len(next)+1), n/float32(max(len(next), 1))
		add(u, mixes{mixW: w, mixN: n, mixWW: ww})
		for _, x := range next {
			add(x, mixes{mixWW: ww, mixNN: nn})
		}
	}
	near := f.neighbours(source)
	w, n := 1/float32(len(near)+1), 1/float32(max(len(near), 1))
	add(source, mixes{mixOwn: 1})
	spread(source, w, 0)
	for _, u := range near {
		spread(u, w, n)
	}
	return nodes, weight
}

func (f *wordProducts) neighbours(u ID) []ID {
	near := graph.Neighbours(f.read.World.Graph, u)
	return near[:min(len(near), maxMixed)]
}

// products returns the products of the mixes with a node's row of T.
func (f *wordProducts) products(u ID) mixes {
	sum, known := f.own.Get(u)
	if known {
		return sum
	}
	words := f.row(u)
	for i, at := range words.At {
		sum.add(words.Value[i], f.mix[at])
	}
	f.own.Put(u, sum)
	return sum
}

// mean returns the averages of the products around u.
func (f *wordProducts) mean(u ID) averages {
	a, known := f.means.Get(u)
	if known {
		return a
	}
	var sum mixes
	a.near = f.neighbours(u)
	for _, x := range a.near {
		sum.add(1, f.products(x))
	}
	a.n.add(1/float32(max(len(a.near), 1)), sum)
	sum.add(1, f.products(u))
	a.w.add(1/float32(len(a.near)+1), sum)
	f.means.Put(u, a)
	return a
}

// columns fills the columns of the pair with a target.
func (f *wordProducts) columns(target ID, x []float32) {
	own, mean := f.products(target), f.mean(target)
	ww, nn := mean.w[mixW], float32(0) // averages by W² and N²
	for _, u := range mean.near {
		a := f.mean(u)
		ww += a.w[mixW]
		nn += a.n[mixOwn]
	}
	ww /= float32(len(mean.near) + 1)
	nn /= float32(max(len(mean.near), 1))
	both := func(at int, a, b float32) { x[at], x[at+1] = min(a, b), max(a, b) }
	both(productOwnW, own[mixW], mean.w[mixOwn])
	both(productWWW, mean.w[mixWW], ww)
	both(productOwnN, own[mixN], mean.n[mixOwn])
	both(productOwnNN, own[mixNN], nn)
	x[productW], x[productN] = mean.w[mixW], mean.n[mixN]
}
