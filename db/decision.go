package db

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/record"
	"kith/db/internal/wire"
	"kith/db/words"
	"kith/index"
	"kith/model"
)

// Decisions.
//
// [DB.Choose] draws a slate of candidates, one for each place of a list, by probabilities that an
// [Explorer] derives from the scores, and commits the decision before it returns: the candidates,
// their scores and probabilities, and the contexts that the model may need. [DB.Reward] reports the
// outcome of a place, once, before the decision expires. The model then learns what an observation
// made at the moment of the choice would have taught it. A decision is identified by a number that
// is never reused. Each takes 23 bytes a candidate, 40 a place, and 4 bytes for each number of the
// contexts that its model needs. From the rewarded ones [DB.EvaluateLog] estimates what another
// model would have earned. [Tx.Observations] and [Tx.Decisions] are the logs.

// Decision is a slate of links that was drawn at random, with the probabilities of the draw.
type Decision struct {
	ID           uint64    `json:"decision"`
	Source       Key       `json:"source"`
	Relation     string    `json:"relation,omitzero"` // of the links; "" means all relations together
	Inverse      bool      `json:"inverse,omitzero"`  // the targets would be sources of edges of the relation
	Places       []Place   `json:"places"`            // the chosen links, the first place first
	Explorer     string    `json:"policy"`            // explorer that derived the probabilities from the scores
	Model        string    `json:"model,omitzero"`    // model that scored; "" means the built-in model
	ModelVersion int       `json:"model_version,omitzero"`
	GraphVersion uint64    `json:"graph_version"` // version of the graph that was read
	Time         time.Time `json:"time"`
	Expires      time.Time `json:"expires"`
	Offers       []Offer   `json:"offered"`          // all candidates
	Missing      int       `json:"missing,omitzero"` // of Choose: number of listed nodes that the graph does not have
}

// Place is a link of a decision.
type Place struct {
	Target     Key     `json:"target"`
	Score      float64 `json:"score"`      // score of the target, from which its propensity is derived
	Propensity float64 `json:"propensity"` // probability with which the target was drawn for this place
	Rewarded   bool    `json:"rewarded"`
	Reward     float64 `json:"reward"`
}

// MarshalJSON implements [json.Marshaler]. Without a reward, the reward is null.
func (p Place) MarshalJSON() ([]byte, error) {
	if !p.Rewarded {
		p.Reward = math.NaN()
	}
	return wire.Object(p)
}

// Offer is a candidate of a decision, and the probability with which the first place shows it.
type Offer struct {
	Target     Key     `json:"target"`
	Score      float64 `json:"score"`
	Propensity float64 `json:"propensity"`
}

// newDecision returns the exported form of d. key returns the key of a node.
func newDecision(d *record.Decision, key func(index.ID) Key) Decision {
	p := Decision{
		ID: d.ID, Source: key(d.Source), Relation: d.Relation, Inverse: d.Inverse, Explorer: d.Explorer, Model: d.Model, ModelVersion: d.Version,
		GraphVersion: d.Graph, Time: time.Unix(0, d.Time).UTC(), Expires: time.Unix(0, d.End).UTC(),
	}
	for k, shown := range d.Places {
		p.Places = append(p.Places, Place{key(d.Target(k)), d.Scores[shown.Chosen], shown.Propensity, shown.Rewarded, shown.Reward})
	}
	for i, c := range d.Candidates {
		p.Offers = append(p.Offers, Offer{key(c), d.Scores[i], d.Propensities[i]})
	}
	return p
}

// Decision returns the decision with this number. It returns ErrNoDecision if there never was one,
// and ErrExpired if it has expired.
func (tx *Tx) Decision(id uint64) (Decision, error) {
	d, err := tx.decision(id)
	if err != nil {
		return Decision{}, err
	}
	return newDecision(d, tx.key), nil
}

func (tx *Tx) decision(id uint64) (*record.Decision, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	if id == 0 || id > tx.view().Meta.Decisions {
		return nil, aboutDecision(id, ErrNoDecision, "was never made")
	}
	d, err := tx.findDecision(id)
	if err != nil {
		return nil, err
	}
	if d == nil || d.End <= tx.db.opts.Now().UnixNano() {
		return nil, aboutDecision(id, ErrExpired, "has expired")
	}
	return d, nil
}

// findDecision returns a decision of the transaction or of the store, or nil if it does not exist.
func (tx *Tx) findDecision(id uint64) (*record.Decision, error) {
	for _, d := range slices.Backward(tx.decided) {
		if d.ID == id {
			return d, nil
		}
	}
	doc, ok, err := index.GetDecision(tx.reader, id)
	if err != nil || !ok {
		return nil, err
	}
	return record.OpenDecision(index.Document{Bytes: doc, At: id}, tx.view().Meta.Nodes)
}

// aboutDecision returns an error about a decision.
func aboutDecision(id uint64, err error, format string, args ...any) error {
	return missing(kindDecision, strconv.FormatUint(id, 10), nil, err, "decision %d "+format, append([]any{id}, args...)...)
}

// Decisions yields the decisions that have not expired, in the order in which they were made. In an
// Update it omits the decisions of the transaction.
func (tx *Tx) Decisions() iter.Seq2[Decision, error] {
	return func(yield func(Decision, error) bool) {
		for d, err := range tx.decisions() {
			if err != nil {
				yield(Decision{}, err)
				return
			}
			if !yield(newDecision(d, tx.key), nil) {
				return
			}
		}
	}
}

func (tx *Tx) decisions() iter.Seq2[*record.Decision, error] {
	return func(yield func(*record.Decision, error) bool) {
		if tx.ended {
			yield(nil, ErrClosed)
			return
		}
		now := tx.db.opts.Now().UnixNano()
		for doc := range index.Decisions(tx.reader, 1) {
			d, err := record.OpenDecision(doc, tx.view().Meta.Nodes)
			if err == nil && d.End <= now {
				continue
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Funnel counts what the decisions of a day by a version of a model showed and what came of it.
type Funnel struct {
	Day          time.Time `json:"day"`            // its beginning, in UTC
	Model        string    `json:"model,omitzero"` // model that scored; "" means the built-in model
	ModelVersion int       `json:"model_version"`  // 0 if no model learns from the rewards
	Decisions    int       `json:"decisions"`      // number of decisions
	Shown        int       `json:"shown"`          // number of their places
	Rewarded     int       `json:"rewarded"`       // number of places with a reward
	Clicked      int       `json:"clicked"`        // number of places with a reward above 0
	Reward       float64   `json:"reward"`         // sum of the rewards
}

// Funnels counts the decisions that have not expired, by day and by version of a model, the latest
// day first. days is the number of days, up to the day of the latest decision. A decision belongs
// to the day on which it was made, also if its reward came later. In an Update the decisions of the
// transaction do not count.
func (tx *Tx) Funnels(ctx context.Context, days int) ([]Funnel, error) {
	if days < 1 {
		return nil, inputf("%d days: want at least 1", days)
	}
	type group struct {
		day     int64
		model   string
		version int
	}
	const day = int64(24 * time.Hour)
	found, latest := map[group]*Funnel{}, int64(math.MinInt64)
	for d, err := range tx.decisions() {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		g := group{d.Time / day, d.Model, d.Version}
		if g.day > latest {
			latest = g.day
			maps.DeleteFunc(found, func(g group, _ *Funnel) bool { return g.day <= latest-int64(days) })
		}
		if g.day <= latest-int64(days) {
			continue
		}
		f := found[g]
		if f == nil {
			f = &Funnel{Day: time.Unix(0, g.day*day).UTC(), Model: d.Model, ModelVersion: d.Version}
			found[g] = f
		}
		f.add(d.Places)
	}
	funnels := []Funnel{}
	for _, f := range found {
		funnels = append(funnels, *f)
	}
	slices.SortFunc(funnels, func(a, b Funnel) int {
		return cmp.Or(b.Day.Compare(a.Day), cmp.Compare(a.Model, b.Model), cmp.Compare(b.ModelVersion, a.ModelVersion))
	})
	return funnels, nil
}

// add counts the places of a decision.
func (f *Funnel) add(places []record.Place) {
	f.Decisions++
	f.Shown += len(places)
	for _, p := range places {
		if p.Rewarded {
			f.Rewarded++
			f.Reward += p.Reward
			if p.Reward > 0 {
				f.Clicked++
			}
		}
	}
}

// maxDropped is the number of expired decisions that a commit may delete in addition to two per
// decision that it made or rewarded. A commit may thus delete more than it adds, so expired
// decisions do not pile up.
const maxDropped = 16

// writeDecisions stores the decisions of the transaction, also in its commit c, and deletes
// decisions that have expired by then.
func (tx *Tx) writeDecisions(w index.Writer, c *index.Commit) error {
	if len(tx.decided) == 0 {
		return nil
	}
	var err error
	if tx.earliest, err = index.DropDecisions(tx.reader, w, tx.db.earliest, c.Time, maxDropped+2*len(tx.decided)); err != nil {
		return err
	}
	for _, d := range tx.decided {
		b, err := msgpack.Marshal(d)
		if err != nil {
			return err
		}
		if err := index.PutDecision(w, d.ID, d.End, b); err != nil {
			return err
		}
		c.Decisions = append(c.Decisions, b)
	}
	return nil
}

// updateEarliest updates DB.earliest. The writer calls it after a commit.
func (tx *Tx) updateEarliest() {
	if len(tx.decided) == 0 {
		return
	}
	tx.db.earliest = tx.earliest
	for _, d := range tx.decided {
		tx.db.earliest = min(tx.db.earliest, d.End)
	}
}

// checkDecisions opens every decision and compares it with the index of expiry times.
func (tx *Tx) checkDecisions(ctx context.Context) error {
	ends := map[uint64]int64{}
	for end, err := range index.DecisionEnds(tx.reader, math.MinInt64) {
		if err != nil {
			return err
		}
		ends[end.ID] = end.At
	}
	for doc := range index.Decisions(tx.reader, 0) {
		d, err := record.OpenDecision(doc, tx.snap.Meta.Nodes)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if end, ok := ends[d.ID]; !ok || end != d.End || d.ID > tx.snap.Meta.Decisions {
			return fmt.Errorf("%w: decision %d of %d ends otherwise than it says", ErrCorrupt, d.ID, tx.snap.Meta.Decisions)
		}
		delete(ends, d.ID)
	}
	if len(ends) > 0 {
		return fmt.Errorf("%w: %d decisions are missing", ErrCorrupt, len(ends))
	}
	return nil
}

// Explorer says how a choice is drawn. See [model.Explorer] and [model.NewExplorer].
type Explorer = model.Explorer

// ChooseOptions requests links of a node to try.
type ChooseOptions struct {
	For    any        // the node
	Among  Candidates // at most 4,096; zero value: as for PredictOptions
	Places int        // number of links, at most 50; 0 means 1. There are fewer if there are fewer candidates.
	// Relation and Inverse say which links are meant, as for PredictOptions.
	Relation string
	Inverse  bool
	Model    string        // default: as for ObserveOptions
	At       time.Time     // default: as for PredictOptions
	Explore  Explorer      // zero value: SquareCB
	TTL      time.Duration // how long the decision is kept and accepts a reward; 0 means 7 days
	Seed     uint64        // seed of the random numbers; 0 means the database's seed
	NoCache  bool          // as for PredictOptions
}

const (
	maxOffers = 4096 // candidates of a choice; the propensity of each is stored
	maxPlaces = 50   // of a slate; the time for the propensities of n places grows with n³
)

// defaultTTL is how long a decision is kept if its choice has no TTL.
const defaultTTL = 7 * 24 * time.Hour

// Choose chooses in a transaction of its own. The decision is committed when Choose returns. See
// [Tx.Choose].
func (db *DB) Choose(ctx context.Context, c ChooseOptions) (Decision, error) {
	return result(ctx, db.Update, func(tx *Tx) (Decision, error) { return tx.Choose(ctx, c) })
}

// Choose draws a candidate for each place with the probabilities that the explorer derives from the
// model's scores. A candidate that has a place already leaves the next one that it is drawn for to
// the best that has none; see [model.Slate]. Choose stores the decision, with everything that a
// model needs to learn from its rewards, until it expires. The draw is a function of the seed and
// the decision's number. The scores are the same as in a prediction with the name of the model,
// which learns from the rewards; see Tx.Observe. Choose returns the errors of Predict, ErrTooLarge
// for more than 4,096 candidates or 50 places, and ErrInput if there are no candidates.
func (tx *Tx) Choose(ctx context.Context, c ChooseOptions) (Decision, error) {
	if _, err := tx.writable(); err != nil {
		return Decision{}, err
	}
	e, err := c.Explore.Resolve()
	if err != nil {
		return Decision{}, optionError(err)
	}
	switch {
	case c.TTL < 0:
		return Decision{}, inputf("TTL %v: want a time above 0", c.TTL)
	case c.Places < 0:
		return Decision{}, inputf("%d places: want a number above 0", c.Places)
	case c.Places > maxPlaces:
		return Decision{}, fmt.Errorf("%w: %d places, a choice may have %d", ErrTooLarge, c.Places, maxPlaces)
	}
	source, err := tx.id(c.For)
	if err != nil {
		return Decision{}, err
	}
	m, err := tx.learnerOf(c.Model)
	if err != nil {
		return Decision{}, err
	}
	q, err := tx.prepare(ctx, PredictOptions{
		For: tx.key(source), Among: c.Among, Relation: c.Relation, Inverse: c.Inverse, Model: m.info.Name, At: c.At, NoCache: c.NoCache,
	})
	if err != nil {
		return Decision{}, err
	}
	d, err := tx.scoreChoice(ctx, q, e)
	if err != nil {
		return Decision{}, err
	}
	d.ID = tx.batch.NextDecision()
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], cmp.Or(c.Seed, tx.view().Meta.Seed))
	binary.LittleEndian.PutUint64(key[8:], d.ID)
	slate := d.Slate()
	shown := slate.Draw(rand.New(rand.NewChaCha8(key)), cmp.Or(c.Places, 1))
	for k, p := range slate.Propensities(shown) {
		d.Places = append(d.Places, record.Place{Chosen: shown[k], Propensity: p})
	}
	if err := tx.keepContexts(ctx, q, d); err != nil {
		return Decision{}, err
	}
	d.Time = tx.db.opts.Now().UnixNano()
	d.End = d.Time + min(int64(cmp.Or(c.TTL, defaultTTL)), math.MaxInt64-max(d.Time, 0)) // saturates at the largest int64
	tx.decided = append(tx.decided, d)
	made := newDecision(d, tx.key)
	made.Missing = q.ranking.Missing
	return made, nil
}

// scoreChoice scores the candidates and derives their probabilities.
func (tx *Tx) scoreChoice(ctx context.Context, q *question, e Explorer) (*record.Decision, error) {
	switch n := len(q.candidates); {
	case n == 0 && q.ranking.Linked > 0:
		return nil, inputf("node %v has no candidates to choose from: it is linked already to the %s of the set", q.ranking.Source.Literal(), words.Count(q.ranking.Linked, "node"))
	case n == 0 && q.ranking.Missing > 0:
		return nil, inputf("node %v has no candidates to choose from: the set is empty, and not in the graph: %s",
			q.ranking.Source.Literal(), words.Count(q.ranking.Missing, "listed node"))
	case n == 0:
		return nil, inputf("node %v has no candidates to choose from: the set is empty", q.ranking.Source.Literal())
	case n > maxOffers:
		return nil, fmt.Errorf("%w: %d candidates, a choice may have %d", ErrTooLarge, n, maxOffers)
	}
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, err
	}
	d := &record.Decision{
		Source: q.start.Node[0], Candidates: q.candidates, Scores: make([]float64, len(scores)), Explorer: e.String(),
		Model: q.ranking.Model, Version: q.ranking.ModelVersion, Graph: q.ranking.GraphVersion,
		Relation: q.relation, Inverse: q.about.inverse,
	}
	for i, s := range scores {
		if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
			return nil, inputf("the score of %v is %v: the model cannot choose", tx.key(d.Candidates[i]).Literal(), s.Score)
		}
		d.Scores[i] = s.Score
	}
	d.Propensities = e.Propensities(d.Scores, q.ranking.Rounds)
	for _, c := range d.Candidates {
		if _, ok := q.about.view().Graph.Edge(d.Source, c); ok {
			d.Linked = append(d.Linked, c)
		}
	}
	return d, nil
}

// keepContexts stores in a decision what its model needs to learn rewards, from the current graph.
func (tx *Tx) keepContexts(ctx context.Context, q *question, d *record.Decision) error {
	if d.Version == 0 {
		return nil // no model will learn from it
	}
	d.Made = tx.snap.models[d.Model].Deployed
	x, err := tx.contexts(ctx, q.scorer, q.walk, d.Source, d.Targets())
	if err != nil {
		return err
	}
	m := tx.learner(d.Model).Model
	d.Columns = m.Columns()
	for k := range d.Places {
		d.Context = append(d.Context, index.PackFloats(m.Trim(d.Outcome(k, x, 0)).Contexts)...)
	}
	return nil
}

// Examined says which places of a slate were seen and left: what a click model tells from the
// places that have a reward. They get the reward 0, unless they have one.
type Examined string

// The click models.
const (
	ExaminedGiven Examined = "given" // no place: rewards are given for all that were seen
	ExaminedAbove Examined = "above" // the places above the last one with a reward above 0
	ExaminedAll   Examined = "all"   // all places
)

// Reward reports the outcome of a decision with one place, in a transaction of its own. See
// [Tx.Reward].
func (db *DB) Reward(ctx context.Context, id uint64, reward float64) error {
	return db.Update(ctx, func(tx *Tx) error { return tx.Reward(ctx, id, reward) })
}

// RewardPlaces reports the outcome of a decision, in a transaction of its own. See
// [Tx.RewardPlaces].
func (db *DB) RewardPlaces(ctx context.Context, id uint64, rewards map[int]float64, examined Examined) error {
	return db.Update(ctx, func(tx *Tx) error { return tx.RewardPlaces(ctx, id, rewards, examined) })
}

// Reward reports the outcome of a decision with one place. It returns ErrInput for a decision with
// several, and the errors of RewardPlaces.
func (tx *Tx) Reward(ctx context.Context, id uint64, reward float64) error {
	d, err := tx.rewardable(ctx, id)
	switch {
	case err != nil:
		return err
	case len(d.Places) > 1:
		return inputf("decision %d has %d places, the reward names none", id, len(d.Places))
	}
	return tx.reward(d, map[int]float64{1: reward}, ExaminedGiven)
}

// RewardPlaces reports the rewards of places of a decision; the first place is 1. Repeating the
// same reward changes nothing. Places may be rewarded one after the other.
//
// When the transaction commits, the model that scored the decision learns the outcomes, each as
// from an observation of the link Among all that was offered, with the graph as it was when the
// choice was made. The version that is deployed at the commit learns. A model that was dropped
// since does not learn, nor does a later model of the same name. A place without a reward teaches
// nothing; in the reward of a slate it counts 0.
//
// RewardPlaces returns ErrNoDecision for a decision that was never made, ErrExpired for one that
// has expired, ErrRewarded for a place that has a different reward, and ErrInput for a place that
// the decision does not have, a reward that is not finite in 32 bits, and an unknown click model.
// After an error no place is changed.
func (tx *Tx) RewardPlaces(ctx context.Context, id uint64, rewards map[int]float64, examined Examined) error {
	d, err := tx.rewardable(ctx, id)
	if err != nil {
		return err
	}
	return tx.reward(d, rewards, examined)
}

// rewardable returns the decision with a number, to reward it.
func (tx *Tx) rewardable(ctx context.Context, id uint64) (*record.Decision, error) {
	if _, err := tx.writable(); err != nil {
		return nil, err
	}
	d, err := tx.decision(id)
	return d, cmp.Or(ctx.Err(), err)
}

// reward is RewardPlaces for a decision that has been read.
func (tx *Tx) reward(d *record.Decision, rewards map[int]float64, examined Examined) error {
	all, err := newRewards(d, rewards, examined)
	if err != nil || len(all) == 0 {
		return err
	}
	rewarded := *d
	rewarded.Places = slices.Clone(d.Places)
	var contexts []float32
	m := tx.snap.models[d.Model]
	learns := m != nil && d.Version != 0 && d.Made >= m.Born // the model still exists
	if learns {
		contexts = index.UnpackFloats(d.Context)
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		rewarded.Places[k].Rewarded, rewarded.Places[k].Reward = true, all[k]
		if learns {
			o := record.Readable(tx.learner(d.Model).Model, d.Columns, d.Outcome(k, contexts, all[k]))
			tx.observes(&pendingObservation{model: d.Model, relation: d.Relation, decision: d.ID, outcome: o})
		}
	}
	tx.decided = append(tx.decided, &rewarded)
	return nil
}

// newRewards returns the rewards, by place from 0, that a decision does not have yet.
func newRewards(d *record.Decision, rewards map[int]float64, examined Examined) (map[int]float64, error) {
	if !slices.Contains([]Examined{ExaminedGiven, ExaminedAbove, ExaminedAll}, examined) {
		return nil, inputf("examined %q (accepted: %s, %s and %s)", examined, ExaminedGiven, ExaminedAbove, ExaminedAll)
	}
	all := map[int]float64{}
	for place, reward := range rewards {
		if err := checkReward(reward); err != nil {
			return nil, err
		}
		if place < 1 || place > len(d.Places) {
			return nil, inputf("place %d of decision %d (accepted: from 1 to %d)", place, d.ID, len(d.Places))
		}
		switch p := d.Places[place-1]; {
		case !p.Rewarded:
			all[place-1] = reward
		case p.Reward != reward:
			return nil, aboutDecision(d.ID, ErrRewarded, "has reward %v%s already", p.Reward, atPlace(d, place))
		}
	}
	seen := 0
	for k, p := range d.Places {
		if examined == ExaminedAll || examined == ExaminedAbove && max(p.Reward, all[k]) > 0 {
			seen = k + 1
		}
	}
	for k, p := range d.Places[:seen] {
		if _, given := all[k]; !given && !p.Rewarded {
			all[k] = 0
		}
	}
	return all, nil
}

// atPlace says at which place of a slate something is.
func atPlace(d *record.Decision, place int) string {
	if len(d.Places) == 1 {
		return ""
	}
	return fmt.Sprintf(" at place %d", place)
}

// checkReward returns ErrInput for a reward that is not finite in 32 bits.
func checkReward(x float64) error {
	if !(math.Abs(x) <= math.MaxFloat32) {
		return inputf("reward %v (accepted: from -3.4e38 to 3.4e38)", x)
	}
	return nil
}
