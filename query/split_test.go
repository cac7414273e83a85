package query_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// The results for a fixed split equal those of prbench offline, which scores its pairs without a
// database.
func TestEvaluateSplitOfCora(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs("../../shared/data/cora")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil || testing.Short() {
		t.Skip("reads ../shared/data/cora, which is not there, or the tests are to be short")
	}
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	if _, err := g.LoadFolder(ctx, os.DirFS(folder), db.LoadOptions{Split: "random0/train"}); err != nil {
		t.Fatal(err)
	}
	text := "EVALUATE PREDICT LINKS FOR ALL USING common_neighbors ON SPLIT ? AGAINST ? WITH (split = 'random0/test')"
	rows, err := query.Run(ctx, g, text, folder, folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, row := range rows.Rows {
		got[row[0].(string)+" "+row[1].(string)] = row[2].(float64)
	}
	for name, want := range map[string]float64{
		"common_neighbors hits@100": 0.3270, "common_neighbors mrr": 0.1384, "common_neighbors auc": 0.6616,
		"resource_allocation hits@100": 0.3270, "resource_allocation mrr": 0.2418, "resource_allocation auc": 0.6620,
	} {
		if math.Abs(got[name]-want) > 5e-5 {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if notes := strings.Join(rows.Notes, "\n"); !strings.Contains(notes, "1055 links to find among 1055 candidates") {
		t.Errorf("notes:\n%s", notes)
	}
}
