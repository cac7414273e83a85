package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"kith/index"
	"kith/model"
)

// Holdout says which edges to hide, by one of Share, After and Links, and which predictions to make without them.
type Holdout struct {
	Share float64 // of the edges to hide, above 0 and below 1; at least one is
	// After hides the edges with this time or a later one. An edge that was added several times has the last of its times,
	// and is hidden as a whole. The questions are about that time; others are about none: what is missing, not what comes next.
	After time.Time
	// Links are links to be found. The graph need not have them; those that it has are hidden. Only Src and Dst count.
	Links []Edge
	// Against are pairs of nodes without a link. Links are ranked among these instead of among candidates: each link among
	// the next Each pairs of the list or, with Each 0, all links among all pairs. For, Sample and Among are not used then.
	Against []Edge
	Each    int

	For    []any // sources to predict links of; nil: all nodes that have a hidden link
	Sample int   // number of these sources, drawn at random; 0: all
	// Among are the sets of candidates, as for Prediction, from the graph without the hidden edges. Each
	// source has a prediction for each set. nil: one that is left open.
	Among []Candidates
	Seed  uint64 // of what is hidden and drawn; 0: the database's
}

// HoldoutSet is a graph without its hidden edges, and the sources to predict links of. It can be asked until its transaction
// ends, by several goroutines at a time: all contenders see the same graph, sources and candidates.
type HoldoutSet struct {
	Edges   int64 `json:"edges"`   // of the graph
	Hidden  int64 `json:"hidden"`  // of these
	Sources int   `json:"sources"` // number of sources
	// Unknown is the number of predictions that lack a link of Holdout.Links because the database lacks one of its nodes: two
	// for a link of an undirected graph, one for a link of a directed graph.
	Unknown int `json:"unknown"`

	among   []Candidates
	whole   *Tx
	rest    *index.Graph // without the hidden edges
	hidden  hiddenLinks  // an undirected link twice, from either end
	sources []index.ID   // ascending
	fixed   *fixedPairs  // nil: links are compared with candidates
	at      int64        // time of the questions, as model.World has it
}

// Contender is a model or a policy that a HoldoutSet asks for links. The zero value is what answers where a request names no model.
type Contender struct {
	Model   string // as for Prediction
	Version int    // of the model; 0: the one that is deployed
	Prior   bool   // the learned start answers, whatever is deployed
	// Spec, if not nil, is evaluated instead of a model: one is made of it, and trained on the edges
	// that are left, by Plan, if its policy learns.
	Spec *ModelSpec
	Plan model.EdgePlan // Progress reports on the training
	// Progress, if not nil, is called after each source.
	Progress func(done, total int)
}

// ContenderInfo describes a contender.
type ContenderInfo struct {
	Model      string `json:"model"` // "": the learned start, or what Spec says
	Version    int    `json:"version"`
	Taught     bool   `json:"taught"`      // the model was trained on edges, or has observed outcomes, that may be hidden now
	AnsweredBy string `json:"answered_by"` // see Ranking
}

// HeldOut is the prediction for one source and one set of candidates. With Holdout.Against it is that for one link or, with
// Each 0, for all links, and Source is not set. Where pairs are scored as links of the other end of an undirected link, their
// scores are relative to that of the link seen from there.
type HeldOut struct {
	Source Key       `json:"source"`
	Among  int       `json:"among"`  // the index of the set in Holdout.Among
	Hidden []Key     `json:"hidden"` // the nodes that it has a hidden edge to, those that were found first
	Found  []float64 `json:"found"`  // the scores of those that were among the candidates
	Others []float64 `json:"others"` // the scores of candidates that it has no edge to, hidden or not
	// The estimated rewards of the same, see Link.
	FoundExploit  []float64 `json:"found_exploit"`
	OthersExploit []float64 `json:"others_exploit"`
}

// Holdout hides edges, all of them at once: a share drawn at random, those after a time, or those of a list, without loops.
// Nothing is written; memory is that of a second graph. It returns ErrTooLarge where there is no room for both graphs, and
// ErrInput for what cannot be hidden and where none of the nodes has a hidden link.
func (tx *Tx) Holdout(ctx context.Context, h Holdout) (*HoldoutSet, error) {
	switch {
	case tx.ended:
		return nil, ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return nil, fmt.Errorf("%w: edges cannot be hidden beside changes that are not committed", ErrInput)
	}
	rng := rand.New(rand.NewPCG(orDefault(h.Seed, tx.snap.Meta.Seed), 13))
	s := &HoldoutSet{Edges: tx.snap.Meta.Edges, among: h.Among, whole: tx.on(tx.snap.Graph)}
	if !h.After.IsZero() {
		s.at = h.After.Unix()
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

// Ask asks a contender for links from node after node on the graph without the hidden edges, as Predict with NoCache does,
// after it trained the model of a spec. It yields a HeldOut for each source and set of candidates: package model/trial has
// measures of that. An undirected edge is to be found from both of its ends. Nothing is written; memory is that of the
// scores of one node. It returns the errors of Predict and, of a spec, those of CreateModel and Train.
func (s *HoldoutSet) Ask(ctx context.Context, c Contender) (ContenderInfo, iter.Seq2[HeldOut, error], error) {
	rest, info, err := s.prepare(ctx, &c)
	if err != nil {
		return info, nil, err
	}
	if s.fixed != nil {
		return info, func(yield func(HeldOut, error) bool) {
			for i := range s.fixed.parts() {
				out, err := s.compare(ctx, rest, &c, i)
				if !yield(out, err) || err != nil {
					return
				}
				if c.Progress != nil {
					c.Progress(i+1, s.fixed.parts())
				}
			}
		}, nil
	}
	return info, func(yield func(HeldOut, error) bool) {
		for i, source := range s.sources {
			for among := range s.among {
				out, err := s.ask(ctx, rest, &c, source, among)
				if !yield(out, err) || err != nil {
					return
				}
			}
			if c.Progress != nil {
				c.Progress(i+1, len(s.sources))
			}
		}
	}, nil
}

// hiddenLinks are the ends of links that are hidden, the node that is asked about first; ascending.
type hiddenLinks [][2]index.ID

func (h hiddenLinks) sort() { slices.SortFunc(h, ascending) }

// of returns the nodes that a node is to be found linked to, ascending. The slice is the caller's.
func (h hiddenLinks) of(source index.ID) (to []index.ID) {
	at, _ := slices.BinarySearchFunc(h, source, func(p [2]index.ID, u index.ID) int { return cmp.Compare(p[0], u) })
	for ; at < len(h) && h[at][0] == source; at++ {
		to = append(to, h[at][1])
	}
	return to
}

// toBeFound returns the links that edges are to be found as: an undirected one from both of its ends.
func toBeFound(ctx context.Context, pairs [][2]index.ID, directed bool) (links hiddenLinks, err error) {
	for i, p := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		links = append(links, p)
		if !directed {
			links = append(links, [2]index.ID{p[1], p[0]})
		}
	}
	links.sort()
	return links, nil
}

// What a change takes in memory until it is in a base, and a node in the workspace of a solver, in bytes.
const (
	changeBytes = 256
	solverBytes = 72
)

// without returns the graph without many of its edges, which ascend, where there is room for both, or the
// error of ctx.
func (tx *Tx) without(ctx context.Context, edges [][2]index.ID) (*index.Graph, error) {
	g := tx.snap.Graph
	changes, _ := tx.snap.Log.Since(tx.snap.Meta.Base) // the log reaches back further
	bytes := tx.snap.Bytes() + g.Bytes() + changeBytes*int64(len(changes)) + solverBytes*int64(g.NumNodes())
	if err := tx.db.fits(bytes, openShare); err != nil {
		return nil, fmt.Errorf("a holdout with a second graph: %w", err)
	}
	return g.Without(ctx, edges)
}

// drawHidden draws edges, loops left out: exactly the share, in the order of the graph (Knuth, The Art of
// Computer Programming, vol. 2, algorithm 3.4.2 S).
func (tx *Tx) drawHidden(ctx context.Context, share float64, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	left := tx.snap.Meta.Edges - tx.snap.Meta.Loops
	if left < 2 {
		return nil, fmt.Errorf("%w: the graph has %d edges, loops left out: too few to hide some and keep some", ErrInput, left)
	}
	want := min(max(int64(share*float64(left)+0.5), 1), left-1)
	for edge := range tx.snap.Graph.Edges() {
		if edge.U == edge.V {
			continue
		}
		if left%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if rng.Int64N(left) < want {
			pairs = append(pairs, [2]index.ID{edge.U, edge.V})
			want--
		}
		left--
	}
	return pairs, nil
}

// choose finds the sources.
func (s *HoldoutSet) choose(h Holdout, rng *rand.Rand) error {
	if h.For == nil {
		for _, p := range s.hidden {
			if n := len(s.sources); n == 0 || s.sources[n-1] != p[0] {
				s.sources = append(s.sources, p[0])
			}
		}
	} else {
		ids, err := s.whole.listed(h.For)
		if err != nil {
			return err
		}
		s.sources = slices.DeleteFunc(ids, func(id index.ID) bool { return len(s.hidden.of(id)) == 0 })
	}
	if len(s.sources) == 0 {
		return fmt.Errorf("%w: none of the nodes has one of the %d links that are hidden, of %d", ErrInput, s.Hidden, s.Edges)
	}
	if n := h.Sample; n > 0 && n < len(s.sources) {
		rng.Shuffle(len(s.sources), func(i, j int) { s.sources[i], s.sources[j] = s.sources[j], s.sources[i] })
		s.sources = s.sources[:n]
		slices.Sort(s.sources)
	}
	s.Sources = len(s.sources)
	return nil
}

// prepare returns a transaction that reads the graph without the hidden edges and knows the contender under the name and
// version that c then has. It makes and trains the model of a spec.
func (s *HoldoutSet) prepare(ctx context.Context, c *Contender) (rest *Tx, info ContenderInfo, err error) {
	rest = s.whole.on(s.rest)
	switch {
	case c.Spec != nil:
		info, err = s.train(ctx, rest, c)
		return rest, info, err
	case c.Prior:
		rest.snap.models, c.Model, c.Version = nil, "", 0
		info.AnsweredBy = "the learned start"
		return rest, info, nil
	}
	m, err := s.whole.model(c.Model)
	if err == nil {
		m, err = s.whole.version(m, c.Version)
	}
	if err != nil {
		return nil, info, err
	}
	info.AnsweredBy = s.whole.answeredBy(m)
	if m != nil {
		info.Model, info.Version, info.Taught = m.name, m.Version, m.trained
		c.Model, c.Version = m.name, m.Version
	}
	return rest, info, nil
}

// train makes a model of the contender's spec, trains it on the rest if that is of use, and has only the rest know it.
func (s *HoldoutSet) train(ctx context.Context, rest *Tx, c *Contender) (info ContenderInfo, err error) {
	m, err := newModel(*c.Spec, s.whole.snap.Snapshot)
	if err != nil {
		return info, err
	}
	if err := s.askable(ctx, rest, m.Scorer()); err != nil {
		return info, err
	}
	if m.Learns() || m.Fitted() {
		if err := rest.train(ctx, m, Training{Plan: c.Plan}); err != nil {
			return info, err
		}
	}
	c.Model, c.Version, info.AnsweredBy = m.Policy(), 0, "policy "+m.Policy()
	if m.Trained() {
		info.AnsweredBy += ", trained on the other edges"
	}
	l := &learner{name: c.Model, model: m, registry: registry{Version: 1, Versions: []version{{Number: 1}}}}
	rest.snap.models = map[string]*served{l.name: l.serve()}
	return info, nil
}

// askable returns the error that asking for candidates would, before anything is trained for it.
func (s *HoldoutSet) askable(ctx context.Context, rest *Tx, scorer *model.Scorer) error {
	source := s.sources[0]
	for _, c := range s.among {
		if _, _, err := rest.candidates(ctx, source, c, scorer, rest.walker(source, true, 0)); err != nil {
			return err
		}
	}
	return nil
}

// ask predicts the links of one node.
func (s *HoldoutSet) ask(ctx context.Context, rest *Tx, c *Contender, source index.ID, among int) (HeldOut, error) {
	out := HeldOut{Source: s.whole.key(source), Among: among}
	q, scores, err := s.question(ctx, rest, c, source, s.among[among])
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

// question asks a contender about one node.
func (s *HoldoutSet) question(ctx context.Context, rest *Tx, c *Contender, source index.ID, among Candidates) (*question, []model.Score, error) {
	q, err := rest.prepare(ctx, Prediction{For: s.whole.key(source), Among: among, Model: c.Model, Version: c.Version, NoCache: true})
	if err != nil {
		return nil, nil, err
	}
	q.walk.at = s.at
	scores, err := q.score(ctx, rest)
	return q, scores, err
}
