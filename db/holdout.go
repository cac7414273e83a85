package db

import (
	"cmp"
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"kith/index"
	"kith/model"
	"kith/ppr"
)

// HoldoutOptions selects the edges to hide, by one of Share, After and Links, and the predictions to make
// without them.
type HoldoutOptions struct {
	// Share is the share of the edges to hide, between 0 and 1, exclusive. At least one edge is
	// hidden; fewer than the share are hidden where the graph is too large to be copied in memory.
	// See Holdout.Wanted.
	Share float64
	// After hides the edges with this time or a later one. An edge that was added several times has
	// the last of its times, and is hidden as a whole. Predictions are made as of this time.
	// Without After, predictions have no time: they concern missing edges, not future ones.
	After time.Time
	// Links are the links to find. The graph need not have them; those that it has are hidden. Only
	// Src and Dst matter.
	Links []Edge

	For    []any // sources to predict links of; nil means all nodes with a hidden link
	Sample int   // number of these sources to draw at random; 0 means all
	// Among are the sets of candidates, as for PredictOptions, from the graph without the hidden edges.
	// Each source has a prediction for each set. Nil means one set, the default of PredictOptions.
	Among []Candidates
	Seed  uint64 // seed of the draws; 0 means the database's seed
}

// Holdout is a graph without its hidden edges, and the sources to predict links of. It can be
// asked until its transaction ends, by several goroutines at a time. All contenders see the same
// graph, sources and candidates.
type Holdout struct {
	Edges   int64 `json:"edges"`   // number of edges of the graph
	Hidden  int64 `json:"hidden"`  // number of hidden edges
	Wanted  int64 `json:"wanted"`  // number of edges to hide; more than Hidden if these did not fit into memory
	Sources int   `json:"sources"` // number of sources
	// Unknown is the number of predictions that lack a link of HoldoutOptions.Links because the database
	// lacks one of its nodes: two for a link of an undirected graph, one for a link of a directed
	// graph.
	Unknown int `json:"unknown"`

	among   []Candidates
	whole   *Tx
	rest    *index.Graph // the graph without the hidden edges
	hidden  hiddenLinks  // an undirected link is here twice, once from either end
	sources []index.ID   // ascending
	at      int64        // time of the predictions, as in model.World
}

// Contender is a model or a policy that a Holdout asks for links. The zero value is the model
// that answers requests without a name.
type Contender struct {
	Model   string // as for PredictOptions
	Version int    // version of the model; 0 means the deployed one
	Prior   bool   // use the built-in model, whatever is deployed
	// Spec, if not nil, is evaluated instead of a model: a model is made from it and, if its policy
	// learns, trained on the remaining edges by Plan.
	Spec *ModelSpec
	Plan model.EdgePlan // its Progress reports on the training
	// Progress, if not nil, is called after each source.
	Progress func(done, total int)
}

// ContenderInfo describes a contender.
type ContenderInfo struct {
	Model          string `json:"model"` // "" for the built-in model and for a Spec
	Version        int    `json:"version"`
	AlreadyLearned bool   `json:"taught"`      // the model has learned from edges or outcomes, which may include hidden edges
	AnsweredBy     string `json:"answered_by"` // see Ranking
}

// HeldOut is the prediction for one source and one set of candidates.
type HeldOut struct {
	Source Key       `json:"source"`
	Among  int       `json:"among"`  // index of the set in HoldoutOptions.Among
	Hidden []Key     `json:"hidden"` // nodes with a hidden edge to the source; those among the candidates come first
	Found  []float64 `json:"found"`  // scores of the hidden nodes that were among the candidates
	Others []float64 `json:"others"` // scores of the candidates without an edge to the source, hidden or not
	// FoundExploit and OthersExploit are the estimated rewards for Found and Others. See Link.
	FoundExploit  []float64 `json:"found_exploit"`
	OthersExploit []float64 `json:"others_exploit"`
}

// Holdout hides edges, all at once: a share drawn at random, those after a time, or those of a
// list, without loops. Nothing is written. The memory is that of a second graph or, if both do not
// fit, 4 KB for each hidden edge, of which a share is then at most what fits into an eighth of
// Options.Memory. Holdout returns ErrTooLarge if others do not fit, and ErrInput for a selection
// that cannot be hidden and if no source has a hidden link.
func (tx *Tx) Holdout(ctx context.Context, h HoldoutOptions) (*Holdout, error) {
	switch {
	case tx.ended:
		return nil, ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return nil, inputf("edges cannot be hidden beside changes that are not committed")
	}
	rng := rand.New(rand.NewPCG(cmp.Or(h.Seed, tx.snap.Meta.Seed), 13))
	s := &Holdout{Edges: tx.snap.Meta.Edges, among: h.Among, whole: tx.onGraph(tx.snap.Graph)}
	var err error
	if s.at, err = unixSeconds(h.After); err != nil {
		return nil, err
	}
	if len(s.among) == 0 {
		s.among = []Candidates{{}}
	}
	pairs, err := s.hide(ctx, &h, rng)
	if err != nil {
		return nil, err
	}
	if err := s.choose(h, rng); err != nil {
		return nil, err
	}
	s.rest, err = tx.without(ctx, pairs)
	return s, err
}

// Ask asks a contender for the links of each source on the graph without the hidden edges, as
// Predict with NoCache does. If the contender has a Spec, Ask first trains its model. It yields a
// HeldOut for each source and set of candidates; package model/metric computes measures from them.
// An undirected edge is to be found from both of its ends. Nothing is written. The memory is that
// of the scores of one node. Ask returns the errors of Predict and, for a Spec, those of
// Model.Create and Model.Train.
func (s *Holdout) Ask(ctx context.Context, c Contender) (ContenderInfo, iter.Seq2[HeldOut, error], error) {
	rest, info, err := s.prepare(ctx, &c)
	if err != nil {
		return info, nil, err
	}
	n := len(s.sources) * len(s.among)
	return info, func(yield func(HeldOut, error) bool) {
		for i := range n {
			out, err := s.ask(ctx, rest, &c, i)
			if !yield(out, err) || err != nil {
				return
			}
			if sets := len(s.among); c.Progress != nil && (i+1)%sets == 0 {
				c.Progress((i+1)/sets, n/sets)
			}
		}
	}, nil
}

// choose selects the sources.
func (s *Holdout) choose(h HoldoutOptions, rng *rand.Rand) error {
	if h.For == nil {
		s.sources = s.hidden.sources()
	} else {
		ids, err := s.whole.ids(h.For)
		if err != nil {
			return err
		}
		s.sources = slices.DeleteFunc(ids, func(id index.ID) bool { return len(s.hidden.of(id)) == 0 })
	}
	if len(s.sources) == 0 {
		return inputf("none of the nodes has one of the %d links that are hidden, of %d", s.Hidden, s.Edges)
	}
	if n := h.Sample; n > 0 && n < len(s.sources) {
		rng.Shuffle(len(s.sources), func(i, j int) { s.sources[i], s.sources[j] = s.sources[j], s.sources[i] })
		s.sources = s.sources[:n]
		slices.Sort(s.sources)
	}
	s.Sources = len(s.sources)
	return nil
}

// prepare returns a transaction that reads the graph without the hidden edges. The transaction
// knows the contender by the name and version that prepare sets in c. prepare makes and trains the
// model of a spec.
func (s *Holdout) prepare(ctx context.Context, c *Contender) (rest *Tx, info ContenderInfo, err error) {
	rest = s.whole.onGraph(s.rest)
	switch {
	case c.Spec != nil:
		info, err = s.train(ctx, rest, c)
		return rest, info, err
	case c.Prior:
		rest.snap.models, c.Model, c.Version = nil, "", 0
		info.AnsweredBy = "the built-in model"
		return rest, info, nil
	}
	m, err := s.whole.model(c.Model, c.Version)
	if err != nil {
		return nil, info, err
	}
	info.AnsweredBy = s.whole.answeredBy(m)
	if m != nil {
		info.Model, info.Version, info.AlreadyLearned = m.info.Name, m.Version, m.info.Trained
		c.Model, c.Version = m.info.Name, m.Version
	}
	return rest, info, nil
}

// train makes a model from the contender's spec and trains it on the rest if its policy learns.
// Only the transaction rest knows the model.
func (s *Holdout) train(ctx context.Context, rest *Tx, c *Contender) (info ContenderInfo, err error) {
	m, err := newModel(*c.Spec, s.whole.snap.Snapshot)
	if err != nil {
		return info, err
	}
	if err := s.askable(ctx, rest, m.Scorer()); err != nil {
		return info, err
	}
	if m.Learns() || m.Fitted() {
		t := TrainOptions{Plan: c.Plan}
		t.Plan.Progress.Expect(rest.phases(m, &t)...)
		if err := rest.db.untilClosed(ctx, func(ctx context.Context) error { return rest.fit(ctx, m, t) }); err != nil {
			return info, err
		}
		t.Plan.Progress.End()
	}
	c.Model, c.Version, info.AnsweredBy = m.Policy(), 0, "policy "+m.Policy()
	if m.Trained() {
		info.AnsweredBy += ", trained on the other edges"
	}
	l := &learner{name: c.Model, model: m, registry: registry{Version: 1, Versions: []version{{Number: 1}}}}
	rest.snap.models = map[string]*modelView{l.name: l.view()}
	return info, nil
}

// askable returns the error that a request for candidates would return, before time is spent on
// training.
func (s *Holdout) askable(ctx context.Context, rest *Tx, scorer *model.Scorer) error {
	source := s.sources[0]
	for _, c := range s.among {
		if _, _, err := rest.candidates(ctx, ppr.Unit(source), c, scorer, rest.walker(source, true, 0)); err != nil {
			return err
		}
	}
	return nil
}

// ask predicts the links of one source among one set of candidates: the i-th such pair.
func (s *Holdout) ask(ctx context.Context, rest *Tx, c *Contender, i int) (HeldOut, error) {
	source, among := s.sources[i/len(s.among)], i%len(s.among)
	out := HeldOut{Source: s.whole.key(source), Among: among}
	p := PredictOptions{For: out.Source, Among: s.among[among], Model: c.Model, Version: c.Version, NoCache: true}
	q, err := rest.prepare(ctx, p)
	if err != nil {
		return out, err
	}
	q.walk.Now = s.at
	scores, err := q.score(ctx, rest)
	if err != nil {
		return out, err
	}
	linked := s.whole.linkedTo(source)
	missed := s.hidden.of(source)
	for i, to := range q.candidates {
		at, hidden := slices.BinarySearch(missed, to)
		switch {
		case hidden:
			missed = slices.Delete(missed, at, at+1)
			out.Hidden, out.Found = append(out.Hidden, s.whole.key(to)), append(out.Found, scores[i].Score)
			out.FoundExploit = append(out.FoundExploit, scores[i].Exploit)
		case to != source && !linked(to):
			out.Others = append(out.Others, scores[i].Score)
			out.OthersExploit = append(out.OthersExploit, scores[i].Exploit)
		}
	}
	for _, to := range missed {
		out.Hidden = append(out.Hidden, s.whole.key(to))
	}
	return out, nil
}
