package query_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kith/db/dbtest"
	"kith/query"
)

// Errors in a statement are reported before its work begins, which would take days here.
func TestRefusedBeforeTheWork(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, nil)
	run := func(ctx context.Context, text string, args ...any) error {
		s := query.Session{DB: g}
		_, err := s.Run(ctx, text, args...)
		return err
	}
	for _, text := range []string{
		"INSERT EDGES 0 -> 1, 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 5, 5 -> 6, 6 -> 0, 0 -> 3",
		"CREATE MODEL m USING prb", "INSERT NODE 9 LABEL paper",
	} {
		if err := run(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "no", "such", "file")
	for _, c := range []struct {
		text string
		args []any
	}{
		{"EVALUATE PREDICT LINKS FOR ALL AMONG LABEL nosuch USING prb ON HOLDOUT 0.3 WITH (epochs = 1000000000)", nil},
		{"EVALUATE PREDICT LINKS FOR 0, 77 USING prb ON HOLDOUT 0.3 WITH (epochs = 1000000000)", nil},
		{"EVALUATE PREDICT LINKS FOR ALL USING prb ON HOLDOUT 1.5 WITH (epochs = 1000000000)", nil},
		{"EVALUATE PREDICT LINKS FOR ALL USING prb ON HOLDOUT 0.3 WITH (epochs = 1000000000, folds = 0)", nil},
		{"TRAIN MODEL m WITH (epochs = 1000000000, samples = 0)", nil},
		{"TRAIN MODEL m WITH (epochs = 1000000000, deploy = perhaps)", nil},
		{"TRAIN MODEL nosuch WITH (epochs = 1000000000)", nil},
		{"EXPORT EDGES TO ?", []any{nowhere}},
		{"BACKUP TO ?", []any{nowhere}},
		{"DRAW 0 TO ?", []any{nowhere + ".svg"}},
	} {
		err := run(dbtest.NewCountdown(500), c.text, c.args...)
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// No prediction is made if a node of the list does not exist.
func TestPredictResolvesAllNodesFirst(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, nil)
	if _, err := query.Run(t.Context(), g, "INSERT EDGES 0 -> 1, 1 -> 2"); err != nil {
		t.Fatal(err)
	}
	ctx := dbtest.NewCountdown(0)
	if _, err := query.Run(ctx, g, "PREDICT LINKS FOR 0, 77"); err == nil {
		t.Error("node 77 was found")
	}
	none := ctx.Checks()
	if _, err := query.Run(ctx, g, "PREDICT LINKS FOR 77"); err == nil || ctx.Checks() != 2*none {
		t.Errorf("%v; the context was checked %d times before node 0 was to be found, %d times after", err, none, ctx.Checks()-none)
	}
}

// A statement about many nodes or edges checks its context at each.
func TestCancelList(t *testing.T) {
	t.Parallel()
	const many = 50
	g := dbtest.Open(t, nil)
	edges := strings.TrimSuffix(strings.Repeat("1 -> 2, ", many), ", ")
	nodes := strings.TrimSuffix(strings.Repeat("1, ", many), ", ")
	for _, text := range []string{
		"MERGE EDGES " + edges, "PREDICT LINKS FOR " + nodes + " AMONG (2)", "RANK NODES FOR " + nodes,
	} {
		ctx := dbtest.NewCountdown(many)
		if _, err := query.Run(ctx, g, text); !errors.Is(err, context.Canceled) {
			t.Errorf("%.30s: %v after %d checks", text, err, ctx.Checks())
		}
		if strings.HasPrefix(text, "MERGE") {
			if _, err := query.Run(t.Context(), g, text); err != nil {
				t.Fatal(err)
			}
		}
	}
}
