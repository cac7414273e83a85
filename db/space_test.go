package db_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// space returns the size of the files in a directory whose names match a pattern.
func space(t testing.TB, dir, pattern string) (sum int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	must(t, err)
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		must(t, err)
		sum += info.Size()
	}
	return sum
}

// Loads that write tables remove those of earlier loads: the files hold the present graph, the one
// before, which a reader may still have seen, and little else, except during a merge.
func TestSpaceOfTables(t *testing.T) {
	t.Parallel()
	notShort(t)
	path, first := place(t), int64(0)
	g := open(t, path, &db.Options{NoSync: true, Memory: 64 << 20})
	list := manyKeys(rand.New(rand.NewPCG(1, 3)), 2500)
	for i := range 6 {
		_, err := g.Load(context.Background(), strings.NewReader(list), db.LoadOptions{})
		must(t, err)
		n := space(t, path, "*.sst")
		if i == 0 {
			first = n
		}
		for range 100 { // while a merge runs
			if n = space(t, path, "*.sst"); n <= 3*first {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n > 3*first {
			t.Errorf("after load %d the tables take %d bytes, after the first %d", i+1, n, first)
		}
	}
	must(t, g.Check(context.Background()), g.Close())
}

// Repeating the same work takes no more space than the store's levels take: loads of the same
// edges, changes of the same edges, checkpoints of a model. After a compaction, the space is the
// same as after doing the work once.
func TestSpaceIsBounded(t *testing.T) {
	t.Parallel()
	notShort(t)
	rounds, edges := 4, 10_000
	if *times > 1 {
		rounds, edges = 120, 200_000
	}
	const memtable = 8 << 20 // size of the memtable for this Memory
	options := &db.Options{NoSync: true, Memory: 256 << 20}
	ctx := context.Background()
	for name, do := range map[string]func(g *db.DB, round int) error{
		"loads": func(g *db.DB, round int) error {
			_, err := g.Load(ctx, strings.NewReader(scatter(edges)), db.LoadOptions{})
			return err
		},
		"changes": func(g *db.DB, round int) error {
			return g.Update(ctx, func(tx *db.Tx) error {
				for i := range min(edges, 40_000) {
					if err := tx.PutEdge(i, i+1, db.Weight(2+float32(round%2))); err != nil {
						return err
					}
				}
				return nil
			})
		},
		"checkpoints": func(g *db.DB, round int) error {
			for range edges / 1000 {
				if _, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 2, Epochs: 1}}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := place(t)
			g := open(t, path, options)
			update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
			must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}), do(g, 0), g.Close(), db.CompactDir(ctx, path, options))
			once, most := space(t, path, "*.sst"), int64(0)
			g = open(t, path, options)
			for round := range rounds {
				must(t, do(g, round))
				most = max(most, space(t, path, "*.sst"))
			}
			must(t, g.Close(), db.CompactDir(ctx, path, options))
			again := space(t, path, "*.sst")
			t.Logf("%d bytes after doing it once, %d after %d times, %d of tables between", once, again, rounds, most)
			if again > once+once/4 || most > 8*memtable+2*once {
				t.Error("that is too much")
			}
			if n := space(t, path, "*.vlog"); n > 4096 {
				t.Errorf("the value log has %d bytes", n)
			}
		})
	}
}

// scatter returns a list of random edges, always the same.
func scatter(edges int) string {
	var list strings.Builder
	rng := rand.New(rand.NewPCG(3, 3))
	for range edges {
		fmt.Fprintln(&list, rng.IntN(edges/4), rng.IntN(edges/4))
	}
	return list.String()
}

// Long keys are not moved to the value log either.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	notShort(t)
	path, ctx := place(t), context.Background()
	g := open(t, path, nil)
	var list strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&list, "%0900d.%d x\n", 7, i)
	}
	_, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{})
	must(t, err, g.Close())
	if n := space(t, path, "*.vlog"); n > 4096 {
		t.Errorf("the value log has %d bytes", n)
	}
	g = dbtest.Reopen(t, path, nil)
	if got := edges(t, g); len(got) != 3000 {
		t.Errorf("%d edges", len(got))
	}
	must(t, g.Compact(ctx))
}

func TestCompactErrors(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	g := open(t, path, nil)
	ended, stop := context.WithCancel(ctx)
	stop()
	must(t, g.Compact(ctx), g.Close())
	wantError(t, "closed", g.Compact(ctx), db.ErrClosed)
	g = dbtest.Reopen(t, path, &db.Options{ReadOnly: true})
	wantError(t, "read only", g.Compact(ctx), db.ErrReadOnly)
	m := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	must(t, m.Compact(ctx))
	wantError(t, "ended", m.Compact(ended), context.Canceled)
}
