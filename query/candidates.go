package query

import (
	"context"
	"reflect"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// Candidates returns the candidates of a set as AMONG writes it, without parameters, such as
// ALL EXCEPT PPR(100).
func Candidates(set string) (db.Candidates, error) {
	s, err := parse.ParseSet(set)
	if err != nil {
		return db.Candidates{}, err
	}
	r := run{session: &Session{}, ctx: context.Background()}
	return r.candidates(s), r.err
}

// candidates returns the candidates of a set, or the zero Candidates if s is nil.
func (r *run) candidates(s parse.Set) db.Candidates {
	switch s := s.(type) {
	case *parse.ListSet:
		return db.Keys(r.each(s.Nodes, r.key)...)
	case *parse.SizedSet:
		n := int(r.integer(s.Size, 1, 1))
		c := map[parse.SetFunction]db.Candidates{
			parse.SetNeighbors: db.Neighbors(n), parse.SetPPR: db.PPR(n), parse.SetSample: db.Sample(n, r.seed), parse.SetSimilar: db.Similar(n),
			parse.SetLikely: db.Likely(n),
		}[s.Function]
		if s.Via != nil {
			c = c.Via(r.relations(s.Via)...)
		}
		return c.Within(r.duration(s.Within))
	case *parse.LabelSet:
		return db.Label(r.label(s.Label))
	case *parse.NearSet:
		return db.Near(r.vector(s), int(r.integer(s.Size, 1, 0))).Where(r.ofNear(s))
	case *parse.AllSet:
		return db.All()
	case *parse.ParamSet:
		return r.setArgument(s)
	case *parse.Combination:
		left, right := r.candidates(s.Left), r.candidates(s.Right)
		switch s.Operator {
		case parse.SetUnion:
			return left.Union(right)
		case parse.SetExcept:
			return left.Except(right)
		}
		return left.Intersect(right)
	}
	return db.Candidates{}
}

// setArgument returns the set given as an argument: a db.Candidates or a slice of nodes.
func (r *run) setArgument(s *parse.ParamSet) db.Candidates {
	x := r.value(s.Param)
	if c, ok := x.(db.Candidates); ok {
		return c
	}
	if reflect.ValueOf(x).Kind() != reflect.Slice {
		r.refuse(s, "%s is not a set: want a slice of nodes, or db.Candidates", words.Value(x))
	}
	return db.Keys(r.each([]parse.Value{s.Param}, r.key)...)
}
