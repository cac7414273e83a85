package query_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// LOAD EDGES reads a folder, with a row for each of its files.
func TestLoadFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, dbtest.Folder(t)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		how   string
		edges int64
		last  string // last file
		want  string // error; "" means none
	}{
		{"FORMAT ogb", 4, "raw/edge.csv.gz", ""},
		{"", 4, "raw/edge.csv.gz", ""},
		{"FORMAT ogb WITH (split = 'a/train')", 2, "split/a/train.pt", ""},
		{"FORMAT ogb WITH (split = 'a/all', repeats = error)", 4, "split/a/test.pt", ""},
		{"FORMAT ogb WITH (split = valid)", 0, "", "a way to split must be named (there are: a, b)"},
		{"FORMAT csv", 0, "", "a folder is read as ogb"},
		{"WITH (source_label = user)", 0, "", "a folder says itself"},
	} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
		var read int64
		s := &query.Session{DB: g, Progress: func(p query.Progress) { read = p.Done }}
		rows, err := s.Run(context.Background(), "LOAD EDGES FROM ? "+c.how, dir)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.how, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.how, err)
			continue
		}
		if err := g.View(context.Background(), func(tx *db.Tx) error {
			if _, edges := tx.Counts(); edges != c.edges || read == 0 {
				t.Errorf("%s: %d edges, want %d, %d bytes read", c.how, edges, c.edges, read)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if last := rows.Rows[len(rows.Rows)-1]; last[0] != filepath.ToSlash(filepath.Join(dir, c.last)) || last[9] != "src,dst" || rows.Rows[0][9] != nil {
			t.Errorf("%s: %v", c.how, rows.Rows)
		}
	}
}
