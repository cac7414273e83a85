package db_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
	"kith/model"
)

// randomList returns a list of random edges.
func randomList(nodes, edges int) string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for range edges {
		fmt.Fprintln(&b, rng.IntN(nodes), rng.IntN(nodes))
	}
	return b.String()
}

// Long work checks its context regularly in all its phases, and ends when a check fails.
func TestCancel(t *testing.T) {
	t.Parallel()
	cancelNodes, cancelEdges := size(1<<11, 1<<12, 1<<14), size(1<<13, 1<<14, 1<<16)
	ctx, list := context.Background(), randomList(cancelNodes, cancelEdges)
	load := func(ctx context.Context, g *db.DB) error {
		_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{})
		return err
	}
	g := dbtest.Open(t, &db.Options{NoSync: true})
	must(t, load(ctx, g), g.Model("m").Create(ctx, model.Spec{}), g.Model("f").Create(ctx, model.Spec{Policy: "prb"}))
	var backup bytes.Buffer
	_, err := g.WriteTo(ctx, &backup)
	must(t, err)

	plan := model.EdgePlan{Samples: 20, Folds: 2, Epochs: 2}
	view := func(f func(context.Context, *db.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error {
			return g.View(context.Background(), func(tx *db.Tx) error { return f(ctx, tx) })
		}
	}
	holdout := func(ctx context.Context, o db.EvaluateOptions, c db.Contender) error {
		o.Contenders = []db.Contender{c}
		return view(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Evaluate(ctx, o)
			return err
		})(ctx)
	}
	for name, op := range map[string]struct {
		visits int // lower bound of the nodes, edges and candidates that the work visits
		do     func(context.Context) error
	}{
		"check": {cancelNodes + 4*cancelEdges, g.Check},
		"load": {2 * cancelEdges, func(ctx context.Context) error {
			return load(ctx, dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20}))
		}},
		"measure": {2 * cancelEdges, func(ctx context.Context) error {
			_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{DryRun: true})
			return err
		}},
		"backup": {cancelEdges, func(ctx context.Context) error { _, err := g.WriteTo(ctx, io.Discard); return err }},
		"restore": {cancelEdges, func(ctx context.Context) error {
			return db.Restore(ctx, filepath.Join(t.TempDir(), "g"), nil, bytes.NewReader(backup.Bytes()))
		}},
		"export": {3 * cancelEdges / 2, view(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.WriteEdges(ctx, io.Discard, db.ListOptions{})
			return err
		})},
		"neighbors": {cancelEdges, view(func(ctx context.Context, tx *db.Tx) error {
			for _, err := range tx.Reach(ctx, 0, 9, 0) {
				if err != nil {
					return err
				}
			}
			return nil
		})},
		"predict": {cancelNodes, view(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Predict(ctx, db.PredictOptions{For: 0, Among: db.All(), Model: "m", NoCache: true})
			return err
		})},
		"rank": {0, view(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.PageRank(ctx, db.PageRankOptions{From: 0, NoCache: true})
			return err
		})},
		"predict by a formula": {cancelNodes, func(ctx context.Context) error {
			return holdout(ctx, db.EvaluateOptions{Share: 0.1, Sample: 1, Among: []db.Candidates{db.All()}}, db.Contender{Spec: &db.ModelSpec{Policy: "adamic_adar"}})
		}},
		"holdout": {cancelEdges, func(ctx context.Context) error {
			return holdout(ctx, db.EvaluateOptions{Share: 0.5, Sample: 1}, db.Contender{Plan: plan, Spec: &db.ModelSpec{}})
		}},
		"train": {cancelEdges / 10, func(ctx context.Context) error {
			_, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: plan})
			return err
		}},
		"fit": {cancelEdges / 10, func(ctx context.Context) error {
			_, err := g.Model("f").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 10, Negatives: 1, Folds: 2, Epochs: 1}})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "holdout", "train":
				slow(t)
			case "fit":
				notShort(t)
			}
			whole := dbtest.NewCountdown(0)
			must(t, op.do(whole))
			checks := whole.Checks()
			if want := op.visits / (1 << 14); checks < want {
				t.Errorf("the context is checked %d times, want at least %d", checks, want)
			}
			at := []int{1, checks / 3, 2 * checks / 3, checks - 1}
			for i := 1; name == "rank" && i < checks; i++ {
				at = append(at, i)
			}
			for _, at := range at {
				c := dbtest.NewCountdown(max(at, 1))
				if err := op.do(c); !errors.Is(err, context.Canceled) {
					t.Errorf("check %d of %d says canceled: %v", at, checks, err)
				}
				if late := c.Checks() - max(at, 1); late > 100 {
					t.Errorf("canceled at check %d of %d, the work went on for %d more", at, checks, late)
				}
			}
			must(t, g.Check(ctx))
		})
	}
}

// An endless line is refused as soon as it is too long. If bad lines are skipped, reading it ends
// when the context ends.
func TestCancelEndlessLine(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	ofNodes := func(load func(context.Context, io.Reader, db.LoadNodesOptions) (*db.LoadReport, error)) func(context.Context, io.Reader, db.LoadOptions) (*db.LoadReport, error) {
		return func(ctx context.Context, r io.Reader, o db.LoadOptions) (*db.LoadReport, error) {
			return load(ctx, r, db.LoadNodesOptions{MaxErrors: o.MaxErrors})
		}
	}
	for name, load := range map[string]func(context.Context, io.Reader, db.LoadOptions) (*db.LoadReport, error){
		"edges": g.Load, "nodes": ofNodes(g.LoadNodes), "features": ofNodes(g.LoadFeatures),
		"matrix": func(ctx context.Context, r io.Reader, o db.LoadOptions) (*db.LoadReport, error) {
			o.Format = edgelist.MatrixMarket
			return g.Load(ctx, io.MultiReader(strings.NewReader("%%MatrixMarket matrix coordinate pattern general\n9 9 9\n"), r), o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(context.Background(), zeros{}, db.LoadOptions{})
			wantError(t, "an endless line", err, db.ErrLines)
			_, err = load(dbtest.NewCountdown(10), zeros{}, db.LoadOptions{MaxErrors: -1})
			wantError(t, "an endless line that is skipped", err, context.Canceled)
		})
	}
}

// zeros reads like /dev/zero.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Close cancels a training, which reports that and leaves no traces.
func TestCloseDuringTraining(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriter(out)
		rng := rand.New(rand.NewPCG(3, 4))
		for range 3000 {
			fmt.Fprintln(w, rng.IntN(500), rng.IntN(500))
		}
		out.CloseWithError(w.Flush())
	}()
	_, err := g.Load(ctx, in, db.LoadOptions{})
	must(t, err, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
	began := make(chan struct{})
	var once sync.Once
	closed := make(chan error)
	go func() {
		<-began
		closed <- g.Close()
	}()
	_, err = g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{
		Epochs: 1 << 30, Progress: during(func() { once.Do(func() { close(began) }) }),
	}})
	wantError(t, "a training of a database that is closed", err, db.ErrClosed)
	must(t, <-closed)

	g = open(t, path, nil)
	must(t, g.Check(ctx), g.View(ctx, func(tx *db.Tx) error {
		v, err := tx.Model("m").Versions(ctx)
		if len(v) != 1 || v[0].Trained {
			t.Errorf("versions %+v, want the untrained one alone", v)
		}
		return err
	}), g.Close())
}
