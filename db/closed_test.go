package db_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

// Every method of a transaction that has ended returns ErrClosed or, without an error to return,
// nothing. So does every method of a handle of a model that the transaction made.
func TestEndedTx(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, writable := range map[string]bool{"view": false, "update": true} {
		t.Run(name, func(t *testing.T) {
			g := dbtest.Open(t, inMemory)
			load(t, g, 40)
			must(t, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Reward: 1}))
			d, err := g.Choose(ctx, db.ChooseOptions{For: 1})
			must(t, err)
			tx, err := g.Begin(ctx, writable)
			must(t, err)
			handle := tx.Model("default")
			must(t, tx.Rollback())
			testEnded(t, reflect.ValueOf(tx), d.ID)
			testEnded(t, reflect.ValueOf(handle), d.ID)
		})
	}
}

// testEnded calls each method of a value whose transaction has ended.
func testEnded(t *testing.T, of reflect.Value, decision uint64) {
	given := map[reflect.Type]any{
		reflect.TypeFor[context.Context]():             context.Background(),
		reflect.TypeFor[any]():                         1,
		reflect.TypeFor[[]any]():                       []any{1, 2},
		reflect.TypeFor[db.Key]():                      db.Int(1),
		reflect.TypeFor[db.Node]():                     db.Node{Key: db.Int(1)},
		reflect.TypeFor[uint64]():                      decision,
		reflect.TypeFor[db.PredictOptions]():           db.PredictOptions{For: 1},
		reflect.TypeFor[db.PageRankOptions]():          db.PageRankOptions{From: 1},
		reflect.TypeFor[db.ChooseOptions]():            db.ChooseOptions{For: 1},
		reflect.TypeFor[db.ObserveOptions]():           db.ObserveOptions{Source: 1, Target: 2},
		reflect.TypeFor[db.NeighborhoodOptions]():      db.NeighborhoodOptions{Of: 1},
		reflect.TypeFor[db.EvaluateOptions]():          db.EvaluateOptions{Share: 0.1},
		reflect.TypeFor[iter.Seq[db.PredictOptions]](): iter.Seq[db.PredictOptions](func(func(db.PredictOptions) bool) {}),
		reflect.TypeFor[func() error]():                func() error { return nil },
		reflect.TypeFor[func(*db.Tx) error]():          func(*db.Tx) error { return nil },
		reflect.TypeFor[time.Time]():                   time.Time{},
		reflect.TypeFor[int]():                         1,
	}
	for i := range of.NumMethod() {
		name, m := of.Type().Method(i).Name, of.Method(i)
		var args []reflect.Value
		for k := range m.Type().NumIn() {
			in := m.Type().In(k)
			if m.Type().IsVariadic() && k == m.Type().NumIn()-1 {
				continue
			}
			switch v, ok := given[in]; {
			case ok:
				args = append(args, reflect.ValueOf(v).Convert(in))
			case in.Kind() == reflect.Interface && reflect.TypeFor[*bytes.Buffer]().Implements(in):
				args = append(args, reflect.ValueOf(&bytes.Buffer{}))
			default:
				args = append(args, reflect.Zero(in))
			}
		}
		out := m.Call(args)
		if err := lastError(out); err != nil {
			if !errors.Is(err, db.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, v := range out {
			if !v.IsZero() && name != "Model" && name != "Gonum" {
				t.Errorf("%s returns %v", name, v)
			}
		}
	}
}

// lastError returns the error that is the last result of a call, or that its iterator yields.
func lastError(out []reflect.Value) error {
	last := out[len(out)-1]
	if err, ok := last.Interface().(error); ok {
		return err
	}
	if last.Kind() != reflect.Func || last.IsNil() {
		return nil
	}
	for _, v := range last.Seq2() {
		err, _ := v.Interface().(error)
		return err
	}
	return nil
}
