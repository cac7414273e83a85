package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"kith/db/internal/candidate"
	"kith/db/internal/parallel"
	"kith/db/internal/walk"
	"kith/db/internal/wire"
	"kith/db/words"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// PredictOptions requests the links of a node that are likely to be made.
type PredictOptions struct {
	// For is a node or Seeds. The links of a set are scored as if one of its nodes, drawn by
	// weight, made them: Exploit, Explore and Score are the weighted means of what the nodes alone
	// would give the same candidates, computed by one walk.
	For any
	// Among are the candidates. The zero value means PPR(1000), or Similar(1000) for a node without
	// edges. If properties have words, up to 100 of the 4,096 newest nodes are added to PPR: those
	// without edges whose words are most like the words of the node and of the nodes that it is
	// linked to. For a node that a list with labels added, the default candidates are nodes of the
	// kinds that its kind is linked to: for a user in a list of users and items, items. With a
	// Relation, if the scores read rules, they are Likely(300), or Likely(Top) for a Top of up to
	// 1000.
	Among Candidates
	// Relation is the relation of the links: of its edges is what the score says, and nodes that
	// the source has such an edge to are left out of the candidates. "" means all relations
	// together. The score of a link of a directed relation reads its edges in both directions if
	// the relation joins nodes of two labels, or if at most one in eight of its sources, and of its
	// targets, is both.
	Relation string
	Inverse  bool // rank sources of the relation for a target instead
	// RelationWeights multiply the weights of edges by relation in walks over several relations, as
	// Part.Weights do: in the walk of PPR and, without Relation, in what a model reads.
	RelationWeights map[string]float64
	// Model is the name of a model or one of [model.Heuristics]. Default: the model that answers
	// requests without a name (see Model.Deploy), otherwise the built-in model.
	Model string
	// Version is the version of the model; 0 means the deployed one.
	Version int
	// At is the time after which links are predicted, to the second. A model that was trained on
	// edges with times uses it to predict future links. Zero means now, or the second after the
	// newest edge if that is earlier, so that a graph of the past predicts the links that came
	// next. For a node without edges, zero means no time: the prediction uses the whole graph.
	At time.Time
	// Now is the present time that a zero At means. Zero means the clock's; for the questions of a
	// PredictEach, the time of its beginning.
	Now time.Time
	Top int // number of links returned; 0 means 10, a negative number means all
	// Walk overrides options of the model for this answer: alpha, norm, seed_weight and center, or
	// beta and length of katz.
	Walk []Option
	// Epsilon is the error allowed for PageRank, as in Options.Epsilon. 0 means the database's.
	Epsilon float64
	// NoCache computes PageRank from scratch. The answer is then a function of graph version, model
	// and request alone, bit for bit.
	NoCache bool
	// UntilExact lets PageRank stop before Epsilon, as soon as the requested ranks are exact.
	// Candidates and contexts are then computed as with NoCache.
	UntilExact bool
	// RankAll scores all candidates. Otherwise, if the model is a ranker, it scores the most
	// promising ones only: 1,800, in a directed graph 3,000, in a bipartite graph that the model was
	// trained on 200, or 10 for each requested link if that is more. If these are more than a third,
	// it scores all. They are found by products of vectors, PageRank, content, the forecast,
	// outcomes, and numbers of edges. Of the best 20 links at least 99 % were found on the graphs
	// where this was measured.
	RankAll bool
}

// Link is one ranked candidate.
type Link struct {
	Target  Key     `json:"target"`
	Rank    int     `json:"rank"`    // from 1
	Score   float64 `json:"score"`   // the links are ranked by it
	Exploit float64 `json:"exploit"` // estimated reward
	Explore float64 `json:"explore"` // estimated gain of trying it
	PPR     float64 `json:"ppr"`     // part of Score from the walk over the graph: Score - (1-α)(Exploit + Explore)
	Error   float64 `json:"error"`   // certified bound of the numerical error of Score; +Inf if none is known
	Exact   bool    `json:"exact"`   // no numerical error could change this rank, and not all scores are equal
}

// MarshalJSON implements [json.Marshaler].
func (l Link) MarshalJSON() ([]byte, error) { return wire.Object(l) }

// Prediction is the result of Predict.
type Prediction struct {
	Links        []Link `json:"links"`
	Source       Seeds  `json:"source"`
	Model        string `json:"model"` // "" means the built-in model
	ModelVersion int    `json:"model_version"`
	Rounds       int    `json:"rounds"`          // number of outcomes that the model had observed
	AnsweredBy   string `json:"answered_by"`     // for people: the model and its version, or what answered instead, and why
	Remark       string `json:"remark,omitzero"` // for people: what the bounds do not cover, that the relation has no edges, or that all scores are equal
	Tied         bool   `json:"tied,omitzero"`   // all scores are equal, as Remark says: the links are in the order in which the nodes were added
	GraphVersion uint64 `json:"graph_version"`
	Candidates   int    `json:"candidates"`         // number of candidates
	Retrieved    int    `json:"retrieved,omitzero"` // number of candidates scored, the most promising ones; 0 means all
	Linked       int    `json:"linked"`             // number of nodes left out of a generated set because they are linked already
	Missing      int    `json:"missing"`            // number of listed nodes that the graph does not have
	Walk         string `json:"walk"`               // how PageRank was computed; "" if it was not
}

const defaultTop = 10

// most returns the maximum number of links, which is negative for all.
func (p *PredictOptions) most() int { return cmp.Or(p.Top, defaultTop) }

// top returns how many of n links are requested.
func (p *PredictOptions) top(n int) int {
	if p.Top < 0 {
		return n
	}
	return min(p.most(), n)
}

// Predict ranks candidates in a transaction of its own. See [Tx.Predict].
func (db *DB) Predict(ctx context.Context, p PredictOptions) (*Prediction, error) {
	return result(ctx, db.View, func(tx *Tx) (*Prediction, error) { return tx.Predict(ctx, p) })
}

// Predict ranks candidates for links from a node or a set of nodes. It writes nothing. In an Update
// it sees the edges of the transaction, and the models as they were before it. It returns
// ErrNotFound for a missing source or label, ErrNoModel for a missing model or version, ErrInput
// for an invalid option, and ErrTooLarge for a policy that takes more memory than the graph leaves,
// and for candidates that take more than a quarter of Options.Memory.
func (tx *Tx) Predict(ctx context.Context, p PredictOptions) (*Prediction, error) {
	_, answer, err := tx.predict(ctx, p)
	if err != nil {
		return nil, err
	}
	return answer()
}

// predict prepares a prediction. It returns the memory that the answer takes, in bytes, and a
// function that computes the answer.
func (tx *Tx) predict(ctx context.Context, p PredictOptions) (bytes int64, answer func() (*Prediction, error), err error) {
	q, err := tx.resolve(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	if best, same, ok := q.rankNear(tx, &p); ok {
		answer = func() (*Prediction, error) { return q.list(tx, best, same), nil }
		err = ctx.Err()
	} else {
		kept := p // if answer held p, p would be allocated for the other answers too
		answer = func() (*Prediction, error) { return q.answer(ctx, tx, &kept) }
		err = q.find(ctx, tx, &p)
	}
	if err == nil {
		err = q.fits(tx, &p)
	}
	return answerBytes(&p, q.ranking.Candidates), answer, err
}

// rankNear ranks the candidates while it finds them, if they are those of NEIGHBORS(2) and the
// policy counts common neighbours. It reports whether all scores are equal, and whether it ranked.
func (q *question) rankNear(tx *Tx, p *PredictOptions) (best []model.Ranked, same, ok bool) {
	if len(q.start.Node) > 1 || q.about.named || q.about.factors != nil || !q.among.twoSteps() {
		return nil, false, false
	}
	source, linked := q.start.Node[0], 0
	var skip func(index.ID) bool
	if excluded := tx.excluded(source); excluded != nil {
		leaves := candidate.In(excluded)
		skip = func(id index.ID) bool {
			if !leaves(id) {
				return false
			}
			linked++
			return true
		}
	}
	best, n, least, ok := q.scorer.RankNear(q.walk.World(), source, p.most(), skip)
	if !ok {
		return nil, false, false
	}
	to, _ := tx.view().Graph.Out(source)
	if linked += len(to); slices.Contains(to, source) { // a loop
		linked--
	}
	q.ranking.Candidates, q.ranking.Linked = n, linked
	return best, n > 1 && len(best) > 0 && best[0].Score == least, true
}

// list makes the ranking from ranked candidates. same says whether all scores are equal.
func (q *question) list(tx *Tx, best []model.Ranked, same bool) *Prediction {
	r := q.ranking
	r.Links = make([]Link, len(best))
	if same {
		r.Remark, r.Tied = tied, true
	}
	for i, b := range best {
		r.Links[i] = Link{Target: tx.key(b.Node), Rank: i + 1, Score: b.Score, Exploit: b.Score, Exact: !same}
	}
	return r
}

// answer scores the candidates and makes the ranking.
func (q *question) answer(ctx context.Context, tx *Tx, p *PredictOptions) (*Prediction, error) {
	if err := q.retrieve(ctx, p); err != nil {
		return nil, err
	}
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, err
	}
	return q.rank(tx, p, scores), nil
}

// eachRetrieved is the number of candidates that are scored for each requested link, if they are
// more than Scorer.Retrieves says.
const eachRetrieved = 10

// retrieves returns how many of the candidates are scored, 0 if all are: it does not pay to choose
// more than a third.
func (q *question) retrieves(p *PredictOptions) int {
	n := len(q.candidates)
	if p.RankAll || p.UntilExact {
		return 0
	}
	least := q.scorer.Retrieves(q.walk.World(), model.Start(q.start))
	if few := max(least, eachRetrieved*p.top(n)); least > 0 && few < n/3 {
		return few
	}
	return 0
}

// retrieve leaves the most promising candidates if there are many.
func (q *question) retrieve(ctx context.Context, p *PredictOptions) (err error) {
	n := q.retrieves(p)
	if n == 0 {
		return nil
	}
	var world model.World
	q.candidates, world, err = q.scorer.Retrieve(ctx, q.walk.World(), model.Start(q.start), q.candidates, n)
	q.world, q.ranking.Retrieved = &world, len(q.candidates)
	return err
}

// score scores the candidates.
func (q *question) score(ctx context.Context, tx *Tx) ([]model.Score, error) {
	world := q.walk.World()
	if q.world != nil {
		world = *q.world
	}
	scores, err := q.scorer.ScoreSet(ctx, world, model.Start(q.start), q.candidates)
	return scores, tx.withNodeKey(err)
}

// rank makes the ranking from the scores.
func (q *question) rank(tx *Tx, p *PredictOptions, scores []model.Score) *Prediction {
	r := q.ranking
	unbounded := slices.ContainsFunc(scores, func(s model.Score) bool { return math.IsInf(s.Bound, 1) })
	switch {
	case unbounded:
		r.Remark = q.scorer.Unbounded()
	case q.walk.ContextsVary:
		r.Remark = "no bound is known: the model reads PageRank that was repaired; with until = exact it is computed from scratch"
		for i := range scores {
			scores[i].Bound = math.Inf(1)
		}
	case len(scores) > 0 && q.about.named && q.about.view().Graph.NumEdges() == 0:
		r.Remark = q.about.edgesSeen() + " has no edges: the scores say little"
	case allEqual(scores):
		r.Remark, r.Tied = tied, true
	}
	if len(q.walk.Plan) > 0 {
		r.Walk = q.walk.Plan[0].Strategy.String()
	}
	r.Links = q.links(tx, scores, p.top(len(scores)))
	return r
}

// links returns the best candidates, as many as requested.
func (q *question) links(tx *Tx, scores []model.Score, top int) []Link {
	links, vary := make([]Link, min(top, len(scores))), q.walk.SetVaries || allEqual(scores)
	for i, b := range walk.Best(len(scores), top, func(i int) (float64, float64) { return scores[i].Score, scores[i].Bound }) {
		part := &scores[b.Place]
		links[i] = Link{
			Target: tx.key(q.candidates[b.Place]), Rank: i + 1, Score: part.Score,
			Exploit: part.Exploit, Explore: part.Explore, PPR: part.PPR, Error: part.Bound, Exact: b.Certain && !vary,
		}
	}
	return links
}

// tied is the remark on a ranking whose scores are all equal.
const tied = "all scores are equal, so they say nothing: the links are in the order in which the nodes were added"

// allEqual reports whether there are several scores, and all are equal, as the scores of a
// heuristic are if no candidate has a neighbour in common with the source.
func allEqual(scores []model.Score) bool {
	return len(scores) > 1 && !slices.ContainsFunc(scores, func(s model.Score) bool { return s.Score != scores[0].Score })
}

// question is a resolved prediction.
type question struct {
	start      ppr.Vector // distribution of the source nodes
	about      about
	relation   string // its name; "" means all
	among      Candidates
	candidates []index.ID
	scorer     *model.Scorer
	walk       *walk.Walker
	near       *walk.Walker // of the candidates
	world      *model.World // in which retrieved candidates are scored; nil: they were not retrieved
	ranking    *Prediction  // without the links
}

// requestTime returns the time of a question about some sources, in Unix seconds; 0 means none. See
// PredictOptions.At and PredictOptions.Now. It returns ErrInput for a time that is not in the years
// 0 to 9999.
func (tx *Tx) requestTime(at, now time.Time, sources ...index.ID) (int64, error) {
	v := tx.view()
	newest := v.LatestEvent()
	switch {
	case !at.IsZero():
		return unixSeconds(at)
	case newest == 0 || !slices.ContainsFunc(sources, v.Graph.HasEdges):
		return 0, nil
	}
	if now.IsZero() {
		now = tx.db.opts.Now()
	}
	return min(now.Unix(), newest+1), nil
}

// clock returns the time of a question in Unix seconds: at or, if that is zero, now, or the present
// time.
func (tx *Tx) clock(at, now time.Time) int64 {
	switch {
	case !at.IsZero():
		return at.Unix()
	case !now.IsZero():
		return now.Unix()
	}
	return tx.db.opts.Now().Unix()
}

// prepare resolves a prediction and finds its candidates.
func (tx *Tx) prepare(ctx context.Context, p PredictOptions) (*question, error) {
	q, err := tx.resolve(ctx, p)
	if err == nil {
		err = q.find(ctx, tx, &p)
	}
	if err != nil {
		return nil, err
	}
	return q, q.fits(tx, &p)
}

// resolve resolves a prediction, except for its candidates.
func (tx *Tx) resolve(ctx context.Context, p PredictOptions) (*question, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	if !(p.Epsilon >= 0 && p.Epsilon < 1) {
		return nil, inputf("epsilon %v: want a number above 0 and below 1", p.Epsilon)
	}
	start, err := tx.start(p.For)
	if err != nil {
		return nil, err
	}
	m, err := tx.model(p.Model, p.Version)
	if err != nil {
		return nil, err
	}
	on, err := tx.about(p.Relation, p.Inverse)
	if err != nil {
		return nil, err
	}
	weighted, err := tx.weighted(p.RelationWeights)
	if err != nil {
		return nil, err
	}
	if on.factors = weighted.via.Factors; !on.named {
		on.Tx = weighted
	}
	v := tx.view()
	q := &question{start: start, about: on, relation: p.Relation, walk: on.walker(start.Node[0], p.NoCache, p.Epsilon)}
	if q.near = q.walk; on.named {
		q.near = weighted.walker(start.Node[0], p.NoCache, p.Epsilon)
		q.walk.Found = new(model.Found)
		q.near.Typed, q.near.Head, q.near.Found = q.walk.Typed, q.walk.Head, q.walk.Found
	}
	q.walk.Exact = p.UntilExact
	if q.walk.Now, err = tx.requestTime(p.At, p.Now, start.Node...); err != nil {
		return nil, err
	}
	q.ranking = &Prediction{Source: tx.seeds(start), AnsweredBy: tx.answeredBy(m), GraphVersion: v.Meta.Version}
	q.scorer = on.scorer(m, p.NoCache)
	if m != nil {
		q.ranking.Model, q.ranking.ModelVersion, q.ranking.Rounds = m.info.Name, m.Version, m.info.Rounds
	}
	for _, o := range p.Walk {
		if q.scorer, err = q.scorer.With(o.Name, o.Value); err != nil {
			return nil, optionError(err)
		}
	}
	if err := tx.fitsModel(q.ranking.Model, q.scorer, v); err != nil {
		return nil, err
	}
	q.among = tx.among(on, p.Among, start, q.scorer)
	if p.Among.kind == byDefault && q.among.kind == byEvidence {
		q.among.n = max(q.among.n, min(p.Top, mostDefault))
	}
	return q, nil
}

// find finds the candidates.
func (q *question) find(ctx context.Context, tx *Tx, p *PredictOptions) (err error) {
	var out absent
	if q.candidates, out, err = tx.candidates(ctx, q.about, tx.clock(p.At, p.Now), q.start, q.among, q.scorer, q.near); err != nil {
		return err
	}
	n := len(q.candidates)
	q.ranking.Candidates, q.ranking.Linked, q.ranking.Missing = n, out.linked, out.missing
	if p.UntilExact {
		q.walk.Accept = walk.CertainTop(p.top(n))
	}
	return nil
}

// fits returns ErrTooLarge for an answer that takes too much memory.
func (q *question) fits(tx *Tx, p *PredictOptions) error {
	n := q.ranking.Candidates
	bytes := answerBytes(p, n)
	if bytes <= tx.db.opts.memory(workPart) { // most answers do; the text of an error takes time
		return nil
	}
	return tx.db.fitsWork("ranking "+words.Count(n, "candidate"), bytes)
}

// answerBytes returns the memory that an answer takes that ranks n candidates, in bytes.
func answerBytes(p *PredictOptions, n int) int64 {
	return candidateBytes*int64(n) + linkBytes*int64(p.top(n))
}

// candidateBytes is the memory of a candidate while it is scored. linkBytes is the memory of a link
// while it is ranked and returned. Both are in bytes.
const (
	candidateBytes = 160
	linkBytes      = 200
)

// fitsModel returns ErrTooLarge for a model that needs more memory on a graph than there is.
func (tx *Tx) fitsModel(name string, s *model.Scorer, v *index.Snapshot) error {
	need := s.Bytes(v.Graph.NumNodes())
	if need == 0 {
		return nil
	}
	return tx.db.checkMemory(fmt.Sprintf("asking model %q needs", name), need, tx.db.modelMemory(&v.Meta))
}

// Keys yields the keys of the nodes with a label, or of all nodes if label is "", in the order in
// which the nodes were added. It leaves out the first skip of them. It returns ErrNotFound for a
// missing label.
func (tx *Tx) Keys(label string, skip int64) (iter.Seq[Key], error) {
	ids, err := tx.labelled(label)
	if err != nil {
		return nil, err
	}
	return func(yield func(Key) bool) {
		left := skip
		for id := range ids {
			if left--; left < 0 && !yield(tx.key(id)) {
				return
			}
		}
	}, nil
}

// PredictEach answers questions on all processors and yields the answers in the order of the
// questions. Each answer equals the answer of [Tx.Predict] with NoCache, bit for bit, whatever the
// number of processors. The iteration ends with the error of the first question that has one, or of
// ctx.
//
// Answers that are being computed or wait to be yielded take at most a quarter of Options.Memory
// together; an answer that needs more is computed alone. The transaction must not write while
// PredictEach runs. The questions are read in another goroutine.
func (tx *Tx) PredictEach(ctx context.Context, questions iter.Seq[PredictOptions]) iter.Seq2[*Prediction, error] {
	if tx.ended {
		return func(yield func(*Prediction, error) bool) { yield(nil, ErrClosed) }
	}
	questions = withNow(questions, tx.db.opts.Now())
	if tx.batch != nil { // what a transaction has changed is read by one goroutine
		return func(yield func(*Prediction, error) bool) {
			for p := range questions {
				if r, err := tx.Predict(ctx, p); !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
	return parallel.Answers(ctx, questions, tx.db.opts.memory(workPart), tx.predict)
}

// withNow gives questions the present time and keeps them from using the cache, so that all answers
// are of the same time.
func withNow(questions iter.Seq[PredictOptions], now time.Time) iter.Seq[PredictOptions] {
	return func(yield func(PredictOptions) bool) {
		for p := range questions {
			if p.NoCache = true; p.Now.IsZero() {
				p.Now = now
			}
			if !yield(p) {
				return
			}
		}
	}
}
