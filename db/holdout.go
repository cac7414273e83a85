package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"kith/db/internal/candidate"
	"kith/db/internal/hidden"
	"kith/db/internal/record"
	"kith/db/words"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// holdout is a graph without its hidden edges, and the sources to ask for links of. All contenders
// see the same graph, sources and candidates.
type holdout struct {
	Evaluation
	among   []Candidates
	whole   *Tx
	on      about        // sees the edges that links are predicted of
	rest    *Tx          // sees all edges but the hidden ones
	hidden  hidden.Links // an undirected link is here twice, once from either end
	sources []index.ID   // ascending
	all     bool         // whether all nodes with a hidden link are sources
	at      int64        // time of the predictions, as in model.World
	now     time.Time    // the same, for candidates; zero: the present

	relation string // of the links; "" means all
}

// HeldOut is the answer for one source and one set of candidates.
type HeldOut struct {
	Source Key       `json:"source"`
	Among  int       `json:"among"`           // index of the set in EvaluateOptions.Among
	Hidden []Key     `json:"hidden,omitzero"` // nodes with a hidden edge to the source; those among the candidates come first
	Found  []float64 `json:"found,omitzero"`  // scores of the hidden nodes that were among the candidates
	Others []float64 `json:"others,omitzero"` // scores of the candidates without an edge to the source, hidden or not
	// FoundExploit and OthersExploit are the estimated rewards for Found and Others. See Link.
	FoundExploit  []float64 `json:"found_exploit,omitzero"`
	OthersExploit []float64 `json:"others_exploit,omitzero"`
}

// hold hides the edges and chooses the sources.
func (tx *Tx) hold(ctx context.Context, o *EvaluateOptions) (*holdout, error) {
	switch {
	case tx.ended:
		return nil, ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return nil, inputf("edges cannot be hidden beside changes that are not committed")
	}
	rng := rand.New(rand.NewPCG(cmp.Or(o.Seed, tx.snap.Meta.Seed), 13))
	s := &holdout{among: o.Among, whole: tx.onGraph(tx.snap.Graph), relation: o.Relation, now: o.After}
	var err error
	if s.on, err = s.whole.about(o.Relation, o.Inverse); err != nil {
		return nil, err
	}
	s.Edges = s.on.snap.Graph.NumEdges()
	if s.at, err = unixSeconds(o.After); err != nil {
		return nil, err
	}
	if len(s.among) == 0 {
		s.among = []Candidates{{}}
	}
	pairs, err := s.hide(ctx, o, rng)
	if err != nil {
		return nil, err
	}
	if err := s.choose(o, rng); err != nil {
		return nil, err
	}
	rest, err := s.on.without(ctx, pairs)
	if err != nil {
		return nil, err
	}
	s.rest = rest.all()
	return s, nil
}

// choose selects the sources.
func (s *holdout) choose(o *EvaluateOptions, rng *rand.Rand) error {
	if s.all = o.For == nil && o.Sample == 0; o.For == nil {
		s.sources = s.hidden.Sources()
	} else {
		ids, err := s.whole.ids(o.For)
		if err != nil {
			return err
		}
		s.sources = slices.DeleteFunc(ids, func(id index.ID) bool { return len(s.hidden.Of(id)) == 0 })
	}
	if len(s.sources) == 0 {
		return inputf("none of the nodes has one of the %d links that are hidden, of %d", s.Hidden, s.Edges)
	}
	if n := o.Sample; n > 0 && n < len(s.sources) {
		rng.Shuffle(len(s.sources), func(i, j int) { s.sources[i], s.sources[j] = s.sources[j], s.sources[i] })
		s.sources = s.sources[:n]
		slices.Sort(s.sources)
	}
	s.Sources = len(s.sources)
	return nil
}

// contender is a Contender that is ready to be asked.
type contender struct {
	rest    *Tx // reads the graph without the hidden edges, and knows the model
	model   string
	version int
	rank    func(context.Context, *Tx, Key, []Key) ([]float64, error)
	plain   bool   // whether it is a heuristic, whose scores are no probabilities
	result  Result // describes it
}

// prepare makes a contender ready, and trains it if it learns from the remaining edges.
func (s *holdout) prepare(ctx context.Context, c *Contender) (*contender, error) {
	of := &contender{rest: s.rest.onGraph(s.rest.snap.Graph), rank: c.Rank}
	switch {
	case c.Rank != nil:
		of.rest.snap.models = nil
		of.result.Name, of.result.AnsweredBy = cmp.Or(c.Model, "rank"), "a function"
		return of, nil
	case c.Spec != nil:
		return of, s.train(ctx, of, *c.Spec, c.Plan)
	case c.Prior:
		of.rest.snap.models = nil
		of.result.Name, of.result.AnsweredBy = "prior", "the built-in model"
		return of, nil
	}
	m, err := s.whole.model(c.Model, c.Version)
	if err != nil {
		return nil, err
	}
	of.result.Name, of.result.AnsweredBy = "prior", s.whole.answeredBy(m)
	if m == nil {
		return of, nil
	}
	of.plain = slices.Contains(model.Heuristics(), m.info.Policy)
	if s.Hidden > 0 && c.Version == 0 && !of.plain {
		spec, err := m.spec()
		if err == nil {
			err = s.train(ctx, of, spec, c.Plan)
		}
		of.result.Name, of.result.AnsweredBy = m.info.Name, fmt.Sprintf("a copy of model %s, trained on the other edges", m.info.Name)
		return of, err
	}
	of.model, of.version = m.info.Name, m.Version
	of.result.Name, of.result.Version, of.result.AlreadyLearned = m.info.Name, m.Version, m.info.Trained
	return of, nil
}

// spec returns the spec that the model was made from.
func (m *modelView) spec() (spec ModelSpec, err error) {
	spec.Policy = m.info.Policy
	for _, o := range m.info.Options {
		err = errors.Join(err, spec.Set(o.Name, o.Value))
	}
	return spec, err
}

// train makes the model of a contender and, if its policy learns, trains it on the remaining edges.
func (s *holdout) train(ctx context.Context, of *contender, spec ModelSpec, plan model.EdgePlan) error {
	rest := of.rest
	m, err := newModel(spec, s.whole.snap.Snapshot)
	if err != nil {
		return err
	}
	if err := s.askable(ctx, rest, m.Scorer()); err != nil {
		return err
	}
	if m.Learns() {
		t := TrainOptions{Plan: plan}
		learned, err := rest.about(s.relation, false)
		if err != nil {
			return err
		}
		t.Plan.Progress.Expect(learned.phases(m, &t)...)
		if err := rest.db.untilClosed(ctx, func(ctx context.Context) error { return learned.fit(ctx, m, t) }); err != nil {
			return err
		}
		t.Plan.Progress.End()
	}
	of.model, of.result.Name, of.result.AnsweredBy = m.Policy(), m.Policy(), "policy "+m.Policy()
	of.plain = slices.Contains(model.Heuristics(), m.Policy())
	if m.Trained() {
		of.result.AnsweredBy += ", trained on the other edges"
	}
	l := &record.Learner{Name: of.model, Model: m, Registry: record.Registry{Version: 1, Versions: []record.Version{{Number: 1}}}}
	rest.snap.models = map[string]*modelView{l.Name: viewOf(l)}
	return nil
}

// askable returns the error that a request for candidates would return, before time is spent on
// training.
func (s *holdout) askable(ctx context.Context, rest *Tx, scorer *model.Scorer) error {
	source := s.sources[0]
	on, err := rest.about(s.relation, s.on.inverse)
	if err != nil {
		return err
	}
	for _, c := range s.among {
		if _, _, err := rest.candidates(ctx, on, rest.clock(s.now, time.Time{}), ppr.Unit(source), c, scorer, rest.walker(source, true, 0)); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for the links of a source among a set of candidates: the i-th such pair.
func (s *holdout) ask(ctx context.Context, of *contender, i int) (HeldOut, error) {
	source, among := s.sources[i/len(s.among)], i%len(s.among)
	out := HeldOut{Source: s.whole.key(source), Among: among}
	p := PredictOptions{
		For: out.Source, Among: s.among[among], Relation: s.relation, Inverse: s.on.inverse,
		Model: of.model, Version: of.version, Now: s.now, NoCache: true,
	}
	q, err := of.rest.prepare(ctx, p)
	if err != nil {
		return out, err
	}
	q.walk.Now = s.at
	scores, err := of.score(ctx, q, out.Source)
	if err != nil {
		return out, err
	}
	linked := candidate.In(candidate.Ends(s.on.view().Graph, source))
	missed := s.hidden.Of(source)
	for i, to := range q.candidates {
		at, isHidden := slices.BinarySearch(missed, to)
		switch {
		case isHidden:
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

// score returns the scores of the candidates of a question about a source.
func (of *contender) score(ctx context.Context, q *question, source Key) ([]model.Score, error) {
	if of.rank == nil {
		return q.score(ctx, of.rest)
	}
	keys := make([]Key, len(q.candidates))
	for i, u := range q.candidates {
		keys[i] = of.rest.key(u)
	}
	ranks, err := of.rank(ctx, of.rest, source, keys)
	if err == nil && len(ranks) != len(keys) {
		err = inputf("%d scores of %d candidates", len(ranks), len(keys))
	}
	if err != nil {
		return nil, err
	}
	scores := make([]model.Score, len(ranks))
	for i, x := range ranks {
		scores[i] = model.Score{Score: x, Exploit: x}
	}
	return scores, nil
}

// hide selects the edges to hide, ascending, and the links to find. The links are these edges
// unless o lists links.
func (s *holdout) hide(ctx context.Context, o *EvaluateOptions, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	ways := 0
	for _, way := range []bool{o.Share != 0, !o.After.IsZero(), o.Links != nil} {
		if way {
			ways++
		}
	}
	tx := s.on.Tx
	found := &pairs
	switch {
	case ways > 1:
		return nil, inputf("a holdout hides a share of the edges, those after a time, or a list, and one of these only")
	case o.Links != nil:
		var links [][2]index.ID
		found = &links
		pairs, links, err = s.resolveLinks(ctx, o.Links)
	case !o.After.IsZero():
		pairs, err = tx.edgesFrom(ctx, o.After)
	case !(o.Share > 0 && o.Share < 1):
		err = inputf("a share of %v of the edges: want a number between 0 and 1, exclusive", o.Share)
	default:
		pairs, err = tx.drawHidden(ctx, o.Share, rng)
	}
	if err != nil {
		return nil, err
	}
	s.Hidden = int64(len(pairs))
	s.Wanted = max(s.Hidden, int64(o.Share*float64(s.Edges-tx.snap.Graph.NumLoops())))
	asked := *found
	if s.on.inverse && tx.via.Both { // whose pairs lead from sources to targets
		asked = slices.Clone(asked)
		for i, p := range asked {
			asked[i] = [2]index.ID{p[1], p[0]}
		}
	}
	s.hidden, err = hidden.ToBeFound(ctx, asked, s.on.oneWay())
	return pairs, err
}

// edgesFrom returns the edges whose time is t or later, without loops.
func (tx *Tx) edgesFrom(ctx context.Context, t time.Time) (pairs [][2]index.ID, err error) {
	first := t.Unix()
	if t.Nanosecond() > 0 {
		first++ // times of edges are whole seconds
	}
	var latest int64
	left := 0
	pairs, err = hidden.Select(ctx, tx.snap.Graph, func(e index.Edge) bool {
		latest = max(latest, e.Time)
		if e.Time == 0 || e.Time < first {
			left++
			return false
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case len(pairs) == 0 && latest == 0:
		return nil, inputf("no edge of the graph has a time after 1970")
	case len(pairs) == 0:
		return nil, inputf("no edge has a time from %d on, the latest has %d", first, latest)
	case left == 0:
		return nil, inputf("all edges have a time from %d on: none would be left", first)
	}
	return pairs, nil
}

// resolveLinks returns the listed links that the graph has, ascending, and all links to find, each
// once. Both exclude loops. It counts links with a node that the database lacks in s.Unknown.
func (s *holdout) resolveLinks(ctx context.Context, list []Edge) (there, links [][2]index.ID, err error) {
	tx := s.on.Tx
	for i, e := range list {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		u, known := tx.find(e.Src)
		v, both := tx.find(e.Dst)
		if !known || !both {
			s.Unknown++
			continue
		}
		if s.on.inverse && !tx.via.Both || u > v && !s.on.oneWay() {
			u, v = v, u
		}
		if u != v {
			links = append(links, [2]index.ID{u, v})
		}
	}
	if len(links) == 0 {
		return nil, nil, inputf("none of the %s joins two nodes of the graph", words.Count(len(list), "link"))
	}
	if !s.on.oneWay() {
		s.Unknown *= 2
	}
	slices.SortFunc(links, hidden.Ascending)
	links = slices.Compact(links)
	for _, p := range links {
		if _, ok := tx.snap.Graph.Edge(p[0], p[1]); ok {
			there = append(there, p)
		}
	}
	return there, links, nil
}
