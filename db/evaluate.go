package db

import (
	"context"
	"math/rand/v2"
	"time"

	"kith/db/internal/hidden"
	"kith/db/words"
	"kith/index"
	"kith/model"
)

// EvaluateOptions selects the edges to hide, by one of Share, After and Links, the links to ask
// for, and the contenders that are asked.
type EvaluateOptions struct {
	// Share is the share of the edges to hide, between 0 and 1, exclusive. At least one edge is
	// hidden; fewer than the share are hidden where the graph is too large to be copied in memory.
	// See Evaluation.Wanted.
	Share float64
	// After hides the edges with this time or a later one. An edge that was added several times has
	// the last of its times, and is hidden as a whole. Predictions are made as of this time.
	// Without After, predictions have no time: they concern missing edges, not future ones.
	After time.Time
	// Links are the links to find. The graph need not have them; links that it has are hidden. Only
	// Src and Dst matter.
	Links []Edge

	// Relation and Inverse say which links are meant, as for PredictOptions. Only edges of the
	// relation are hidden, and models learn from what is left of them.
	Relation string
	Inverse  bool

	For    []any // sources to predict links of; nil means all nodes with a hidden link
	Sample int   // number of sources to draw at random; 0 means all
	// Among are the sets of candidates, as for PredictOptions, from the graph without the hidden
	// edges. Each source has a question for each set. Nil means one set, the default of
	// PredictOptions.
	Among []Candidates
	Seed  uint64 // seed of the draws; 0 means the database's seed

	// Contenders are asked in turn, all for the same links among the same candidates. Nil means the
	// model that answers requests without a name, if there is one, the built-in model, and
	// resource_allocation, a heuristic that is among the best on most graphs.
	Contenders []Contender
	// Each, if not nil, is called with each answer. The contender is an index of Contenders.
	Each func(contender int, h HeldOut)
	// Progress, if not nil, is called after each source that a contender was evaluated on.
	Progress func(done, total int)
}

// Contender is a model, a policy or a function that an evaluation asks for links. The zero value is
// the model that answers requests without a name.
//
// A stored model may have learned the edges that are hidden. Where edges of the graph are hidden,
// the contender is therefore a copy of the model with the same options, which learns the remaining
// edges by Plan, and none of the outcomes. A Version is asked as it is.
type Contender struct {
	Model   string // as for PredictOptions
	Version int    // a version of the model, to be asked as it is
	Prior   bool   // use the built-in model, whatever is deployed
	// Spec, if not nil, is evaluated instead of a model: a model is made from it and, if its policy
	// learns, trained on the remaining edges by Plan.
	Spec *ModelSpec
	Plan model.EdgePlan // its Progress reports on the training
	// Rank, if not nil, is evaluated instead of a model. It returns a score for each candidate of a
	// source; the transaction reads the graph without the hidden edges.
	Rank func(ctx context.Context, rest *Tx, source Key, candidates []Key) ([]float64, error)
}

// Evaluation is how well contenders find hidden links.
type Evaluation struct {
	Edges   int64 `json:"edges"`   // number of edges of the graph
	Hidden  int64 `json:"hidden"`  // number of hidden edges
	Wanted  int64 `json:"wanted"`  // number of edges to hide; more than Hidden if these did not fit into memory
	Sources int   `json:"sources"` // number of sources
	// Unknown is the number of links to find that lack a node, which count as missed: two for a
	// link of an undirected graph, one for a link of a directed graph.
	Unknown int `json:"unknown"`
	// Results has a result for each contender and set of candidates, in the order of the
	// contenders, then of the sets.
	Results []Result `json:"results"`
}

// Result is how well a contender finds hidden links among one set of candidates. The links of a
// source are ranked among the candidates that it has no edge to, hidden or not.
type Result struct {
	Name           string `json:"name"`    // name of the model, the policy or the heuristic, or "prior"
	Version        int    `json:"version"` // version of a stored model that was asked as it is
	AlreadyLearned bool   `json:"taught"`  // the model has learned from edges or outcomes, which may include hidden edges
	AnsweredBy     string `json:"answered_by"`
	Among          int    `json:"among"` // index of the set in EvaluateOptions.Among

	Links   int     `json:"links"`   // number of links to find; an undirected edge may be one from either end
	Reached int     `json:"reached"` // number of links that are candidates; the others count as missed
	Others  int     `json:"others"`  // number of candidates without a link
	Pairs   int     `json:"pairs"`   // number of comparisons of a link with a candidate without one
	MRR     float64 `json:"mrr"`     // mean reciprocal rank of the links
	Hits    []Hits  `json:"hits"`
	AUC     float64 `json:"auc"` // share of the pairs in the right order; 0 without pairs
	// Probabilities says whether all estimated rewards of the candidates are from 0 to 1. Then ECE
	// is their expected calibration error as probabilities of the links, over the Bins.
	Probabilities bool    `json:"probabilities"`
	ECE           float64 `json:"ece"`
	Bins          []Bin   `json:"bins,omitzero"`
}

// Bin is a group of candidates with about the same estimated reward.
type Bin struct {
	Count     int     `json:"count"`
	Predicted float64 `json:"predicted"` // mean estimated reward
	Share     float64 `json:"share"`     // share of the candidates that are links
}

// Hits says how many links are among the K best.
type Hits struct {
	K     int     `json:"k"`
	Share float64 `json:"share"` // share of the links that score above the K-th best candidate without a link
	// Short is the number of sources with links among their candidates and fewer than K candidates
	// without a link: all links of such a source count.
	Short int `json:"short"`
}

// Evaluate measures how well contenders find hidden links. See [Tx.Evaluate].
func (db *DB) Evaluate(ctx context.Context, o EvaluateOptions) (*Evaluation, error) {
	return result(ctx, db.View, func(tx *Tx) (*Evaluation, error) { return tx.Evaluate(ctx, o) })
}

// Evaluate hides edges, all at once: a share drawn at random, the edges after a time, or the edges
// of a list, without loops. It asks each contender for the links of each source on the graph
// without them, as Predict with NoCache does, and measures how high it ranks them. An undirected
// edge is to be found from both of its ends. Nothing is written.
//
// It takes the memory of a second graph or, if both do not fit, 4 KB for each hidden edge, and a
// share is then at most as many edges as fit into an eighth of Options.Memory. Evaluate returns
// ErrTooLarge if other edges do not fit, ErrInput for a selection that cannot be hidden and if no
// source has a hidden link, and the errors of Predict and, for a contender that is trained, of
// Train.
func (tx *Tx) Evaluate(ctx context.Context, o EvaluateOptions) (*Evaluation, error) {
	s, err := tx.hold(ctx, &o)
	if err != nil {
		return nil, err
	}
	contenders := o.Contenders
	if contenders == nil {
		contenders = s.defaults()
	}
	e := &s.Evaluation
	for i := range contenders {
		c := &contenders[i]
		results, err := s.measure(ctx, c, func(h HeldOut) {
			if o.Each != nil {
				o.Each(i, h)
			}
		}, func(done int) {
			if o.Progress != nil {
				o.Progress(i*s.Sources+done, len(contenders)*s.Sources)
			}
		})
		if err != nil {
			return nil, err
		}
		e.Results = append(e.Results, results...)
	}
	return e, nil
}

// defaults returns the contenders of an evaluation that names none.
func (s *holdout) defaults() []Contender {
	all := []Contender{{Prior: true}, {Model: "resource_allocation"}}
	if m, err := s.whole.model("", 0); err == nil && m != nil {
		all = append([]Contender{{}}, all...)
	}
	return all
}

// measure asks a contender, and passes on each answer and the number of sources that are done.
func (s *holdout) measure(ctx context.Context, c *Contender, each func(HeldOut), done func(int)) ([]Result, error) {
	of, err := s.prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	sums := make([]hidden.Quality, len(s.among))
	for i := range sums {
		if of.plain {
			sums[i].NoProbabilities()
		}
	}
	for i := range len(s.sources) * len(s.among) {
		h, err := s.ask(ctx, of, i)
		if err != nil {
			return nil, err
		}
		sums[h.Among].Add(len(h.Hidden), hidden.Answer{Found: h.Found, Others: h.Others, FoundExploit: h.FoundExploit, OthersExploit: h.OthersExploit})
		each(h)
		if i%len(s.among) == len(s.among)-1 {
			done(i/len(s.among) + 1)
		}
	}
	var results []Result
	for among := range sums {
		if s.all {
			sums[among].Miss(s.Unknown)
		}
		r := of.result
		r.Among = among
		r.describe(sums[among].Measures())
		results = append(results, r)
	}
	return results, nil
}

// describe sets the measures of a result.
func (r *Result) describe(m hidden.Measures) {
	r.Links, r.Reached, r.Others, r.Pairs = m.Links, m.Reached, m.Others, m.Pairs
	r.MRR, r.AUC, r.Probabilities, r.ECE = m.MRR, m.AUC, m.Probabilities, m.ECE
	for _, h := range m.Hits {
		r.Hits = append(r.Hits, Hits(h))
	}
	for _, b := range m.Bins {
		r.Bins = append(r.Bins, Bin(b))
	}
}

// drawHidden draws the given share of the edges, without loops, in the order of the graph. Without
// memory for a second graph it draws at most mostHidden edges.
func (tx *Tx) drawHidden(ctx context.Context, share float64, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	left := tx.snap.Graph.NumEdges() - tx.snap.Graph.NumLoops()
	if left < 2 {
		return nil, inputf("%s has %s, loops left out: too few to hide some and keep some", tx.edgesSeen(), words.Count(left, "edge"))
	}
	want := min(max(int64(share*float64(left)+0.5), 1), left-1)
	if !tx.fitsSecond() {
		want = min(want, int64(tx.mostHidden()))
	}
	return hidden.Draw(ctx, tx.snap.Graph, left, want, rng)
}

// AddToRelationStart makes a learner read the edges of the graph with their relations.
func (tx *Tx) AddToRelationStart(ctx context.Context, l *model.RelationStartLearner, seed uint64) error {
	if tx.ended {
		return ErrClosed
	}
	return l.Add(ctx, tx.typedGraph(), seed, tx.relationsWithout(ctx))
}

// AddToStart makes a learner read the edges of the graph without a share of them, which is drawn
// from the seed.
func (tx *Tx) AddToStart(ctx context.Context, l *model.StartLearner, share float64, seed uint64, plan model.EdgePlan) error {
	if tx.ended {
		return ErrClosed
	}
	var absent [][2]index.ID
	if share != 0 {
		var err error
		if absent, err = tx.drawHidden(ctx, share, rand.New(rand.NewPCG(seed, 13))); err != nil {
			return err
		}
	}
	without := func(more [][2]index.ID) (model.World, error) {
		rest, err := tx.without(ctx, hidden.Together(absent, more, tx.snap.Graph.Directed()))
		if err != nil {
			return model.World{}, err
		}
		return rest.walker(0, true, 0).World(), nil
	}
	return l.Add(ctx, tx.snap.Graph, featureLen(tx.snap.Snapshot), seed, plan, without)
}
