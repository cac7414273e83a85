package web

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
	"kith/query/internal/why"
)

// question is the part that the bodies of POST /predict, /choose and /why have in common.
type question struct {
	body
	Source     db.Key       `json:"source" means:"the node where the links begin"`
	Relation   string       `json:"relation,omitempty" means:"the relation of the links; otherwise all together"`
	Candidates *set         `json:"candidates,omitempty" means:"the nodes to choose from; otherwise the database chooses"`
	Except     *set         `json:"except,omitempty" means:"nodes that are no candidates"`
	Where      []comparison `json:"where,omitempty" means:"conditions that all candidates satisfy"`
	Model      string       `json:"model,omitempty" means:"a model or a heuristic; otherwise the model that answers"`
	Time       instant      `json:"time,omitempty" means:"the time after which the links are made; otherwise now"`
}

// shape tells questions to different models and about different kinds of candidates apart.
func (q question) shape() string {
	among := ""
	if q.Candidates != nil {
		among = q.Candidates.kind
	}
	return fmt.Sprint(q.Model, " ", q.Relation, " ", among, " ", len(q.Where))
}

// comparison is a condition on a candidate.
type comparison struct {
	Of    string  `json:"of" means:"a property, or node, label, degree or edges"`
	Op    string  `json:"op" means:"=, <>, <, <=, >, >= or, for a list of values, IN"`
	Value operand `json:"value,omitempty" means:"what to compare with; null in = and <> means no value"`
}

// operand is a value of a comparison, as parameters of a statement are.
type operand struct{ value any }

func (o *operand) decode(form keyForm, name string, tree any) (err error) {
	o.value, err = form.argument(name, tree)
	return err
}

// set is a set of nodes: a list of them, or an object with one member of setMembers.
type set struct {
	kind  string // name of the member
	nodes db.Candidates
}

// setMembers are the members of a set. Exactly one of them is given, other than Via and Within.
type setMembers struct {
	Nodes     []db.Key `json:"nodes,omitempty" means:"these nodes; those that do not exist are ignored and counted"`
	All       bool     `json:"all,omitempty" means:"true means all nodes"`
	Label     string   `json:"label,omitempty" means:"the nodes with a label"`
	Neighbors int      `json:"neighbors,omitempty" means:"the nodes within so many edges of the source"`
	PPR       int      `json:"ppr,omitempty" means:"so many nodes with the largest personalised PageRank"`
	Similar   int      `json:"similar,omitempty" means:"so many nodes most similar to the source"`
	Likely    int      `json:"likely,omitempty" means:"so many likely targets of the relation"`
	Sample    int      `json:"sample,omitempty" means:"so many nodes drawn at random"`
	Near      *near    `json:"near,omitempty" means:"the nodes near to a vector"`
	Via       []string `json:"via,omitempty" means:"with neighbors or ppr: the relations whose edges are followed"`
	Within    duration `json:"within,omitempty" means:"with neighbors: only edges of the last time, such as 24h or 7d"`
}

// near is the set of the nodes whose feature vectors have the largest cosine with a vector.
type near struct {
	Vector []float32 `json:"vector"`
	Nodes  int       `json:"nodes" means:"number of nodes"`
}

func (s *set) decode(form keyForm, name string, tree any) error {
	var m setMembers
	if list, isList := tree.([]any); isList {
		tree = parse.Object{"nodes": list}
	}
	if err := form.read(name, tree, reflect.ValueOf(&m).Elem()); err != nil {
		return err
	}
	var keys []any
	for _, k := range m.Nodes {
		keys = append(keys, k)
	}
	given := 0
	for _, c := range []struct {
		kind  string
		given bool
		nodes db.Candidates
	}{
		{"nodes", m.Nodes != nil, db.Keys(keys...)},
		{"all", m.All, db.All()},
		{"label", m.Label != "", db.Label(m.Label)},
		{"neighbors", m.Neighbors > 0, db.Neighbors(m.Neighbors)},
		{"ppr", m.PPR > 0, db.PPR(m.PPR)},
		{"similar", m.Similar > 0, db.Similar(m.Similar)},
		{"likely", m.Likely > 0, db.Likely(m.Likely)},
		{"sample", m.Sample > 0, db.Sample(m.Sample, 0)},
		{"near", m.Near != nil, m.Near.nodes()},
	} {
		if c.given {
			s.kind, s.nodes = c.kind, c.nodes
			given++
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("%s must have one of nodes, all, label, neighbors, ppr, similar, likely, sample and near, got %s", name, words.Count(given, "member"))
	case m.Via != nil && s.kind != "neighbors" && s.kind != "ppr":
		return fmt.Errorf("%s.via needs neighbors or ppr", name)
	case m.Within != 0 && s.kind != "neighbors":
		return fmt.Errorf("%s.within needs neighbors", name)
	}
	if m.Via != nil {
		s.nodes = s.nodes.Via(m.Via...)
	}
	s.nodes = s.nodes.Within(time.Duration(m.Within))
	return nil
}

// nodes returns the set.
func (n *near) nodes() db.Candidates {
	if n == nil {
		return db.Candidates{}
	}
	return db.Near(n.Vector, n.Nodes)
}

// among returns the candidates of a question.
func (q *question) among(tx *db.Tx) (c db.Candidates, err error) {
	if q.Candidates != nil {
		c = q.Candidates.nodes
	}
	for i, w := range q.Where {
		cond := db.Cond{Of: w.Of, Op: w.Op, Value: w.Value.value}
		if _, err := tx.Select(cond); err != nil {
			return c, fmt.Errorf("where[%d]: %w", i, err)
		}
		c = c.Where(cond)
	}
	if q.Except != nil {
		c = c.Except(q.Except.nodes)
	}
	return c, nil
}

// exists returns the error for a node that must exist and does not. member names it in the body.
func exists(tx *db.Tx, member string, k db.Key) error {
	if tx.Has(k) {
		return nil
	}
	if _, err := tx.Node(k); err != nil {
		return fmt.Errorf("%s: %w", member, err)
	}
	return nil
}

// options returns the options of a prediction.
func (q *question) options(tx *db.Tx) (p db.PredictOptions, err error) {
	if err := exists(tx, "source", q.Source); err != nil {
		return p, err
	}
	p = db.PredictOptions{For: q.Source, Relation: q.Relation, Model: q.Model, At: q.Time.Time}
	p.Among, err = q.among(tx)
	return p, err
}

// predictBody is the body of POST /predict.
type predictBody struct {
	question
	Inverse    bool     `json:"inverse,omitempty" means:"with a relation: rank the nodes where its links begin"`
	Top        int      `json:"top,omitempty" means:"number of links; 10 by default"`
	Because    *bool    `json:"because,omitempty" means:"false leaves out the reasons, which saves time"`
	Properties []string `json:"properties,omitempty" means:"properties of the targets to answer with"`
}

func (b predictBody) rows() int { return b.Top }

// predicted is the answer of POST /predict.
type predicted struct {
	answered
	Links      []predictedLink `json:"links" means:"the best first"`
	Candidates int             `json:"candidates" means:"number of candidates"`
	Remark     string          `json:"remark,omitempty" means:"what limits the answer, in words"`
}

// answered says which model gave an answer.
type answered struct {
	Model        string `json:"model,omitempty" means:"absent for the built-in model"`
	ModelVersion int    `json:"model_version,omitempty"`
	GraphVersion uint64 `json:"graph_version"`
	Missing      int    `json:"missing,omitempty" means:"number of listed candidates that do not exist"`
}

// scoredLink is a link with the parts of its score.
type scoredLink struct {
	Target  db.Key  `json:"target"`
	Rank    int     `json:"rank" means:"from 1"`
	Score   float64 `json:"score" means:"the links are ranked by it"`
	Exploit float64 `json:"exploit" means:"estimated reward"`
	Explore float64 `json:"explore" means:"estimated gain of trying the link"`
	PPR     float64 `json:"ppr" means:"contribution of the walk over the graph"`
	Exact   bool    `json:"exact" means:"whether no numerical error can change the rank"`
}

// predictedLink is a link of an answer of POST /predict.
type predictedLink struct {
	scoredLink
	Because    string               `json:"because,omitempty" means:"the strongest reason in words"`
	Label      string               `json:"label,omitempty" means:"of the target"`
	Properties map[string]jsonValue `json:"properties,omitempty" means:"of the target"`
}

func linkOf(l *db.Link) scoredLink {
	return scoredLink{l.Target, l.Rank, l.Score, l.Exploit, l.Explore, l.PPR, l.Exact}
}

// predict answers POST /predict.
func predict(ctx context.Context, tx *db.Tx, b *predictBody) (a predicted, err error) {
	p, err := b.options(tx)
	if err != nil {
		return a, err
	}
	p.Inverse, p.Top = b.Inverse, b.Top
	r, err := tx.Predict(ctx, p)
	if err != nil {
		return a, err
	}
	a = predicted{answered{r.Model, r.ModelVersion, r.GraphVersion, r.Missing}, make([]predictedLink, len(r.Links)), r.Candidates, r.Remark}
	for i := range r.Links {
		if a.Links[i], err = b.link(ctx, tx, p, r, &r.Links[i]); err != nil {
			return a, err
		}
	}
	return a, nil
}

// link returns a link of the answer.
func (b *predictBody) link(ctx context.Context, tx *db.Tx, p db.PredictOptions, r *db.Prediction, l *db.Link) (a predictedLink, err error) {
	a.scoredLink = linkOf(l)
	n, err := tx.Node(l.Target)
	if err != nil {
		return a, err
	}
	a.Label = n.Label
	for _, name := range b.Properties {
		if v, has := n.Properties[name]; has {
			if a.Properties == nil {
				a.Properties = map[string]jsonValue{}
			}
			a.Properties[name] = jsonValue{v}
		}
	}
	if b.Because == nil || *b.Because {
		e, err := tx.Evidence(ctx, p, l.Target)
		if err != nil {
			return a, err
		}
		a.Because = why.Because(e, r.Source)
	}
	return a, nil
}

// chooseBody is the body of POST /choose.
type chooseBody struct {
	question
	Inverse bool     `json:"inverse,omitempty" means:"with a relation: choose nodes where its links begin"`
	Places  int      `json:"places,omitempty" means:"number of different candidates to draw, at most 50; 1 by default"`
	Explore string   `json:"explore,omitempty" means:"the explorer, squarecb or epsilon_greedy; squarecb by default"`
	Gamma   float64  `json:"gamma,omitempty" means:"how much squarecb prefers candidates with better scores; 10 by default"`
	Epsilon *float64 `json:"epsilon,omitempty" means:"share of the draws of epsilon_greedy among all candidates; 0.1 by default"`
	TTL     duration `json:"ttl,omitempty" means:"how long the decision accepts rewards, such as 24h; 7d by default"`
	Seed    uint64   `json:"seed,omitempty" means:"seed of the draw; otherwise the seed of the database"`
}

// chosen is the answer of POST /choose.
type chosen struct {
	answered
	Decision uint64        `json:"decision" means:"number of the decision, for POST /reward"`
	Source   db.Key        `json:"source"`
	Places   []chosenPlace `json:"places"`
	Policy   string        `json:"policy" means:"the explorer"`
	Expires  time.Time     `json:"expires"`
}

// chosenPlace is a place of an answer of POST /choose.
type chosenPlace struct {
	Place      int     `json:"place" means:"from 1"`
	Target     db.Key  `json:"target"`
	Score      float64 `json:"score"`
	Propensity float64 `json:"propensity" means:"probability with which the place shows the target"`
}

// choose answers POST /choose.
func choose(ctx context.Context, tx *db.Tx, b *chooseBody) (a chosen, err error) {
	p, err := b.options(tx)
	if err != nil {
		return a, err
	}
	c := db.ChooseOptions{
		For: p.For, Among: p.Among, Relation: p.Relation, Model: p.Model, At: p.At,
		Inverse: b.Inverse, Places: b.Places, TTL: time.Duration(b.TTL), Seed: b.Seed,
	}
	if c.Explore, err = model.NewExplorer(b.Explore); err != nil {
		return a, fmt.Errorf("%w: explore: %w", db.ErrInput, err)
	}
	if b.Gamma != 0 {
		c.Explore.Gamma = b.Gamma
	}
	if b.Epsilon != nil {
		c.Explore.Epsilon = *b.Epsilon
	}
	d, err := tx.Choose(ctx, c)
	if err != nil {
		return a, err
	}
	a = chosen{
		answered: answered{d.Model, d.ModelVersion, d.GraphVersion, d.Missing},
		Decision: d.ID, Source: d.Source, Policy: d.Explorer, Expires: d.Expires, Places: make([]chosenPlace, len(d.Places)),
	}
	for k, p := range d.Places {
		a.Places[k] = chosenPlace{k + 1, p.Target, p.Score, p.Propensity}
	}
	return a, nil
}

// whyBody is the body of POST /why.
type whyBody struct {
	question
	Target db.Key `json:"target" means:"the node where the link ends"`
}

// explanation is the answer of GET /why and POST /why.
type explanation struct {
	Sentences []string   `json:"sentences"`
	Link      scoredLink `json:"link"`
	answered
}

// explain answers POST /why.
func explain(ctx context.Context, tx *db.Tx, b *whyBody) (e explanation, err error) {
	p, err := b.options(tx)
	if err == nil {
		err = exists(tx, "target", b.Target)
	}
	if err != nil {
		return e, err
	}
	return explained(ctx, tx, p, b.Target)
}

// explained explains the score of a link.
func explained(ctx context.Context, tx *db.Tx, p db.PredictOptions, target db.Key) (e explanation, err error) {
	const paths = 3
	r, err := tx.Why(ctx, p, target, paths)
	if err != nil {
		return e, err
	}
	sentences := append(why.Sentences(r), "Answered by "+r.AnsweredBy+".")
	return explanation{sentences, linkOf(&r.Link), answered{r.Model, r.ModelVersion, r.GraphVersion, r.Missing}}, nil
}
