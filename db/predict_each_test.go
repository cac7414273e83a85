package db_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// each returns the answers of PredictEach to the question p about every node, as texts.
func each(t testing.TB, g *db.DB, p db.PredictOptions) (all []string) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		for r, err := range tx.PredictEach(context.Background(), aboutAll(t, tx, p)) {
			must(t, err)
			all = append(all, text(t, r))
		}
		return nil
	})
	return all
}

// aboutAll yields a question about every node.
func aboutAll(t testing.TB, tx *db.Tx, p db.PredictOptions) iter.Seq[db.PredictOptions] {
	keys, err := tx.Keys("", 0)
	must(t, err)
	return func(yield func(db.PredictOptions) bool) {
		for k := range keys {
			p.For = k
			if !yield(p) {
				return
			}
		}
	}
}

// Each answer of a batch is that of the question alone, bit for bit, with any number of processors,
// and in a transaction with changes.
func TestPredictEach(t *testing.T) {
	nodes := size(80, 150, 150)
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		load(t, g, nodes)
		must(t, g.Model("prb").Create(context.Background(), db.ModelSpec{Policy: "prb"}))
		for _, p := range []db.PredictOptions{
			{Among: db.Neighbors(2)},
			{Model: "adamic_adar", Among: db.Neighbors(2), Top: 3},
			{Model: "prb", Among: db.Sample(20, 7), Top: -1},
			{},
		} {
			var want []string
			for i := range nodes {
				alone := p
				alone.For, alone.NoCache = i, true
				want = append(want, answer(t, g, alone))
			}
			slices.Sort(want) // the nodes are not added in the order of their numbers
			for _, processors := range []int{1, 3} {
				before := runtime.GOMAXPROCS(processors)
				got := each(t, g, p)
				runtime.GOMAXPROCS(before)
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%+v with %d processors differs", p, processors)
				}
			}
		}
		update(t, g, func(tx *db.Tx) error {
			must(t, tx.PutEdge(0, 77))
			for r, err := range tx.PredictEach(context.Background(), aboutAll(t, tx, db.PredictOptions{Among: db.Neighbors(2)})) {
				must(t, err)
				alone, err := tx.Predict(context.Background(), db.PredictOptions{For: r.Source[0].Node, Among: db.Neighbors(2)})
				if must(t, err); text(t, alone) != text(t, r) {
					t.Errorf("%v in an update: %v, alone %v", r.Source, text(t, r), text(t, alone))
				}
			}
			return nil
		})
	}
}

// A batch ends with the error of the first question that has one, with the context, and when the
// caller has enough.
func TestPredictEachEnds(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	load(t, g, 300)
	view(t, g, func(tx *db.Tx) error {
		questions := slices.Values([]db.PredictOptions{{For: 1}, {For: "nobody"}, {For: 2}, {For: 3, Model: "none"}})
		answered := 0
		for r, err := range tx.PredictEach(context.Background(), questions) {
			if answered++; answered == 1 {
				must(t, err)
				continue
			}
			if r != nil || answered > 2 {
				t.Errorf("%d answers", answered)
			}
			wantError(t, "a node that does not exist", err, db.ErrNotFound)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		last := error(nil)
		for _, err := range tx.PredictEach(ctx, aboutAll(t, tx, db.PredictOptions{})) {
			last = err
			cancel()
		}
		wantError(t, "a canceled batch", last, context.Canceled)
		for range tx.PredictEach(context.Background(), aboutAll(t, tx, db.PredictOptions{})) {
			break
		}
		_, err := tx.Keys("nothing", 0)
		wantError(t, "a label that does not exist", err, db.ErrNotFound)
		return nil
	})
}

// The answers of a batch share the memory of one answer, and one that takes more of it than is free
// waits for its turn.
func TestPredictEachMemory(t *testing.T) {
	t.Parallel()
	notShort(t)
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 20_000)
	p := db.PredictOptions{Model: "common_neighbors", Among: db.All(), Top: -1} // 7 MB each
	enough := errors.New("enough")
	err := g.View(context.Background(), func(tx *db.Tx) error {
		n := 0
		for r, err := range tx.PredictEach(context.Background(), aboutAll(t, tx, p)) {
			must(t, err)
			if n++; n == 50 {
				return enough
			}
			if len(r.Links) < 19_000 {
				t.Errorf("%d links", len(r.Links))
			}
		}
		return nil
	})
	wantError(t, "the batch", err, enough)
}

// Contents change with each commit, and are those of a copy.
func TestContents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	contents := func(g *db.DB) (text string) {
		view(t, g, func(tx *db.Tx) error { text = tx.Stats().Contents; return nil })
		return text
	}
	g, other := dbtest.Open(t, inMemory), dbtest.Open(t, inMemory)
	var backup bytes.Buffer
	first := contents(g)
	load(t, g, 30)
	loaded := contents(g)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}))
	made := contents(g)
	load(t, other, 30)
	if first == loaded || loaded == made || contents(other) == loaded {
		t.Errorf("%s, loaded %s, with a model %s, another %s", first, loaded, made, contents(other))
	}
	_, err := g.WriteTo(ctx, &backup)
	path := place(t)
	must(t, err, db.Restore(ctx, path, dbtest.Small(nil), &backup))
	if got := contents(dbtest.Reopen(t, path, nil)); got != made {
		t.Errorf("%s in a copy, want %s", got, made)
	}
}
