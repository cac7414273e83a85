package query

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"kith/db"
	"kith/model/trial"
)

func (r *run) evaluateHoldout(s *EvaluateHoldout) (*Rows, error) {
	var m measured
	var set *db.HoldoutSet
	var info db.ContenderInfo
	err := r.view(func(tx *db.Tx) error {
		h, c, err := r.holdout(tx, s)
		if err != nil {
			return err
		}
		if set, err = tx.Holdout(r.ctx, h); err != nil {
			return r.positioned(s.Share.Position(), err)
		}
		var asked iter.Seq2[db.HeldOut, error]
		if info, asked, err = set.Ask(r.ctx, c); err != nil {
			return r.positioned(s.Share.Position(), err)
		}
		for out, err := range asked {
			if err != nil {
				return err
			}
			m.add(&out)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	called := s.Using.Value
	if called == "" {
		called = info.Model
	}
	rows := m.rows(name(called))
	rows.note("%d of %d edges are hidden; %s asked about, with %s to find among %s that are none",
		set.Hidden, set.Edges, count(set.Sources, "node"), count(m.links, "link"), count(m.others, "candidate"))
	rows.note("answered by %s", info.AnsweredBy)
	if info.Taught {
		rows.note("model %s has been taught before, perhaps by links that are hidden now, which flatters it; USING a policy makes one that was not", info.Model)
	}
	return rows, nil
}

// holdout resolves what the statement hides, and whom it asks.
func (r *run) holdout(tx *db.Tx, s *EvaluateHoldout) (h db.Holdout, c db.Contender, err error) {
	if h.Share, err = r.number(s.Share); err != nil {
		return h, c, err
	}
	if len(s.For) > 0 {
		if h.For, err = r.nodes(tx, s.For); err != nil {
			return h, c, err
		}
	}
	sample, err := r.integer(s.Sample, 1, 0)
	if err != nil {
		return h, c, err
	}
	h.Sample, h.Seed = int(sample), r.seed
	if c, err = r.contender(tx, s); err != nil {
		return h, c, err
	}
	var t db.Training
	for _, o := range s.With {
		if err := r.holdoutOption(&h, c.Spec, &t, o); err != nil {
			return h, c, err
		}
	}
	c.Plan = t.Plan
	if tell := r.session.Progress; tell != nil {
		c.Plan.Progress = func(done, total int) { tell(Progress{"training steps", int64(done), int64(total)}) }
		c.Progress = func(done, total int) { tell(Progress{"nodes", int64(done), int64(total)}) }
	}
	among, err := r.candidates(tx, s.Among)
	h.Among = []db.Candidates{among}
	return h, c, err
}

// holdoutOption sets the seed or, for a policy, an option of its training.
func (r *run) holdoutOption(h *db.Holdout, spec *db.ModelSpec, t *db.Training, o Option) error {
	names := []string{"seed"}
	if spec != nil {
		names = append(names, "samples", "negatives", "folds", "epochs")
	}
	switch {
	case !slices.Contains(names, o.Name):
		return unknownOption(o, names)
	case o.Name != "seed":
		return r.trainOption(t, o)
	}
	seed, err := r.integer(o.Value, 1, 0)
	h.Seed, r.seed = uint64(seed), uint64(seed)
	return err
}

// contender resolves what is evaluated, a model or a policy. A name that is both is the model's.
func (r *run) contender(tx *db.Tx, s *EvaluateHoldout) (c db.Contender, err error) {
	called := r.using(s, s.Using)
	known := r.model(tx, called)
	if known == nil {
		c.Model = called.Value
		c.Version, err = r.version(tx, called, s.Version)
		return c, err
	}
	if s.Version != nil {
		return c, known
	}
	if err := db.CheckPolicy(s.Using.Value); err != nil {
		names := db.Policies()
		for _, m := range tx.Models() {
			names = append(names, m.Name)
		}
		msg := fmt.Sprintf("%v is neither a model nor a policy", s.Using)
		return c, &Error{Pos: s.Using.Pos, Msg: msg, DidYouMean: similar(s.Using.Value, names), Err: db.ErrNoModel}
	}
	c.Spec = &db.ModelSpec{Policy: s.Using.Value}
	return c, nil
}

// hitsAt are the K of hits@K.
var hitsAt = [...]int{10, 20, 50, 100}

// measured adds up how well hidden links are found, node by node.
type measured struct {
	links, reached, others, pairs int
	hits                          [len(hitsAt)]float64 // links found
	asked                         int                  // nodes
	short                         [len(hitsAt)]int     // of these, those with links found among fewer than K other candidates
	reciprocal                    float64
	ordered                       float64 // the auc of each link that could be compared
	compared                      int
}

func (m *measured) add(h *db.HeldOut) {
	found, others := float64(len(h.Found)), len(h.Others)
	m.asked++
	m.links += len(h.Hidden)
	m.reached += len(h.Found)
	m.others += others
	m.pairs += len(h.Found) * others
	for i, k := range hitsAt {
		m.hits[i] += found * trial.HitsAt(k, h.Found, h.Others)
		if found > 0 && others < k {
			m.short[i]++
		}
	}
	m.reciprocal += found * trial.MRR(h.Found, h.Others)
	if others > 0 {
		m.ordered += found * trial.AUC(h.Found, h.Others)
		m.compared += len(h.Found)
	}
}

func (m *measured) rows(of any) *Rows {
	rows := &Rows{Columns: []string{"model", "metric", "value", "count", "of"}}
	mean := func(sum float64, n int) any {
		if n == 0 {
			return nil
		}
		return sum / float64(n)
	}
	rows.add(of, "mrr", mean(m.reciprocal, m.links), int64(m.links), "links")
	var short []string
	for i, k := range hitsAt {
		rows.add(of, fmt.Sprintf("hits@%d", k), mean(m.hits[i], m.links), int64(m.links), "links")
		if m.short[i] > 0 {
			short = append(short, fmt.Sprintf("%d of %s at %d", m.short[i], count(m.asked, "node"), k))
		}
	}
	if short != nil {
		rows.note("each candidate that is a link counts for hits@K where its node has fewer than K others: %s", strings.Join(short, ", "))
	}
	rows.add(of, "auc", mean(m.ordered, m.compared), int64(m.pairs), "pairs")
	rows.add(of, "reached", mean(float64(m.reached), m.links), int64(m.links), "links")
	return rows
}
