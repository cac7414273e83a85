package db

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kith/db/internal/candidate"
	"kith/db/internal/walk"
	"kith/db/words"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Candidates is a set of nodes to rank. The zero value lets the database choose; see
// [PredictOptions].
type Candidates struct {
	kind  candidateKind
	keys  []any
	n     int
	label string
	kinds []string // of PPR and SIMILAR: the labels of the nodes; nil means any
	via   []string // of PPR and NEIGHBORS: relations whose edges are followed; nil means all
	// within, if not 0, limits steps of NEIGHBORS to edges of the last duration.
	within time.Duration
	seed   uint64
	parts  *[2]Candidates // of a union, difference or intersection
	where  *Cond          // nil: no condition
	near   []float32      // of NEAR
	// fresh is the number of new nodes without edges that are added to the default PPR and LIKELY.
	fresh int
}

// candidateKind is a kind of set, by its name in the query language.
type candidateKind string

const (
	byDefault    candidateKind = ""
	byPPR        candidateKind = "PPR"
	byKeys       candidateKind = "KEYS"
	byHops       candidateKind = "NEIGHBORS"
	byLabel      candidateKind = "LABEL"
	byAll        candidateKind = "ALL"
	bySample     candidateKind = "SAMPLE"
	bySimilarity candidateKind = "SIMILAR"
	byEvidence   candidateKind = "LIKELY"
	byVector     candidateKind = "NEAR"
	byUnion      candidateKind = "UNION"
	byExcept     candidateKind = "EXCEPT"
	byIntersect  candidateKind = "INTERSECT"
)

// The sizes of the default sets: PPR for sources with edges, SIMILAR for sources without, and
// LIKELY for links of a relation if the model has learned relations. Fresh nodes are added to PPR
// and LIKELY if the model reads the words of nodes.
const (
	defaultPPR     = 1000
	defaultSimilar = 1000
	defaultLikely  = 300  // with 1,000, the MRR of validation links of FB15k-237 and WN18RR is the same
	mostDefault    = 1000 // if more than defaultLikely links are wanted
	defaultFresh   = 100
)

// Keys returns exactly the given nodes. They are ranked whether or not they are linked to the
// source. A repeated node counts once. A node that the graph does not have is ignored, and counted
// in Prediction.Missing.
func Keys(keys ...any) Candidates { return Candidates{kind: byKeys, keys: keys} }

// Neighbors returns the nodes within n steps of the source that the source is not linked to. In a
// directed graph, steps follow the direction of the edges; in a question about a relation, they go
// along edges in both directions, as a node of one side is reached from the other only so.
func Neighbors(n int) Candidates { return Candidates{kind: byHops, n: n} }

// PPR returns the n nodes with the highest personalised PageRank as seen from the source, without
// the source and the nodes it is linked to. The walk goes as the steps of Neighbors do.
func PPR(n int) Candidates { return Candidates{kind: byPPR, n: n} }

// Via returns c, a set of Neighbors or PPR, with steps along the edges of some relations only. A
// combination gets them in both of its parts. Other sets do not take steps, and stay as they are.
func (c Candidates) Via(relations ...string) Candidates {
	if c.via = relations; c.parts != nil {
		c.parts = &[2]Candidates{c.parts[0].Via(relations...), c.parts[1].Via(relations...)}
	}
	return c
}

// Where returns the nodes of c that satisfy a condition. The numbers of PPR, Similar and Sample
// count such nodes only, so the set has as many as there are. In a difference, the condition is
// about the nodes that remain, and not about the nodes that are excluded.
func (c Candidates) Where(cond Cond) Candidates {
	if c.where != nil {
		cond = c.where.And(cond)
	}
	c.where = &cond
	return c
}

// Within returns c, a set of Neighbors, with steps only along edges whose time lies in the last d
// before the time of the question, PredictOptions.At or Now. Edges without a time are in no such
// duration. A combination gets d in both of its parts. Nodes that were shown in the last week are
// Neighbors(1).Via("shown").Within(7 * 24 * time.Hour), and Except leaves them out.
func (c Candidates) Within(d time.Duration) Candidates {
	if c.within = d; c.parts != nil {
		c.parts = &[2]Candidates{c.parts[0].Within(d), c.parts[1].Within(d)}
	}
	return c
}

// Label returns the nodes of a label, without the source and the nodes it is linked to.
func Label(name string) Candidates { return Candidates{kind: byLabel, label: name} }

// All returns all nodes, without the source and the nodes it is linked to.
func All() Candidates { return Candidates{kind: byAll} }

// Sample returns n nodes drawn uniformly at random from all nodes, without the source and the nodes
// it is linked to; all such nodes if there are fewer than n. The draw is a function of graph,
// source and seed. Seed 0 means the database's seed.
func Sample(n int, seed uint64) Candidates { return Candidates{kind: bySample, n: n, seed: seed} }

// Similar returns the n nodes most similar to the source by what the training of the model learned
// of nodes or, without a training, by their feature vectors. If these do not cover the source, or
// cover too few nodes, the nodes with the most incoming edges follow. If labels come from lists, a
// source gets only nodes of the kinds that its own kind is linked to. The source and the nodes that
// it is linked to are left out.
func Similar(n int) Candidates { return Candidates{kind: bySimilarity, n: n} }

// Likely returns the n nodes that are most likely by the evidence for links of a relation: rules
// that a training has learned or the built-in model mines, nodes like the source, PageRank over all
// relations, and the frequent targets of the relation. Without a relation, and for a model that
// knows no rules, it is [PPR]. Nodes that the source is linked to are left out.
func Likely(n int) Candidates { return Candidates{kind: byEvidence, n: n} }

// Near returns the n nodes whose feature vectors have the largest cosine with a vector, without the
// source and the nodes it is linked to. All vectors of the same length are compared. It is an error
// if the vector has only zeros, a number that is not finite, or a length that no node's vector has.
func Near(vector []float32, n int) Candidates { return Candidates{kind: byVector, near: vector, n: n} }

// Union returns the nodes of both sets.
func (c Candidates) Union(other Candidates) Candidates {
	return Candidates{kind: byUnion, parts: &[2]Candidates{c, other}}
}

// Except returns the nodes of c that are not in the other set. Nodes that the other set omits
// because the source is linked to them count as its nodes here: All().Except(Neighbors(2)) are the
// nodes further away.
func (c Candidates) Except(other Candidates) Candidates {
	return Candidates{kind: byExcept, parts: &[2]Candidates{c, other}}
}

// Intersect returns the nodes of c that are also in the other set. Nodes that Keys lists stay
// whether or not they are linked to the source.
func (c Candidates) Intersect(other Candidates) Candidates {
	return Candidates{kind: byIntersect, parts: &[2]Candidates{c, other}}
}

// String returns the set in the syntax of the query language, and adds parentheses, which the
// language does not have.
func (c Candidates) String() string {
	if c.where != nil {
		all, where := c, c.where
		all.where = nil
		return all.String() + " WHERE " + where.String()
	}
	switch c.kind {
	case byDefault:
		return PPR(defaultPPR).String()
	case byKeys:
		return words.Count(len(c.keys), "node") + " as listed"
	case byLabel:
		return "LABEL " + c.label
	case byAll:
		return "ALL"
	case byUnion, byExcept, byIntersect:
		right := c.parts[1].String()
		if c.parts[1].parts != nil {
			right = "(" + right + ")"
		}
		return fmt.Sprintf("%v %s %s", c.parts[0], c.kind, right)
	}
	s := fmt.Sprintf("%s(%d)", c.kind, c.n)
	if c.kind == byVector {
		s = fmt.Sprintf("NEAR(%s, %d)", words.Count(len(c.near), "number"), c.n)
	}
	if c.via != nil && (c.kind == byPPR || c.kind == byHops) {
		s += " VIA " + strings.Join(c.via, ", ")
	}
	if c.within != 0 && c.kind == byHops {
		s += fmt.Sprintf(" WITHIN '%v'", c.within)
	}
	if c.fresh > 0 {
		s += fmt.Sprintf(" and up to %s without edges", words.Count(c.fresh, "new node"))
	}
	if c.kinds != nil {
		s += " of LABEL " + strings.Join(c.kinds, " and ")
	}
	return s
}

// checkSize returns ErrInput for a set that requests no nodes or no steps.
func (c Candidates) checkSize() error {
	if c.within < 0 {
		return inputf("%v: want a duration above 0", c)
	}
	of := map[candidateKind]string{byPPR: "node", bySample: "node", bySimilarity: "node", byEvidence: "node", byVector: "node", byHops: "step"}[c.kind]
	if of == "" || c.n >= 1 {
		return nil
	}
	return inputf("%s(%d): want at least 1 %s", c.kind, c.n, of)
}

// among returns c, or the default set if c is the zero value: LIKELY for links of a relation if the
// model has learned relations, otherwise PPR, or SIMILAR for sources without outgoing edges. For a
// model that reads words, new nodes without edges are added to LIKELY and PPR. If lists defined
// which kinds the kinds of the sources are linked to, SIMILAR and the default PPR are limited to
// these kinds. For a question about a relation, the relation says which nodes count.
func (tx *Tx) among(a about, c Candidates, start ppr.Vector, s *model.Scorer) Candidates {
	v := tx.view()
	linked := func(source index.ID) bool {
		if a.named {
			return v.Graph.HasEdges(source)
		}
		to, _ := v.Graph.Out(source)
		return len(to) > 0
	}
	fresh := 0
	if s.Words() {
		fresh = defaultFresh
	}
	switch {
	case c.kind == byDefault && a.named && s.Relational():
		return Candidates{kind: byEvidence, n: defaultLikely, fresh: fresh, where: c.where}
	case c.kind == byDefault && !slices.ContainsFunc(start.Node, linked):
		c = Candidates{kind: bySimilarity, n: defaultSimilar, where: c.where}
	case c.kind == byDefault:
		c = Candidates{kind: byPPR, n: defaultPPR, fresh: fresh, where: c.where}
	case c.kind != bySimilarity || c.kinds != nil:
		return c
	}
	if a.named {
		return c
	}
	for _, source := range start.Node {
		partners := v.Meta.Labels[v.Label(source)].Partners
		if len(partners) == 0 { // any kind
			c.kinds = nil
			break
		}
		for _, l := range partners {
			if name := v.Meta.Labels[l].Name; !slices.Contains(c.kinds, name) {
				c.kinds = append(c.kinds, name)
			}
		}
	}
	return c
}

// resolver resolves a candidate set as seen from one source. The candidates are resolved
// completely; only then are the nodes removed that are linked to the source and not listed. So each
// part of a combination is complete.
type resolver struct {
	candidate.Source
	tx     *Tx
	about  about
	now    int64               // time of the question, in Unix seconds
	listed []index.ID          // nodes listed by key, ascending; they are offered whether or not they are linked
	side   func(index.ID) bool // whether a node may be on its side of the relation; nil: all may
	where  []Cond              // the conditions on the present set
	absent
}

// restrict makes Accept of what is to be true of the nodes of the present set.
func (r *resolver) restrict() (err error) {
	r.Accept, err = r.acceptance()
	return err
}

// acceptance returns a function for one goroutine, like Accept.
func (r *resolver) acceptance() (func(index.ID) bool, error) {
	accept := r.side
	for _, c := range r.where {
		match, err := selector(r.View, c)
		if err != nil {
			return nil, err
		}
		if before := accept; before != nil {
			accept = func(id index.ID) bool { return before(id) && match(id) }
		} else {
			accept = match
		}
	}
	return accept, nil
}

// absent counts the nodes that are not among the candidates.
type absent struct {
	linked  int // of generated sets, because they are linked to the source
	missing int // listed, but not in the graph
}

// twoSteps reports whether c is NEIGHBORS(2) with steps along all edges.
func (c Candidates) twoSteps() bool {
	return c.kind == byHops && c.n == 2 && c.via == nil && c.within == 0 && c.where == nil
}

// candidates resolves a set to ids, ascending, at the time now of a question about a relation.
func (tx *Tx) candidates(
	ctx context.Context, a about, now int64, start ppr.Vector, c Candidates, s *model.Scorer, w *walk.Walker,
) (ids []index.ID, out absent, err error) {
	linked := candidate.Union(candidate.Ends(a.view().Graph, start.Node...), tx.excluded(start.Node...))
	r := resolver{tx: tx, about: a, now: now, Source: candidate.Source{View: tx.view(), Start: start, Scorer: s, Walk: w, Linked: candidate.In(linked)}}
	if r.side, err = a.side(ctx, c, start.Node[0]); err != nil {
		return nil, out, err
	}
	r.Accept = r.side
	if ids, err = r.set(ctx, c); err != nil {
		return nil, out, err
	}
	ids = walk.Without(ids, r.unlisted(start.Node))
	n := len(ids)
	ids = walk.Without(ids, r.unlisted(linked))
	r.linked += n - len(ids)
	if r.Accept != nil {
		ids = slices.DeleteFunc(ids, func(id index.ID) bool { return !r.Accept(id) && !r.isListed(id) })
	}
	return ids, r.absent, nil
}

// isListed reports whether a node is listed by key.
func (r *resolver) isListed(id index.ID) bool {
	_, listed := slices.BinarySearch(r.listed, id)
	return listed
}

// unlisted returns the nodes of an ascending list that are not listed by key.
func (r *resolver) unlisted(nodes []index.ID) []index.ID {
	if len(r.listed) == 0 {
		return nodes
	}
	return walk.Without(slices.Clone(nodes), r.listed)
}

// set returns the nodes of a set, ascending. The zero value of Candidates means the default of a
// prediction. The caller owns the slice.
func (r *resolver) set(ctx context.Context, c Candidates) (ids []index.ID, err error) {
	if c.where != nil {
		return r.restricted(ctx, c)
	}
	c = r.tx.among(r.about, c, r.Start, r.Scorer)
	if err := c.checkSize(); err != nil {
		return nil, err
	}
	switch c.kind {
	case byKeys:
		ids, err = r.keys(c.keys)
		r.listed = candidate.Union(r.listed, ids)
		return ids, err
	case byHops:
		return r.neighbors(ctx, c)
	case byLabel:
		label, err := labelNumber(r.View, c.label)
		if err != nil {
			return nil, err
		}
		return slices.AppendSeq(make([]index.ID, 0, r.View.Meta.Labels[label].Nodes), r.View.Labelled(label)), nil
	case byAll:
		return slices.AppendSeq(make([]index.ID, 0, r.View.Meta.Live), r.View.Nodes()), nil
	case bySample:
		return r.Sample(c.n, cmp.Or(c.seed, r.View.Meta.Seed)), nil
	case byVector:
		return r.near(ctx, c)
	case bySimilarity:
		return r.Similar(ctx, c.n, c.kinds)
	case byUnion, byExcept, byIntersect:
		return r.combine(ctx, c)
	case byEvidence:
		if r.Walk.Typed != nil && r.Scorer.Relational() {
			return candidate.Union(r.Likely(c.n), r.Fresh(c.fresh, c.kinds)), nil
		}
	}
	via, err := r.via(c)
	if err != nil {
		return nil, err
	}
	ids, linked, err := r.along(via).Nearest(ctx, c.n, c.kinds)
	r.linked += linked
	return candidate.Union(ids, r.Fresh(c.fresh, c.kinds)), err
}

// restricted returns the nodes of a set that satisfy its condition, ascending.
func (r *resolver) restricted(ctx context.Context, c Candidates) (ids []index.ID, err error) {
	outer := r.where
	r.where = append(slices.Clip(outer), *c.where)
	if err := r.restrict(); err != nil {
		return nil, err
	}
	c.where = nil
	if ids, err = r.set(ctx, c); err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id index.ID) bool { return !r.Accept(id) })
	r.where = outer
	return ids, r.restrict()
}

// neighbors resolves a set of Neighbors.
func (r *resolver) neighbors(ctx context.Context, c Candidates) ([]index.ID, error) {
	via, err := r.via(c)
	if err != nil {
		return nil, err
	}
	if c.within == 0 {
		return r.along(via).Within(ctx, c.n)
	}
	graphs := relationGraphs(r.View, via)
	return r.Recent(ctx, graphs, c.n, time.Unix(r.now, 0).Add(-c.within).Unix(), r.now)
}

// relationGraphs returns a graph for each relation and direction of via, as joined edges have one
// time.
func relationGraphs(view *index.Snapshot, via index.Via) (graphs []*index.Graph) {
	for i, relation := range via.Relations {
		one := index.Via{Relations: []uint16{relation}, Inverse: via.Inverse}
		if via.Factors != nil {
			one.Factors = via.Factors[i : i+1]
		}
		graphs = append(graphs, view.Via(one).Graph)
		if one.Inverse = true; via.Both {
			graphs = append(graphs, view.Via(one).Graph)
		}
	}
	return graphs
}

// via returns the edges that the steps of a set follow: those of its relations and, in a question
// about a relation of a directed graph, in both directions.
func (r *resolver) via(c Candidates) (via index.Via, err error) {
	if c.via != nil {
		via, err = r.tx.viaOf(Part{Relations: c.via})
	} else {
		for i := range r.tx.meta().Relations {
			via.Relations = append(via.Relations, uint16(i))
		}
	}
	via.Both = r.about.named && r.View.Graph.Directed()
	if r.about.factors != nil {
		for _, relation := range via.Relations {
			via.Factors = append(via.Factors, r.about.factors[relation])
		}
	}
	return via, err
}

// near returns the nodes of NEAR.
func (r *resolver) near(ctx context.Context, c Candidates) (ids []index.ID, err error) {
	best, err := closest(ctx, r.View, c.near, c.n, func() func(index.ID) bool {
		accept, _ := r.acceptance() // restrict has checked the conditions
		return func(id index.ID) bool { return !r.Has(id) && !r.Linked(id) && (accept == nil || accept(id)) }
	})
	for _, near := range best {
		ids = append(ids, near.ID)
	}
	slices.Sort(ids)
	return ids, err
}

// closest is [candidate.Closest] with errors for a vector that has no neighbours.
func closest(
	ctx context.Context, v *index.Snapshot, vector []float32, n int, accept func() func(index.ID) bool,
) ([]candidate.Near, error) {
	if err := checkVector(v, vector); err != nil {
		return nil, err
	}
	best, found, err := candidate.Closest(ctx, v, vector, n, accept)
	if err == nil && !found {
		err = noVector(v, vector)
	}
	return best, err
}

// CheckVector returns ErrInput for a vector that [Near] and [Tx.NearSeeds] refuse.
func (tx *Tx) CheckVector(vector []float32) error {
	if tx.ended {
		return ErrClosed
	}
	return checkVector(tx.view(), vector)
}

// checkVector returns an error for a vector that has no cosine, and for one that is as long as the
// vectors of no label.
func checkVector(v *index.Snapshot, vector []float32) error {
	zero := true
	for i, x := range vector {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return inputf("a vector whose number %d is %v", i, x)
		}
		zero = zero && x == 0
	}
	if zero {
		return inputf("a vector without a number other than 0 is near to nothing")
	}
	if !slices.ContainsFunc(v.Meta.Labels, func(l index.Label) bool { return l.Features == len(vector) }) {
		return noVector(v, vector)
	}
	return nil
}

func noVector(v *index.Snapshot, vector []float32) error {
	return inputf("no node has a vector of %s%s", words.Count(len(vector), "number"), lengths(v))
}

// lengths says which lengths the vectors of a graph have.
func lengths(v *index.Snapshot) string {
	var all []string
	for _, l := range v.Meta.Labels {
		if l.Features > 0 {
			name := "nodes without a label have"
			if l.Name != "" {
				name = fmt.Sprintf("nodes with label %s have", l.Name)
			}
			all = append(all, fmt.Sprintf("%s %d", name, l.Features))
		}
	}
	if all == nil {
		return ": there are no vectors"
	}
	return ": " + strings.Join(all, ", ")
}

// NearSeeds returns the n nodes whose feature vectors have the largest cosine with a vector, of the
// nodes that satisfy a condition, as a set of sources: each weighs as much as its cosine. Nodes
// whose cosine is not positive are left out. It returns ErrInput for a vector that [Near] refuses,
// and if no node is left.
func (tx *Tx) NearSeeds(ctx context.Context, vector []float32, n int, c Cond) (seeds Seeds, err error) {
	if tx.ended {
		return nil, ErrClosed
	}
	if n < 1 || n > maxSeeds {
		return nil, inputf("NEAR(%d): want 1 to %d nodes", n, maxSeeds)
	}
	v := tx.view()
	if _, err := selector(v, c); err != nil {
		return nil, err
	}
	best, err := closest(ctx, v, vector, n, func() func(index.ID) bool {
		match, _ := selector(v, c) // a function for each goroutine; the condition was checked
		return match
	})
	if err != nil {
		return nil, err
	}
	for _, near := range best {
		if near.Cosine >= index.MinWeight {
			seeds = append(seeds, Seed{tx.key(near.ID), near.Cosine})
		}
	}
	if len(seeds) == 0 {
		return nil, inputf("no node is near the vector")
	}
	return seeds, nil
}

// along returns the source with steps along some edges.
func (r *resolver) along(via index.Via) *candidate.Source {
	if len(via.Relations) == len(r.tx.meta().Relations) && !via.Both && via.Factors == nil {
		return &r.Source
	}
	part, from := r.tx.part(via), r.Source
	from.View = part.view()
	from.Walk = part.walker(r.Walk.Source, r.Walk.Reader == nil, r.Walk.Epsilon)
	from.Walk.Now, from.Walk.Exact = r.Walk.Now, r.Walk.Exact
	return &from
}

// combine returns the union, the difference or the intersection of two sets.
func (r *resolver) combine(ctx context.Context, c Candidates) ([]index.ID, error) {
	a, err := r.set(ctx, c.parts[0])
	if err != nil {
		return nil, err
	}
	listed, side, where, accept := r.listed, r.side, r.where, r.Accept
	if c.kind == byExcept { // what is excluded need not satisfy a condition
		r.side, r.where, r.Accept = nil, nil, nil
	}
	b, err := r.set(ctx, c.parts[1])
	r.side, r.where, r.Accept = side, where, accept
	if err != nil {
		return nil, err
	}
	if c.kind == byUnion {
		return candidate.Union(a, b), nil
	}
	if c.kind == byExcept {
		r.listed = listed // excluded nodes are not offered
		return walk.Without(a, b), nil
	}
	return slices.DeleteFunc(a, func(id index.ID) bool {
		_, both := slices.BinarySearch(b, id)
		return !both
	}), nil
}

// keys resolves listed keys to ids, ascending. It counts missing nodes instead of failing: a list
// may name a node that was deleted a moment ago.
func (r *resolver) keys(keys []any) ([]index.ID, error) {
	var ids []index.ID
	for _, key := range keys {
		k, err := KeyOf(key)
		if err != nil {
			return nil, err
		}
		if id, ok := r.tx.find(k); ok {
			ids = append(ids, id)
		} else {
			r.missing++
		}
	}
	return candidate.Union(nil, ids), nil
}

// about is a transaction that sees the edges that a question is about: those of a relation, or all.
type about struct {
	*Tx
	named    bool // whether the question names a relation
	relation uint16
	inverse  bool
	factors  []float32 // of the weights in walks of candidates, by relation; nil means 1 each
}

// about returns a transaction that sees the edges that a question is about; "" means all.
func (tx *Tx) about(relation string, inverse bool) (about, error) {
	if relation == "" {
		if inverse {
			return about{}, inputf("the inverse of all relations together: want the name of one")
		}
		return about{Tx: tx}, nil
	}
	number, err := tx.relation(relation)
	if err != nil {
		return about{}, err
	}
	via := index.Via{Relations: []uint16{number}, Inverse: inverse}
	if r := &tx.meta().Relations[number]; r.Directed && (r.SourceLabel != r.TargetLabel && r.SourceLabel != 0 && r.TargetLabel != 0 || r.Bipartite()) {
		via.Inverse, via.Both = false, true // hardly an edge leads back, and side tells which end a node is
	}
	part, head := tx.part(via), 2*int32(number)
	if inverse {
		head = tx.all().view().Graph.Inverse(head)
	}
	part.head = &head
	return about{part, true, number, inverse, nil}, nil
}

// oneWay reports whether a link is asked for from one of its ends only.
func (a about) oneWay() bool { return a.view().Graph.Directed() || a.via.Both }

// side returns a function that reports whether a node may be an end of the links that are asked
// for; nil means that every node may. The relation may say which label the ends have. If it does
// not, nodes that are only starts of a bipartite relation are no ends, and ALL and SAMPLE are
// limited to nodes with a label that some end has.
func (a about) side(ctx context.Context, c Candidates, source index.ID) (func(index.ID) bool, error) {
	if !a.named {
		return nil, nil
	}
	v, r := a.view(), &a.meta().Relations[a.relation]
	end, inverse := r.TargetLabel, a.inverse
	if label := v.Label(source); !r.Directed && label != 0 && (label == r.SourceLabel || label == r.TargetLabel) {
		inverse = label == r.TargetLabel // the source says which side it is on
	}
	if inverse {
		end = r.SourceLabel
	}
	if end != 0 {
		return func(id index.ID) bool { return v.Label(id) == end }, nil
	}
	g := v.Graph
	if a.via.Both { // which end a node is, an edge says
		g = a.all().view().Via(index.Via{Relations: a.via.Relations, Inverse: a.inverse}).Graph
	}
	fits := func(id index.ID) bool { return g.InLen(id) > 0 || g.OutLen(id) == 0 }
	switch {
	case !c.has(byAll, bySample) && r.Bipartite():
		return fits, nil
	case !c.has(byAll, bySample):
		return nil, nil
	}
	labels := map[uint16]bool{}
	visited := 0
	for id := range v.Nodes() {
		if visited++; visited%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if g.InLen(id) > 0 {
			labels[v.Label(id)] = true
		}
	}
	if len(labels) == 0 {
		return nil, nil
	}
	return func(id index.ID) bool { return labels[v.Label(id)] && (!r.Bipartite() || fits(id)) }, nil
}

// has reports whether a set, or a part of it, is of one of some kinds.
func (c Candidates) has(kinds ...candidateKind) bool {
	return slices.Contains(kinds, c.kind) || c.parts != nil && (c.parts[0].has(kinds...) || c.parts[1].has(kinds...))
}

// excluded returns the nodes that an edge of an excluding relation joins with one of the sources,
// ascending, or nil if there is no such relation.
func (tx *Tx) excluded(sources ...index.ID) []index.ID {
	var via index.Via
	for i, r := range tx.meta().Relations {
		if r.Exclude {
			via.Relations = append(via.Relations, uint16(i))
		}
	}
	if via.Relations == nil {
		return nil
	}
	leaves := candidate.Ends(tx.view().Via(via).Graph, sources...)
	via.Inverse = true
	return candidate.Union(leaves, candidate.Ends(tx.view().Via(via).Graph, sources...))
}

// ids resolves keys to ids, ascending.
func (tx *Tx) ids(keys []any) ([]index.ID, error) {
	ids := make([]index.ID, 0, len(keys))
	for _, k := range keys {
		id, err := tx.id(k)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Seeds is a weighted set of nodes, one source of a question: which nodes are near the set, which
// links go with it. A set with a single node, whatever its weight, is that node. The order of the
// seeds and a common factor of their weights change no answer.
//
// Candidates of a set are those near any of its nodes: within n steps of any (Neighbors), with the
// highest PageRank of a walk that starts at its nodes by weight (PPR), most similar to each in turn
// (Similar). Nodes of the set, and nodes that any of them is linked to, are left out unless they
// are listed.
//
// In an answer the weights sum to 1, and the seeds have the order in which their nodes were made. A
// source that is a node has one seed there, of weight 1, and is its key in JSON.
type Seeds []Seed

// Seed is a node of a set, and how much it counts.
type Seed struct {
	Node   Key     `json:"node"`
	Weight float64 `json:"weight"` // from 2^-40 to 2^40; 0 means 1
}

// maxSeeds is the maximum number of nodes of a set.
const maxSeeds = 10_000

// CheckSeeds returns ErrInput for a set that no question can have: one that is empty, too large, or
// has a node twice or an invalid weight. i is the index of the seed at fault. CheckSeeds does not
// look the nodes up.
func CheckSeeds(s Seeds) (i int, err error) {
	switch n := len(s); {
	case n == 0:
		return 0, inputf("a set of sources without nodes: want at least 1")
	case n > maxSeeds:
		return maxSeeds, inputf("a set of %d sources: want at most %d", n, maxSeeds)
	}
	given := make(map[Key]bool, len(s))
	for i, seed := range s {
		switch w := seed.Weight; {
		case w != 0 && !(w >= index.MinWeight && w <= index.MaxWeight): // the negation also catches NaN
			return i, inputf("source %v: weight %v is not a number from 2^-40 to 2^40", seed.Node.Literal(), w)
		case given[seed.Node]:
			return i, inputf("source %v is given twice in a set", seed.Node.Literal())
		}
		given[seed.Node] = true
	}
	return 0, nil
}

// String returns the text of a node, or a list in parentheses of at most five nodes with the
// weights to four digits: ann, or (ann WEIGHT 0.25, bob WEIGHT 0.75).
func (s Seeds) String() string { return s.text(Key.String) }

// Literal returns the set as String does, with the nodes in the syntax of the query language.
func (s Seeds) Literal() string { return s.text(Key.Literal) }

func (s Seeds) text(of func(Key) string) string {
	const shown = 5
	if len(s) == 1 {
		return of(s[0].Node)
	}
	var parts []string
	for i, seed := range s {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(s)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s WEIGHT %.4g", of(seed.Node), seed.Weight))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// MarshalJSON implements [json.Marshaler]: a node is written as its key, a set as a list of nodes
// with weights.
func (s Seeds) MarshalJSON() ([]byte, error) {
	if len(s) == 1 && s[0].Weight == 1 {
		return json.Marshal(s[0].Node)
	}
	return json.Marshal(append([]Seed{}, s...)) // a list, also without seeds
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads the output of MarshalJSON.
func (s *Seeds) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]Seed)(s))
	}
	*s = Seeds{{Weight: 1}}
	return json.Unmarshal(b, &(*s)[0].Node)
}

// start resolves a source, which is a node or Seeds, to the distribution of the nodes that a walk
// starts from: ascending, with values that sum to 1.
func (tx *Tx) start(source any) (ppr.Vector, error) {
	seeds, ok := source.(Seeds)
	if !ok {
		id, err := tx.id(source)
		return ppr.Unit(id), err
	}
	if _, err := CheckSeeds(seeds); err != nil {
		return ppr.Vector{}, err
	}
	weight := make(map[index.ID]float64, len(seeds))
	var h ppr.Vector
	for _, s := range seeds {
		id, err := tx.id(s.Node)
		if err != nil {
			return ppr.Vector{}, err
		}
		h.Node, weight[id] = append(h.Node, id), s.Weight
		if s.Weight == 0 {
			weight[id] = 1
		}
	}
	slices.Sort(h.Node)
	total := 0.0
	for _, id := range h.Node {
		total += weight[id]
	}
	for _, id := range h.Node {
		h.Value = append(h.Value, weight[id]/total)
	}
	return h, nil
}

// seeds returns the keys and weights of a start.
func (tx *Tx) seeds(h ppr.Vector) Seeds {
	s := make(Seeds, len(h.Node))
	for i, id := range h.Node {
		s[i] = Seed{tx.key(id), h.Value[i]}
	}
	return s
}
