package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// blocks is the set of blocks that make up a context. They are in the order of the constants.
type blocks uint16

const (
	blockSource     blocks = 1 << iota // features of the serving node
	blockTarget                        // features of the candidate
	blockProduct                       // product of both, entry by entry
	blockDifference                    // absolute difference of both, entry by entry
	blockTime                          // log-odds of a forecast, which learns from the times of edges
	blockVectors                       // columns from node vectors, which a training computes
	blockSimilarity                    // similarity of their features, and of each to the other's neighbours
	blockTopology                      // further graph columns of the pair, read by the default's network
	blockStructural                    // graph columns of the pair
)

// blockGraph are the blocks that are read from the graph alone.
const blockGraph = blockTopology | blockStructural

// blockKind describes a block.
type blockKind struct {
	name string
	// A block whose numbers change their meaning gets the next version, so that stored models with
	// other columns are recognised.
	version int
	len     func(*config) int // length in a context with this block
	columns func() []column.Column
	scale   float32                              // scale of the columns if columns is nil
	family  column.Family                        // of these columns
	entry   func(source, target float32) float32 // the block has this number for each entry of both feature vectors
}

// blockKinds describes the blocks in the order of the constants.
var blockKinds = [...]blockKind{
	{name: "source", version: 1, len: featureLen, scale: 1, family: column.General, entry: func(s, _ float32) float32 { return s }},
	{name: "target", version: 1, len: featureLen, scale: 1, family: column.TargetFeatures, entry: func(_, t float32) float32 { return t }},
	{name: "product", version: 1, len: featureLen, scale: 0.5, family: column.AlikeFeatures, entry: func(s, t float32) float32 { return s * t }},
	{name: "difference", version: 1, len: featureLen, scale: 1, family: column.AlikeFeatures, entry: func(s, t float32) float32 { return max(s-t, t-s) }},
	{name: "time", version: 2, len: (*config).timeLen, columns: timeColumns},
	{name: "vectors", version: 4, len: (*config).vectorsLen, columns: spectral.Columns},
	{name: "similarity", version: 1, len: similarityLen, columns: column.SimilarityColumns},
	{name: "topology", version: 1, len: func(*config) int { return column.TopologyLen }, columns: column.TopologyColumns},
	{name: "structural", version: 1, len: func(*config) int { return column.StructuralLen }, columns: column.StructuralColumns},
}

func featureLen(c *config) int { return c.FeatureLen }

// similarityLen is 0 without content.
func similarityLen(c *config) int {
	if !c.hasContent() {
		return 0
	}
	return column.SimilarityLen
}

// hasContent reports whether nodes have feature vectors or words.
func (c *config) hasContent() bool { return c.FeatureLen > 0 || c.Words }

func (c *config) content() column.Content { return column.Content{Words: c.Words} }

func (b blocks) String() string {
	var names []string
	for i := range blockKinds {
		if b&(1<<i) != 0 {
			names = append(names, blockKinds[i].name)
		}
	}
	return strings.Join(names, " ")
}

// parseBlocks reads names separated by spaces, commas or plus signs.
func parseBlocks(s string) (b blocks, ok bool) {
	split := func(r rune) bool { return r == ' ' || r == ',' || r == '+' }
	for _, word := range strings.FieldsFunc(s, split) {
		i := slices.IndexFunc(blockKinds[:], func(k blockKind) bool { return k.name == word })
		if i < 0 {
			return 0, false
		}
		b |= 1 << i
	}
	return b, b != 0
}

// width is the length of a context. Without feature vectors the feature blocks are empty.
func (c *config) width() (n int) {
	for i := range blockKinds {
		n += c.blockLen(i)
	}
	return n
}

// blockLen is the length of the i-th block in a context.
func (c *config) blockLen(i int) int {
	if c.Blocks&(1<<i) == 0 {
		return 0
	}
	return blockKinds[i].len(c)
}

// contextColumns returns the columns of a context.
func (c *config) contextColumns() (all []column.Column) {
	for i, kind := range blockKinds {
		n := c.blockLen(i)
		if kind.columns != nil {
			all = append(all, kind.columns()[:n]...)
			continue
		}
		for k := range n {
			all = append(all, column.Column{Name: fmt.Sprintf("%s %d", kind.name, k), Scale: kind.scale, Family: kind.family})
		}
	}
	return all
}

// timeLen is the length of the time block.
func (c *config) timeLen() int {
	if c.Blocks&blockTime == 0 || c.rankLen() == 0 {
		return 0
	}
	return 1
}

// timeCol is the column of a context that holds the log-odds of a forecast, 0 without a forecast.
// It is -1 if there is no such column.
func (c *config) timeCol() int {
	if c.timeLen() == 0 {
		return -1
	}
	return c.width() - c.rankLen() - 1
}

// contexts builds the context of each pair, one row of t.x each.
func (c *config) contexts(ctx context.Context, w World, pairs []Pair, t *scratch) error {
	if err := c.readProximities(ctx, w, pairs, t); err != nil {
		return err
	}
	t.open(w)
	defer t.open(World{})
	t.x = nn.Resize(t.x, len(pairs), c.width())
	return nn.InBatches(ctx, len(pairs), func(first, end int) error {
		return c.batch(w, pairs, first, end, t, nn.Rows(t.x, first, end))
	})
}

// readProximities computes the proximities of all pairs if the contexts need them.
func (c *config) readProximities(ctx context.Context, w World, pairs []Pair, t *scratch) error {
	if c.Blocks&blockGraph == 0 || t.forecasts(w, pairs) {
		return nil
	}
	return t.ReadProximities(ctx, w, pairs, c.Blocks&blockTopology != 0)
}

// batch builds the contexts of pairs[first:end], one row of x each. Their proximities are on the
// tape. Where a forecast answers, it replaces all columns that are read from the graph.
func (c *config) batch(w World, pairs []Pair, first, end int, t *scratch, x blas32.General) error {
	run, tail := pairs[first:end], c.width()-c.rankLen() // tail: the columns of the ranker
	for i := range x.Rows {
		clear(nn.Row(x, i)[tail-c.timeLen():])
	}
	if c.hasContent() && c.Blocks&^(blockGraph|blockVectors) != 0 {
		if err := c.features(w, run, t, x); err != nil {
			return err
		}
	}
	if t.forecasts(w, run) {
		c.addForecast(w, run, t, x)
		return nil
	}
	if c.Blocks&blockGraph != 0 {
		c.graph(w.Graph, pairs, first, t, x)
	}
	if t.vectors != nil && c.vectorsLen() > 0 {
		for from, run := range graph.BySource(run) {
			t.spectral.Columns(t.vectors, &t.features, run, t.walks[from:], nn.Rows(x, from, from+len(run)), tail)
		}
	}
	if c.Normalize == normalizeContext {
		for i := range x.Rows {
			nn.Scale(nn.Row(x, i), 1)
		}
	}
	if t.forecast.reads(w) {
		c.addForecast(w, run, t, x)
	}
	return nil
}

// forecasts reports whether the forecast answers all pairs alone. It leaves the shares of the
// forecast on the tape.
func (t *scratch) forecasts(w World, pairs []Pair) (all bool) {
	if !t.forecast.reads(w) {
		return false
	}
	t.times.shares, all = t.forecast.shares(t.times.shares, w, pairs)
	return all
}

// addForecast adds the forecast to the contexts by its shares, which are on the tape. Where the
// forecast answers alone, it replaces the columns of the ranker.
func (c *config) addForecast(w World, pairs []Pair, t *scratch, x blas32.General) {
	var odds []float32
	if slices.ContainsFunc(t.times.shares, share.asks) {
		odds = t.forecast.logOdds(&t.times, w, pairs)
	}
	for i, s := range t.times.shares {
		r := nn.Row(x, i)
		switch s.Weight {
		case alone:
			clear(r[c.width()-c.rankLen():])
			r[c.timeCol()] = odds[i]
		case 0:
			r[c.timeCol()] = float32(s.Shift)
		default:
			r[c.timeCol()] = float32(s.Weight*float64(odds[i]) + s.Shift)
		}
	}
}

// graph fills the blocks that are read from the graph, which come last. It leaves the weights of
// walks on the tape.
func (c *config) graph(g Graph, pairs []Pair, first int, t *scratch, x blas32.General) {
	t.walks = t.walks[:0]
	for i := range x.Rows {
		l := t.PairStats(g, pairs, first+i)
		t.walks = append(t.walks, l.Walks)
		r := nn.Row(x, i)
		if c.Blocks&blockStructural != 0 {
			t.Structural(&l, r[len(r)-column.StructuralLen:])
			r = r[:len(r)-column.StructuralLen]
		}
		if c.Blocks&blockTopology != 0 {
			t.Topology(g, pairs[first+i], &l, r[len(r)-column.TopologyLen:])
		}
	}
}

// features fills the feature blocks of x.
func (c *config) features(w World, pairs []Pair, t *scratch, x blas32.General) error {
	n := c.FeatureLen
	t.source = slices.Grow(t.source[:0], n)[:n]
	for first, run := range graph.BySource(pairs) {
		if n > 0 {
			if err := c.vector(w, run[0].Source, t.source); err != nil {
				return err
			}
		}
		if c.Blocks&blockSimilarity != 0 {
			t.similarity.Read(&t.features, run[0].Source)
		}
		for i, p := range run {
			r := nn.Row(x, first+i)
			for k := range blockKinds {
				of := blockKinds[k].entry
				if of == nil || c.blockLen(k) == 0 {
					continue
				}
				if err := c.vector(w, p.Target, r[:n]); err != nil {
					return err
				}
				for j, v := range t.source {
					r[j] = of(v, r[j])
				}
				r = r[n:]
			}
			if c.Blocks&blockSimilarity != 0 {
				r = r[c.timeLen()+c.vectorsLen():]
				t.similarity.Columns(p.Target, r[:column.SimilarityLen])
			}
		}
	}
	return nil
}

// rankLen is the number of columns that a ranker reads. They are the last columns of a context. 0
// means that there is no ranker.
func (c *config) rankLen() int {
	if c.Blocks&blockGraph != blockGraph || c.Normalize == normalizeContext {
		return 0
	}
	n := c.vectorsLen() + column.TopologyLen + column.StructuralLen
	if c.Blocks&blockSimilarity != 0 {
		n += similarityLen(c)
	}
	return n
}

// rankColumns describes the columns that a ranker reads.
func (c *config) rankColumns() []column.Column {
	all := c.contextColumns()
	return all[len(all)-c.rankLen():]
}

func timeColumns() []column.Column {
	return []column.Column{{Name: "forecast", Scale: timeScale, Family: column.Times}}
}

// prior estimates how likely a link is from the structural block alone. An untrained model ranks by
// it.
func prior(s []float32) (sum float64) {
	for col, v := range s {
		sum += priorWeights[col] * float64(v)
	}
	return sum
}

// priorWeights are the factors of the columns of the structural block.
var priorWeights = [column.StructuralLen]float64{column.ColTo: 0.25, column.ColFrom: 0.25, column.ColAdamic: 0.1, column.ColResource: 0.2}

// vector copies the features of a node to f and pads with zeros: a node may have no features, and
// nodes of different labels may have vectors of different lengths. With UnitFeatures, the mean
// square of the entries is 1.
func (c *config) vector(w World, v ID, f []float32) error {
	var from []float32
	if w.Features != nil {
		from = w.Features(v)
	}
	if from == nil {
		clear(f)
		return nil
	}
	if err := c.fits(v, from); err != nil {
		return err
	}
	clear(f[copy(f, from):])
	if c.Normalize == normalizeFeatures {
		nn.Scale(f, math.Sqrt(float64(len(f))))
	}
	return nil
}

// fits returns an error for the feature vector of a node if it is too long.
func (c *config) fits(v ID, features []float32) error {
	if len(features) > c.FeatureLen {
		return &VectorError{v, len(features), c.FeatureLen}
	}
	return nil
}

// vectorRank returns the rank of the spectrum of a graph of n nodes in a training with the given
// memory, and the bytes that its computation may take. It returns 0 if the contexts have no vectors
// block, or if there are too many nodes for the memory.
func (c *config) vectorRank(n int, memory int64) (rank int, budget int64) {
	if rank, budget = spectral.Rank(n, memory); c.vectorsLen() == 0 {
		return 0, budget
	}
	return rank, budget
}

// planVectors plans the vectors of a training. It returns nil for a training without vectors. If
// they are left out because they do not fit into the memory, leftOut is the number of bytes that
// they take at least.
func (c *config) planVectors(ctx context.Context, whole World, memory int64) (p *spectral.Plan, leftOut int64, err error) {
	n := whole.Graph.NumNodes()
	rank, budget := c.vectorRank(n, memory)
	switch {
	case c.vectorsLen() == 0:
		return nil, 0, nil
	case rank == 0:
		return nil, spectral.LeastBytes(n), nil
	}
	of := spectral.Features{Content: c.content(), Len: c.FeatureLen}
	if c.FeatureLen > 0 {
		of.Fits = c.fits
	}
	if c.Words {
		of.Len += graph.NumWords
	}
	if of.Len > 0 {
		if bytes := of.Bytes(whole); bytes > memory {
			return nil, bytes, nil
		}
	}
	p, err = spectral.NewPlan(ctx, of, whole, budget)
	return p, 0, err
}

// vectorsIn computes the vectors of a world. It returns nil if p is nil.
func vectorsIn(ctx context.Context, rng *rand.Rand, p *spectral.Plan, w World, to *Meter) (*spectral.Vectors, error) {
	if p == nil {
		return nil, nil
	}
	to.Begin(phaseVectors)
	defer to.Step(1)
	return p.In(ctx, rng, w.Graph)
}

// vectorsLen is the length of the vectors block.
func (c *config) vectorsLen() int {
	if c.Blocks&blockVectors == 0 || c.Blocks&blockGraph != blockGraph || c.Normalize == normalizeContext {
		return 0
	}
	return spectral.Len(c.hasContent())
}
