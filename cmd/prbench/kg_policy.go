package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"kith/db"
)

// kgPolicy ranks the answers of questions.
type kgPolicy func(context.Context, []kgQuestion) ([]float64, error)

// kgTrained is a database with a trained model, which is made when it is first asked for.
type kgTrained struct {
	plan *kgPlan
	of   *knowledge // what the model learns
	on   *knowledge // what it is asked about
	g    *db.DB
	took time.Duration
}

func (t *kgTrained) close() error {
	if t.g == nil {
		return nil
	}
	return t.g.Close()
}

// open returns the database, with a model of the name default.
func (t *kgTrained) open(ctx context.Context) (*db.DB, error) {
	if t.g != nil {
		return t.g, nil
	}
	g, err := t.of.load(ctx)
	if err != nil {
		return nil, err
	}
	t.g = g
	if t.took, err = trainDefault(ctx, g, t.plan.seed, ""); err != nil {
		return nil, err
	}
	if t.of == t.on {
		return g, nil
	}
	var file bytes.Buffer
	t.g = nil // closed here
	if err := errors.Join(g.Model("default").Export(ctx, &file, 0), g.Close()); err != nil {
		return nil, err
	}
	if t.g, err = t.on.load(ctx); err != nil {
		return nil, err
	}
	_, err = t.g.Model("default").Import(ctx, &file)
	return t.g, err
}

// policy returns the policy with a name, and how long its training took.
func (p *kgPlan) policy(ctx context.Context, k *knowledge, t *kgTrained, name string) (kgPolicy, time.Duration, error) {
	switch name {
	case "frequency":
		return k.byFrequency, 0, nil
	case "default", "rules":
		g, err := t.open(ctx)
		if err != nil {
			return nil, 0, err
		}
		if name == "rules" {
			return func(ctx context.Context, questions []kgQuestion) ([]float64, error) {
				return k.byRules(ctx, g, questions)
			}, t.took, nil
		}
		return func(ctx context.Context, questions []kgQuestion) ([]float64, error) {
			return k.byModel(ctx, g, "default", questions)
		}, t.took, nil
	}
	return func(ctx context.Context, questions []kgQuestion) ([]float64, error) {
		g, err := k.load(ctx)
		if err != nil {
			return nil, err
		}
		defer g.Close()
		model := name
		if name == "prior" {
			model = "" // no model is trained
		}
		return k.byModel(ctx, g, model, questions)
	}, 0, nil
}

// byFrequency returns the ranks by the number of triples of the relation that an entity answers.
func (k *knowledge) byFrequency(_ context.Context, questions []kgQuestion) (ranks []float64, err error) {
	for _, q := range questions {
		scores := map[string]float64{}
		for e, n := range k.counts[q.side()] {
			scores[e] = float64(n)
		}
		ranks = append(ranks, k.rank(q, scores))
	}
	return ranks, nil
}

// rulesOf is the number of the most confident rules that count for an answer.
const rulesOf = 5

// byRules returns the ranks by the noisy-or of the rules that lead to an answer.
func (k *knowledge) byRules(ctx context.Context, g *db.DB, questions []kgQuestion) (ranks []float64, err error) {
	rows := map[db.RuleStep]map[string][]string{}
	for _, t := range k.train {
		for _, q := range bothWays([]triple{t}) {
			step := db.RuleStep{Relation: t.relation, Inverse: q.inverse}
			if rows[step] == nil {
				rows[step] = map[string][]string{}
			}
			rows[step][q.given()] = append(rows[step][q.given()], q.answer())
		}
	}
	learned, frequencies := map[kgSide][]db.Rule{}, map[kgSide]map[string]float64{}
	err = g.View(ctx, func(tx *db.Tx) error {
		for side := range k.counts {
			frequencies[side] = k.frequencies(side)
			if learned[side], err = tx.Rules(side.relation, side.inverse, "default", 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ranks = append(ranks, k.rank(q, scoresByRules(rows, learned[q.side()], frequencies[q.side()], q.given())))
	}
	return ranks, nil
}

// frequencies returns, by target, the share of the sources that it answers: the confidence of a
// rule without a body.
func (k *knowledge) frequencies(side kgSide) map[string]float64 {
	all := map[string]float64{}
	sources := len(k.counts[kgSide{side.relation, !side.inverse}])
	for e, n := range k.counts[side] {
		all[e] = float64(n) / float64(sources)
	}
	return all
}

// scoresByRules returns the noisy-or of the rules that lead from a source to each target, and of
// the frequency of the target.
func scoresByRules(rows map[db.RuleStep]map[string][]string, rules []db.Rule, frequency map[string]float64, source string) map[string]float64 {
	evidence, fired := map[string]float64{}, map[string]int{}
	for e, share := range frequency {
		evidence[e] = -math.Log1p(-min(share, .999))
	}
	for _, r := range rules { // the most confident first
		if r.Against() {
			continue
		}
		for e := range endsOf(rows, r.Body, source) {
			if fired[e]++; fired[e] <= rulesOf {
				evidence[e] -= math.Log1p(-min(r.Confidence, .999))
			}
		}
	}
	return evidence
}

// mostEnds is the number of ends above which a rule counts for nothing.
const mostEnds = 1000

// endsOf returns the ends of the paths along a body that do not come back to their source.
func endsOf(rows map[db.RuleStep]map[string][]string, body []db.RuleStep, source string) map[string]bool {
	at := map[string]bool{source: true}
	for _, step := range body {
		next := map[string]bool{}
		for e := range at {
			for _, to := range rows[step][e] {
				if to != source {
					next[to] = true
				}
			}
		}
		if at = next; len(at) > mostEnds {
			return nil
		}
	}
	return at
}

// byModel returns the ranks by the predictions of a model or heuristic, "" for the one that
// answers.
func (k *knowledge) byModel(ctx context.Context, g *db.DB, model string, questions []kgQuestion) ([]float64, error) {
	ranks := make([]float64, len(questions))
	question := func(i int) db.PredictOptions { return k.ask(questions[i], model) }
	err := predictEach(ctx, g, len(questions), question, func(i int, links []db.Link) {
		scores := map[string]float64{}
		for _, l := range links {
			scores[l.Target.Value().(string)] = l.Score
		}
		ranks[i] = k.rank(questions[i], scores)
	})
	return ranks, err
}

// ask returns the request of a question.
func (k *knowledge) ask(q kgQuestion, model string) db.PredictOptions {
	among := db.Likely(300)
	if k.apart {
		among = among.Except(db.Neighbors(1))
	}
	if q.among != nil {
		var keys []any
		for _, e := range append(q.among, q.answer()) {
			if k.linked[e] {
				keys = append(keys, db.Str(e))
			}
		}
		among = db.Keys(keys...)
	}
	return db.PredictOptions{For: db.Str(q.given()), Relation: q.relation, Inverse: q.inverse, Among: among, Model: model, Top: -1, NoCache: true, Epsilon: 1e-4}
}

// draw returns entities that are no answers of a question.
func (k *knowledge) draw(rng *rand.Rand, all []string, q kgQuestion, n int) (drawn []string) {
	seen, answers := map[string]bool{}, k.answers[q.key()]
	for range 100 * n {
		e := all[rng.IntN(len(all))]
		if _, ok := slices.BinarySearch(answers, e); ok || seen[e] || e == q.given() {
			continue
		}
		seen[e] = true
		if drawn = append(drawn, e); len(drawn) == n {
			break
		}
	}
	return drawn
}

// rank returns the filtered rank of the answer. Entities without a score are below all others.
func (k *knowledge) rank(q kgQuestion, scores map[string]float64) float64 {
	own, reached := scores[q.answer()]
	others := len(q.among) // candidates beside the answer
	if q.among != nil {
		maps.DeleteFunc(scores, func(e string, _ float64) bool { return e != q.answer() && !slices.Contains(q.among, e) })
	} else {
		others = len(k.entities) - len(k.answers[q.key()])
		for _, e := range k.answers[q.key()] {
			if e != q.answer() {
				delete(scores, e)
			}
		}
	}
	greater, equal := 0, 0
	for e, s := range scores {
		switch {
		case e == q.answer():
		case !reached || s > own:
			greater++
		case s == own:
			equal++
		}
	}
	if !reached {
		equal = others - greater
	}
	return 1 + float64(greater) + float64(equal)/2
}
