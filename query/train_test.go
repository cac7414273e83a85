package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// TRAIN reports how the new version compares, and does not deploy a worse one unless deploy = on.
func TestTrainCompares(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	rng := rand.New(rand.NewPCG(1, 1))
	var list strings.Builder
	for i := range 400 { // groups of eight nodes
		for range 4 {
			fmt.Fprintf(&list, "%d %d\n", i, i/8*8+rng.IntN(8))
		}
		fmt.Fprintf(&list, "%d %d\n", i, rng.IntN(400))
	}
	if _, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	run := func(text string) (row map[string]any, notes string) {
		t.Helper()
		rows, err := query.Run(ctx, g, text)
		if err != nil {
			t.Fatal(err)
		}
		row = map[string]any{}
		for i, name := range rows.Columns {
			row[name] = rows.Rows[0][i]
		}
		return row, strings.Join(rows.Notes, "\n")
	}
	run("CREATE MODEL m USING prb WITH (explore_weight = 1000)") // what would be new dominates its scores
	row, notes := run("TRAIN MODEL m WITH (samples = 50, epochs = 1)")
	mrr, best := row["mrr"].(float64), row["mrr_heuristic"].(float64)
	if row["deployed"] != false || row["mrr_before"] != nil || mrr <= 0 || mrr >= best || row["mrr_prior"].(float64) <= mrr ||
		!slices.Contains([]any{"common_neighbors", "adamic_adar", "resource_allocation", "ppr"}, row["heuristic"]) {
		t.Errorf("%v", row)
	}
	for _, want := range []string{
		fmt.Sprintf("hidden from the training, each ranked among up to 200 drawn candidates: version 2 %.3f, prior %.3f, %s %.3f", mrr, row["mrr_prior"], row["heuristic"], best),
		fmt.Sprintf("version 2 is not deployed: it ranks below prior and %s by more than chance explains; deploy = on", row["heuristic"]),
		"DEPLOY MODEL m VERSION 2",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
	if row, notes := run("TRAIN MODEL m WITH (samples = 50, epochs = 1, deploy = on)"); row["deployed"] != true || row["answers"] != true || strings.Contains(notes, "not deployed") {
		t.Errorf("%v\n%s", row, notes)
	}
	if row, _ := run("TRAIN MODEL m WITH (samples = 50, epochs = 1, deploy = better)"); row["mrr_before"] != mrr {
		t.Errorf("the version before has another mrr than when it was made, %v: %v", mrr, row)
	}
}

// TRAIN and SHOW MODELS say what a training left out because it did not fit into the memory.
func TestVectorsLeftOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	edges := "INSERT EDGES 0 -> 1"
	for i := range 30 {
		edges += fmt.Sprintf(", %d -> %d", i, i+2)
	}
	for _, text := range []string{edges, "CREATE MODEL m"} {
		if _, err := query.Run(ctx, g, text); err != nil {
			t.Fatal(err)
		}
	}
	var training db.TrainOptions
	training.Plan.Memory = 1
	if _, err := g.Model("m").Train(ctx, training); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SHOW MODELS", "DESCRIBE MODEL m"} {
		rows, err := query.Run(ctx, g, text)
		if err != nil || !strings.Contains(strings.Join(rows.Notes, "\n"), "model m was trained without vectors of nodes: they would take 1 MB") {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
}

// WARM of more nodes than the cache holds says so.
func TestWarmFull(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Epsilon: 1e-6})
	rng := rand.New(rand.NewPCG(1, 1))
	var list, nodes strings.Builder
	for i := range 3000 {
		for range 10 {
			fmt.Fprintln(&list, i, rng.IntN(3000))
		}
		fmt.Fprint(&nodes, ", ", i)
	}
	if _, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"WARM 1, 2", "WARM 7" + nodes.String()[:400*5]} {
		rows, err := query.Run(ctx, g, text)
		if notes := fmt.Sprint(rows.Notes); err != nil || strings.Contains(notes, "the cache is full: ") != (i == 1) {
			t.Errorf("%.20s: %s, %v", text, notes, err)
		}
	}
}

// TRAIN and EVALUATE tell what they do and how long it may take, first before they do anything.
func TestTrainTells(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	var told []query.Progress
	s := &query.Session{DB: g, Progress: func(p query.Progress) { told = append(told, p) }}
	for _, text := range []string{
		"INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 1, 3 -> 4, 4 -> 5, 5 -> 6, 6 -> 4, 6 -> 7, 5 -> 7", "CREATE MODEL m",
		"TRAIN MODEL m WITH (samples = 5, epochs = 1)",
		"EVALUATE PREDICT LINKS FOR ALL AMONG ALL USING default ON HOLDOUT 0.2 WITH (samples = 4, epochs = 1)",
	} {
		told = nil
		if _, err := s.Run(ctx, text); err != nil {
			t.Fatal(err)
		}
		if kind := text[:2]; kind != "TR" && kind != "EV" {
			continue
		}
		first, complete := told[0], 0
		for _, p := range told {
			if p.Timed && p.Done == p.Total && p.Left == 0 {
				complete++
			}
		}
		if !first.Timed || first.Done != 0 || first.Left <= 0 || !strings.HasSuffix(first.String(), "s left") || complete != 1 {
			t.Errorf("%s: first %v, %d times complete", text, first, complete)
		}
	}
}
