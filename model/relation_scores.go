package model

import (
	"context"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// addedScore is a score of candidates that is added to the output of the network.
type addedScore struct {
	name  string
	tells string // as rules.Tells
	// read stores the scores of nodes for the question that the world asks about a source. The
	// opinions of the ranker about these nodes are on the tape. The evidence on the tape may be of
	// another question.
	read func(r *relational, t *scratch, w World, source ID, nodes []ID, scores []float64)
}

// addedScores are the scores that are added. Where one does not help, its weight is 0.
var addedScores = [...]addedScore{
	viewOwn:   {"links of this kind", "how other links of this kind lie around {source} and {target}", readOpinion(viewOwn)},
	viewAll:   {"links of all kinds", "how links of all kinds lie around {source} and {target}", readOpinion(viewAll)},
	byFactors: {"learned vectors", "the vectors that were learned of {source} and {target}", readFactors},
}

// Places in addedScores. The first ones are the views of a question about a relation that the
// ranker reads: the edges of the relation, and the edges of all relations.
const (
	viewOwn = iota
	viewAll
	byFactors
	views = byFactors
)

// scoreWeights are the weights of the scores of a question: first of the output of the network,
// then of the added scores. With them, a sum of scores of any direction is on the scale of
// log-odds, so that one level fits all.
type scoreWeights struct {
	All  []float64
	Each [][]float64 // by direction; nil: All
}

// of returns the weights for links of a direction.
func (w *scoreWeights) of(head graph.Direction) []float64 {
	if int(head) < len(w.Each) && w.Each[head] != nil {
		return w.Each[head]
	}
	return w.All
}

// reads reports whether added score k has weight in some direction.
func (w *scoreWeights) reads(k int) bool {
	return w.All[1+k] != 0 || slices.ContainsFunc(w.Each, func(each []float64) bool { return each != nil && each[1+k] != 0 })
}

// valid reports whether w has a finite weight for each score.
func (w *scoreWeights) valid() bool {
	fits := func(all []float64) bool { return len(all) == 1+len(addedScores) && nn.Finite(all...) }
	return fits(w.All) && !slices.ContainsFunc(w.Each, func(each []float64) bool { return each != nil && !fits(each) })
}

// renamed returns the weights for relations with other numbers.
func (w *scoreWeights) renamed(directions int, to func(graph.Direction) (graph.Direction, bool)) scoreWeights {
	out := scoreWeights{All: w.All}
	for d, each := range w.Each {
		if n, ok := to(graph.Direction(d)); ok && each != nil {
			if out.Each == nil {
				out.Each = make([][]float64, directions)
			}
			out.Each[n] = each
		}
	}
	return out
}

// weighted returns the weighted sum of the scores of row i: the network's output and the added
// scores, where one that is nil has no weight.
func weighted(weights []float64, output float64, added [][]float64, i int) float64 {
	sum := weights[0] * output
	for k, scores := range added {
		if scores != nil {
			sum += weights[1+k] * scores[i]
		}
	}
	return sum
}

// readOpinion returns a function that copies the log-odds of the ranker in a view from the tape.
func readOpinion(view int) func(*relational, *scratch, World, ID, []ID, []float64) {
	return func(_ *relational, t *scratch, _ World, _ ID, _ []ID, scores []float64) {
		copy(scores, t.opinions[view])
	}
}

// readOpinions leaves the log-odds of the ranker about pairs on the tape, in the views of a world
// that have one of the weights of a question.
func (s *Scorer) readOpinions(ctx context.Context, t *scratch, w World, pairs []Pair, weights []float64) error {
	own := w
	own.Typed, own.Whole, own.Found, own.Now = nil, nil, nil, 0
	for v, view := range [views]*World{viewOwn: &own, viewAll: w.Whole} {
		t.opinions[v] = nil
		if weights[1+v] == 0 || view == nil {
			continue
		}
		if err := s.config.contexts(ctx, *view, pairs, t); err != nil {
			return err
		}
		t.opinions[v] = make([]float64, len(pairs))
		err := nn.InBatches(ctx, len(pairs), func(first, end int) error {
			t.ranked = nn.Resize(t.ranked, end-first, s.config.rankLen())
			for i := range end - first {
				s.config.rankInput(nn.Row(t.x, first+i), s.belief.scale, nn.Row(t.ranked, i))
			}
			s.belief.ranker.logOdds(&t.net, t.ranked, t.opinions[v][first:end])
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readFactors(r *relational, _ *scratch, w World, source ID, nodes []ID, scores []float64) {
	if r.factors != nil {
		r.factors.Scores(source, w.Head, nodes, scores)
	}
}

// added returns each added score of nodes, nil for a score with weight 0.
func (r *relational) added(t *scratch, w World, source ID, nodes []ID) [][]float64 {
	all, weights := make([][]float64, len(addedScores)), r.weights.of(w.Head)
	for k, a := range addedScores {
		if weights[1+k] != 0 {
			all[k] = make([]float64, len(nodes))
			a.read(r, t, w, source, nodes, all[k])
		}
	}
	return all
}
