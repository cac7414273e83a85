package hidden

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"kith/db/internal/candidate"
	"kith/index"
)

// Bounds of Questions.
const (
	MostSources    = 200
	MostCandidates = 200    // candidates of a source, drawn at random from those within reach
	Reach          = 200000 // number of entries read of the rows of each step to find them, about
)

// Question asks for the hidden links of a source.
type Question struct {
	Source     index.ID
	Candidates []index.ID // ascending
	Found      []int      // indexes of the candidates that are links
	Links      int        // number of its links, including links that are not candidates
}

// Questions ask for hidden links.
type Questions struct {
	All     []Question
	Sampled int // number of questions whose candidates come from a sample
	Links   int // number of links to find
	Reached int // number of links that are candidates
}

// NewQuestions makes questions about up to MostSources sources drawn at random, among nodes two
// steps away in rest, which is the whole graph without the links. If no link is among these, as in
// a graph that links two kinds of nodes, it uses nodes three steps away. reach is Reach.
func NewQuestions(ctx context.Context, whole, rest *index.Graph, hidden Links, seed uint64, reach int) (q Questions, err error) {
	rng := rand.New(rand.NewPCG(seed, 17))
	sources := hidden.Sources()
	rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	sources = sources[:min(len(sources), MostSources)]
	for hops := 2; hops <= 3 && q.Reached == 0; hops++ {
		near := candidate.NewNearby(rest, hops, reach, seed)
		q = Questions{}
		for _, source := range sources {
			if err := ctx.Err(); err != nil {
				return q, err
			}
			nodes, sampled := near.Of(source, hidden.Of(source))
			one := newQuestion(rng, whole, source, nodes, hidden.Of(source))
			q.All = append(q.All, one)
			q.Links += one.Links
			q.Reached += len(one.Found)
			if sampled {
				q.Sampled++
			}
		}
	}
	return q, nil
}

// newQuestion draws the candidates of a source from nodes near it: the links that are among
// these, and other nodes to which it has no edge.
func newQuestion(rng *rand.Rand, whole *index.Graph, source index.ID, near, links []index.ID) Question {
	q := Question{Source: source, Links: len(links)}
	linked := candidate.In(candidate.Ends(whole, source))
	var others []index.ID
	for _, u := range near {
		if _, is := slices.BinarySearch(links, u); is {
			q.Candidates = append(q.Candidates, u)
		} else if !linked(u) {
			others = append(others, u)
		}
	}
	q.Candidates = append(q.Candidates, candidate.Drawn(rng, others, MostCandidates)...)
	slices.Sort(q.Candidates)
	for i, u := range q.Candidates {
		if _, is := slices.BinarySearch(links, u); is {
			q.Found = append(q.Found, i)
		}
	}
	return q
}

// BeyondChance reports whether a is above b by more than two standard errors of the differences.
func BeyondChance(a, b []float64) bool {
	mean, square := 0.0, 0.0
	for i := range a {
		d := a[i] - b[i]
		delta := d - mean
		mean += delta / float64(i+1)
		square += delta * (d - mean)
	}
	n := float64(len(a))
	return mean > 2*math.Sqrt(square/(n*(n-1)))
}
