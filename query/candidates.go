package query

import (
	"context"
	"fmt"
	"reflect"

	"kith/db"
	"kith/query/parse"
)

// Candidates returns the candidates that a set without parameters denotes in a database.
func Candidates(tx *db.Tx, s parse.Set) (db.Candidates, error) {
	r := run{session: &Session{}, ctx: context.Background()}
	return r.candidates(tx, s)
}

// candidates returns the candidates of a set, or the zero Candidates if s is nil.
func (r *run) candidates(tx *db.Tx, s parse.Set) (db.Candidates, error) {
	switch s := s.(type) {
	case *parse.ListSet:
		keys, err := r.nodes(tx, s.Nodes)
		return db.Keys(keys...), err
	case *parse.SizedSet:
		n, err := r.integer(s.Size, 1, 0)
		return map[parse.SetKind]db.Candidates{
			parse.SetNeighbors: db.Neighbors(int(n)), parse.SetPPR: db.PPR(int(n)),
			parse.SetSample: db.Sample(int(n), r.seed), parse.SetSimilar: db.Similar(int(n)),
		}[s.Kind], err
	case *parse.LabelSet:
		return db.Label(s.Label.Value), r.label(tx, s.Label)
	case *parse.AllSet:
		return db.All(), nil
	case *parse.ParamSet:
		return r.setArgument(tx, s)
	case *parse.Combination:
		return r.combination(tx, s)
	}
	return db.Candidates{}, nil
}

func (r *run) combination(tx *db.Tx, s *parse.Combination) (db.Candidates, error) {
	left, err := r.candidates(tx, s.Left)
	if err != nil {
		return left, err
	}
	right, err := r.candidates(tx, s.Right)
	switch s.Operator {
	case parse.SetUnion:
		return db.Union(left, right), err
	case parse.SetExcept:
		return db.Except(left, right), err
	}
	return db.Intersect(left, right), err
}

// setArgument returns the set given as an argument: a db.Candidates or a slice of nodes.
func (r *run) setArgument(tx *db.Tx, s *parse.ParamSet) (db.Candidates, error) {
	x, err := r.argument(s.Param)
	if err != nil {
		return db.Candidates{}, err
	}
	if c, ok := x.(db.Candidates); ok {
		return c, nil
	}
	list := reflect.ValueOf(x)
	if !list.IsValid() || list.Kind() != reflect.Slice {
		return db.Candidates{}, &Error{Pos: s.Pos, Msg: fmt.Sprintf("%v (%T) is not a set: want a slice of nodes, or db.Candidates", x, x), Err: db.ErrInput}
	}
	keys, err := r.nodes(tx, []parse.Value{s.Param})
	return db.Keys(keys...), err
}
