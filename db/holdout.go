package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"kith/index"
	"kith/model"
)

// Holdout asks how well links are found that are hidden.
type Holdout struct {
	Share  float64    // of the edges to hide, above 0 and below 1; at least one is
	For    []any      // the nodes to be asked about; nil: all that have a hidden link
	Sample int        // so many of these nodes, drawn at random; 0: all
	Among  Candidates // as for Prediction, from the graph without the hidden edges
	Model  string     // default: as for Prediction
	// Version of the model; 0: the one that is deployed.
	Version int
	// Spec, if not nil, is evaluated instead of a model: one is made of it, and trained on the edges
	// that are left, by Plan, if its policy learns.
	Spec *ModelSpec
	Plan model.EdgePlan // its Progress is told of the training
	Seed uint64         // of what is hidden and drawn; 0: the database's
	// Progress, if not nil, is told how many of the nodes have been asked about.
	Progress func(done, total int)
}

// HeldOut is what was asked about one node.
type HeldOut struct {
	Source Key       `json:"source"`
	Hidden []Key     `json:"hidden"` // the nodes that it has a hidden edge to, those that were found first
	Found  []float64 `json:"found"`  // the scores of those that were among the candidates
	Others []float64 `json:"others"` // the scores of candidates that it has no edge to, hidden or not
}

// HoldoutInfo says what is hidden, and who is asked.
type HoldoutInfo struct {
	Model      string `json:"model"` // "": the structural prior, or what Spec says
	Version    int    `json:"version"`
	Taught     bool   `json:"taught"`      // the model was trained on edges, or has observed outcomes, that may be hidden now
	AnsweredBy string `json:"answered_by"` // see Ranking
	Edges      int64  `json:"edges"`       // of the graph
	Hidden     int64  `json:"hidden"`      // of these
	Sources    int    `json:"sources"`     // to be asked about
}

// Holdout hides a share of the edges, all of them at once, drawn at random without loops, and asks for
// links from node after node on the graph without them, as Predict with NoCache does. It yields what came
// of each node: package model/trial has measures of that. An undirected edge is to be found from both of
// its ends. Nothing is written; memory is that of a second graph, and of the scores of one node. It returns the errors of
// Predict, ErrTooLarge where there is no room for both graphs, and ErrInput for a share that cannot be and where none of the nodes has a hidden link.
func (tx *Tx) Holdout(ctx context.Context, h Holdout) (HoldoutInfo, iter.Seq2[HeldOut, error], error) {
	e, err := tx.holdout(ctx, h)
	if err != nil {
		return HoldoutInfo{}, nil, err
	}
	return e.info, func(yield func(HeldOut, error) bool) {
		for i, source := range e.sources {
			out, err := e.ask(ctx, source)
			if !yield(out, err) || err != nil {
				return
			}
			if h.Progress != nil {
				h.Progress(i+1, len(e.sources))
			}
		}
	}, nil
}

// exam is a Holdout with everything resolved.
type exam struct {
	Holdout
	info    HoldoutInfo
	whole   *Tx
	rest    *Tx         // without the hidden edges
	hidden  hiddenLinks // each as often as it is to be found
	sources []index.ID  // ascending
}

// hiddenLinks are the ends of links that are hidden, the node that is asked about first; ascending.
type hiddenLinks [][2]index.ID

func (h hiddenLinks) sort() {
	slices.SortFunc(h, func(a, b [2]index.ID) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
}

// of returns the nodes that a node is to be found linked to, ascending. The slice is the caller's.
func (h hiddenLinks) of(source index.ID) (to []index.ID) {
	at, _ := slices.BinarySearchFunc(h, source, func(p [2]index.ID, u index.ID) int { return cmp.Compare(p[0], u) })
	for ; at < len(h) && h[at][0] == source; at++ {
		to = append(to, h[at][1])
	}
	return to
}

func (tx *Tx) holdout(ctx context.Context, h Holdout) (*exam, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	if tx.batch != nil && !tx.batch.Empty() {
		return nil, fmt.Errorf("%w: edges cannot be hidden beside changes that are not committed", ErrInput)
	}
	if !(h.Share > 0 && h.Share < 1) {
		return nil, fmt.Errorf("%w: a share of %v of the edges: want a number between 0 and 1, exclusive", ErrInput, h.Share)
	}
	h.Seed = orDefault(h.Seed, tx.snap.Meta.Seed)
	e := &exam{Holdout: h, whole: tx}
	rng := rand.New(rand.NewPCG(h.Seed, 13))
	pairs, err := tx.drawHidden(ctx, h.Share, rng)
	if err != nil {
		return nil, err
	}
	meta := &tx.snap.Meta
	e.info.Edges, e.info.Hidden = meta.Edges, int64(len(pairs))
	for i, p := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e.hidden = append(e.hidden, p)
		if !meta.Directed {
			e.hidden = append(e.hidden, [2]index.ID{p[1], p[0]})
		}
	}
	e.hidden.sort()
	if err := e.choose(rng); err != nil {
		return nil, err
	}
	rest, err := tx.without(ctx, pairs)
	if err != nil {
		return nil, err
	}
	e.rest = tx.on(rest)
	return e, e.prepare(ctx)
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

// choose finds the nodes to be asked about.
func (e *exam) choose(rng *rand.Rand) error {
	if e.For == nil {
		for _, p := range e.hidden {
			if n := len(e.sources); n == 0 || e.sources[n-1] != p[0] {
				e.sources = append(e.sources, p[0])
			}
		}
	} else {
		ids, err := e.whole.listed(e.For)
		if err != nil {
			return err
		}
		e.sources = slices.DeleteFunc(ids, func(id index.ID) bool { return len(e.hidden.of(id)) == 0 })
	}
	if len(e.sources) == 0 {
		return fmt.Errorf("%w: none of the nodes has one of the %d links that are hidden, of %d", ErrInput, e.info.Hidden, e.info.Edges)
	}
	if n := e.Sample; n > 0 && n < len(e.sources) {
		rng.Shuffle(len(e.sources), func(i, j int) { e.sources[i], e.sources[j] = e.sources[j], e.sources[i] })
		e.sources = e.sources[:n]
		slices.Sort(e.sources)
	}
	e.info.Sources = len(e.sources)
	return nil
}

// prepare finds the model that is asked, or makes it.
func (e *exam) prepare(ctx context.Context) error {
	if e.Spec != nil {
		return e.train(ctx)
	}
	m, err := e.whole.model(e.Model)
	if err == nil {
		m, err = e.whole.version(m, e.Version)
	}
	if err != nil {
		return err
	}
	e.info.AnsweredBy = e.whole.answeredBy(m)
	if m != nil {
		e.info.Model, e.info.Version, e.info.Taught = m.name, m.Version, m.trained
		e.Model, e.Version = m.name, m.Version
	}
	return nil
}

// train makes a model of the spec, trains it on the rest if that is of use, and has only the rest know it.
func (e *exam) train(ctx context.Context) error {
	m, err := newModel(*e.Spec, e.whole.snap.Snapshot)
	if err != nil {
		return err
	}
	if err := e.askable(ctx, m.Scorer()); err != nil {
		return err
	}
	if m.Learns() || m.Fitted() {
		if err := e.rest.train(ctx, m, Training{Plan: e.Plan}); err != nil {
			return err
		}
	}
	e.Model, e.Version, e.info.AnsweredBy = m.Policy(), 0, "policy "+m.Policy()
	if m.Trained() {
		e.info.AnsweredBy += ", trained on the other edges"
	}
	l := &learner{name: e.Model, model: m, registry: registry{Version: 1, Versions: []version{{Number: 1}}}}
	e.rest.snap.models = map[string]*served{l.name: l.serve()}
	return nil
}

// askable returns the error that asking for candidates would, before anything is trained for it.
func (e *exam) askable(ctx context.Context, s *model.Scorer) error {
	source := e.sources[0]
	_, _, err := e.rest.candidates(ctx, source, e.Among, s, e.rest.walker(source, true, 0))
	return err
}

// ask predicts the links of one node.
func (e *exam) ask(ctx context.Context, source index.ID) (HeldOut, error) {
	out := HeldOut{Source: e.whole.key(source)}
	q, err := e.rest.prepare(ctx, Prediction{For: out.Source, Among: e.Among, Model: e.Model, Version: e.Version, NoCache: true})
	if err != nil {
		return out, err
	}
	scores, err := q.score(ctx, e.rest)
	if err != nil {
		return out, err
	}
	linked := e.whole.linkedTo(source)
	missed := e.hidden.of(source)
	for i, c := range q.candidates {
		at, hidden := slices.BinarySearch(missed, c)
		switch {
		case hidden:
			missed = slices.Delete(missed, at, at+1)
			out.Hidden, out.Found = append(out.Hidden, e.whole.key(c)), append(out.Found, scores[i].Score)
		case c != source && !linked(c):
			out.Others = append(out.Others, scores[i].Score)
		}
	}
	for _, c := range missed {
		out.Hidden = append(out.Hidden, e.whole.key(c))
	}
	return out, nil
}
