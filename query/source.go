package query

import (
	"kith/db"
	"kith/query/internal/parse"
)

// source is a source of a question, and its place in the statement.
type source struct {
	place
	of any // a db.Key or db.Seeds
}

// sources returns the sources of a list, whose nodes must exist. Each node is one source, and so is
// each element of an argument that is a slice. A set in parentheses, or an argument that is a
// db.Seeds, is also one source.
func (r *run) sources(list []parse.Node) (all []source) {
	for _, n := range list {
		switch n := n.(type) {
		case parse.Seeds:
			all = append(all, source{n, r.seeds(n)})
		case *parse.NearSet:
			all = append(all, source{n, r.nearSeeds(n)})
		case parse.Value:
			if given, isSet := r.value(n).(db.Seeds); isSet {
				_, err := db.CheckSeeds(given)
				r.failAt(n, err)
				all = append(all, source{n, given})
				continue
			}
			for _, v := range r.spread([]parse.Value{n}) {
				all = append(all, source{v, r.node(v)})
			}
		}
	}
	return all
}

// seeds returns a set of sources.
func (r *run) seeds(s parse.Seeds) (seeds db.Seeds) {
	var places []parse.Value
	for _, seed := range s.Nodes {
		weight := r.weight(seed.Weight)
		for _, v := range r.spread([]parse.Value{seed.Node}) {
			seeds, places = append(seeds, db.Seed{Node: r.node(v), Weight: weight}), append(places, v)
		}
	}
	if i, err := db.CheckSeeds(seeds); err != nil && len(places) > 0 {
		r.failAt(places[i], err)
	} else {
		r.failAt(s, err)
	}
	return seeds
}

// nearSeeds returns the nodes near a vector as a source.
func (r *run) nearSeeds(n *parse.NearSet) db.Seeds {
	vector, where := r.vector(n), r.ofNear(n)
	size := int(r.integer(n.Size, 1, 0))
	if r.err != nil {
		return nil
	}
	seeds, err := r.tx.NearSeeds(r.ctx, vector, size, where)
	r.failAt(n, err)
	return seeds
}

// vector returns the vector of a NEAR.
func (r *run) vector(n *parse.NearSet) []float32 {
	list := r.spread(n.Vector)
	vector := make([]float32, len(list))
	for i, v := range list {
		vector[i] = r.feature(v)
	}
	if r.tx != nil && r.err == nil {
		r.failAt(n, r.tx.CheckVector(vector))
	}
	return vector
}

// ofNear returns the condition on the nodes of a NEAR.
func (r *run) ofNear(n *parse.NearSet) (c db.Cond) {
	if r.tx == nil && (n.Label.Value != "" || n.Where != nil) {
		r.refuse(n, "a condition in a set needs a database: write it as a condition on the candidates")
		return c
	}
	if n.Label.Value != "" {
		if _, err := r.tx.Keys(r.label(n.Label), 0); r.fail(err) { // there is no such label
			return c
		}
		c = db.Cond{Of: "label", Op: "=", Value: n.Label.Value}
	}
	if nodes := r.split(n.Where, nil).nodes; nodes != nil {
		c = c.And(*nodes)
	}
	return c
}

// weight returns the weight of an edge or of a node of a set, 1 if v is nil.
func (r *run) weight(v parse.Value) float64 {
	if v == nil {
		return 1
	}
	w := r.number(v)
	if w < 0x1p-40 || w > 0x1p40 {
		r.refuse(v, "weight %v is not a number from 2^-40 to 2^40", w)
	}
	return w
}
