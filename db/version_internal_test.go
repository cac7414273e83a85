package db

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kith/index"
	"kith/model"
)

// A repair drops a version whose document cannot be read, and keeps the model and its other
// versions.
func TestRepairOfAVersion(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	insert(t, g, 0, 30)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	for range 3 {
		_, err := g.Model("m").Train(ctx, TrainOptions{Deploy: DeployNever, Plan: model.EdgePlan{Samples: 5, Epochs: 1}})
		must(t, err)
	}
	v, _ := g.learners["m"].Find(3)
	must(t, g.Check(ctx), g.Close())
	st := openStoreUnchecked(t, path)
	must(t, st.Commit(st.Newest()+1, func(w index.Writer) error {
		return index.WriteDocument(w, "m", v.Serial, []byte("this is no document"))
	}), st.Close())

	g = openTest(t, path)
	for what, err := range map[string]error{"asked": predict(g, 3), "checked": g.Check(ctx), "deployed": g.Model("m").Deploy(ctx, 3)} {
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), `model "m", version 3`) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, predict(g, 2), predict(g, 0), g.Close())
	r, err := Repair(ctx, path, &Options{Memory: 64 << 20}, RepairOptions{})
	must(t, err)
	if len(r.Found) != 1 || !strings.Contains(strings.Join(r.Done, "\n"), `version 3 of model "m" was dropped`) {
		t.Errorf("%+v", r)
	}
	g = openTest(t, path)
	must(t, g.Check(ctx), predict(g, 2), predict(g, 4), g.Model("m").Deploy(ctx, 4))
	if err := predict(g, 3); !errors.Is(err, ErrNoModel) {
		t.Errorf("a version that was dropped: %v", err)
	}
	must(t, g.Check(ctx), g.Close())
}

// predict asks a version of the model m.
func predict(g *DB, version int) error {
	_, err := g.Predict(context.Background(), PredictOptions{For: 5, Model: "m", Version: version})
	return err
}
