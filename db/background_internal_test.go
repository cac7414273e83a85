package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/db/internal/store"
	"kith/index"
	"kith/model"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func openTest(t testing.TB, path string) *DB {
	t.Helper()
	o := &Options{InMemory: path == "", NoSync: path != "", Memory: 64 << 20}
	g, err := Open(path, o)
	must(t, err)
	return g
}

// insert adds n edges of a ring, one a commit.
func insert(t testing.TB, g *DB, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		must(t, g.Update(context.Background(), func(tx *Tx) error { return tx.PutEdge(i, i+1) }))
	}
}

// blocks returns the number of stored blocks of each generation.
func blocks(t testing.TB, g *DB) map[uint32]int {
	r := g.store.Read(g.now.Load().ts)
	defer r.Close()
	n := map[uint32]int{}
	for _, kind := range "knx" {
		for e, err := range r.Scan([]byte{byte(kind)}, nil) {
			must(t, err)
			n[uint32(e.Key[1])<<24|uint32(e.Key[2])<<16|uint32(e.Key[3])<<8|uint32(e.Key[4])]++
		}
	}
	return n
}

// A compaction moves the keys that were added since the base into the base, which stays in memory.
func TestCompactMovesKeys(t *testing.T) {
	t.Parallel()
	g := openTest(t, filepath.Join(t.TempDir(), "g"))
	insert(t, g, 0, 100)
	must(t, g.compact(context.Background()))
	now := g.now.Load()
	if left := now.KeptBytes() - 20*int64(now.LoggedChanges()); left != 0 || !now.Loaded() {
		t.Errorf("%d bytes of keys are left, loaded %v", left, now.Loaded())
	}
	insert(t, g, 100, 10)
	must(t, g.Check(context.Background()), g.Close())
}

// A compaction changes nothing visible, leaves one generation, and survives reopening.
func TestCompact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	insert(t, g, 0, 20)
	for round := range 3 {
		must(t, g.compact(context.Background()), g.Check(context.Background()))
		insert(t, g, 20+round, 1)
		must(t, g.Check(context.Background()))
	}
	m := g.now.Load().Meta
	if got := blocks(t, g); len(got) != 1 || got[m.Generation] == 0 || m.Generation != 3 {
		t.Errorf("blocks %v, meta %+v", got, m)
	}
	if n := g.now.Load().LoggedChanges(); n > 3 {
		t.Errorf("%d changes are logged", n)
	}
	must(t, g.Close())
	g = openTest(t, path)
	must(t, g.Check(context.Background()))
	if got := g.now.Load().Graph.NumEdges(); got != 23 {
		t.Errorf("%d edges", got)
	}
	must(t, g.Close())
}

// A compaction starts in the background when there are enough changes, and Close waits for it.
func TestCompactByItself(t *testing.T) {
	t.Parallel()
	g, err := Open("", &Options{InMemory: true, Memory: 2 << 30})
	must(t, err)
	for part := range 2 {
		must(t, g.Update(context.Background(), func(tx *Tx) error {
			for i := range minChanges/2 + 1 {
				if err := tx.PutEdge(2*i, 2*i+1+part*100_001); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	g.jobs.all.Wait()
	if m := g.now.Load().Meta; m.Generation == 0 || m.Base != 2 {
		t.Errorf("meta %+v", m)
	}
	must(t, g.Check(context.Background()), g.Close())
}

// The next compaction runs only after the same number of changes.
func TestCompactOnce(t *testing.T) {
	t.Parallel()
	g, err := Open("", &Options{InMemory: true, Memory: 2 << 30})
	must(t, err)
	must(t, g.Update(context.Background(), func(tx *Tx) error {
		for i := range minChanges {
			if err := tx.PutEdge(2*i, 2*i+1); err != nil {
				return err
			}
		}
		return nil
	}))
	g.jobs.all.Wait()
	insert(t, g, 0, 1)
	g.jobs.all.Wait()
	if m := g.now.Load().Meta; m.Generation != 1 {
		t.Errorf("meta %+v", m)
	}
	must(t, g.Check(context.Background()), g.Close())
}

// Deleting leftovers during a compaction does not delete the compaction's blocks.
func TestModelDuringACompaction(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "g"), context.Background()
	g := openTest(t, path)
	insert(t, g, 0, 50)
	must(t, g.compact(context.Background()))
	insert(t, g, 50, 50)
	old, generation := g.now.Load(), g.generation.Add(1)
	base, err := g.writeBase(ctx, old, generation)
	must(t, err)
	must(t, g.Model("m").Create(ctx, model.Spec{}), g.Model("m").Drop(ctx), g.Model("m").Create(ctx, model.Spec{}))
	next, err := g.now.Load().Rebase(old.Snapshot, base, generation)
	must(t, err, g.rebase(ctx, g.now.Load(), next), g.Check(ctx), g.Close())
	g = openTest(t, path)
	m := g.now.Load().Meta
	if got := blocks(t, g); len(got) != 1 || got[m.Generation] == 0 || m.Generation != generation || m.Edges != 100 {
		t.Errorf("blocks %v, meta %+v", got, m)
	}
	must(t, g.Check(ctx), g.Close())
}

// Compactions run concurrently with readers of all versions and a writer.
func TestCompactConcurrently(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openTest(t, filepath.Join(t.TempDir(), "g"))
	insert(t, g, 0, 10)
	done := make(chan bool)
	var others sync.WaitGroup
	others.Go(func() {
		for range 15 {
			if err := g.compact(context.Background()); err != nil {
				t.Error(err)
			}
		}
		close(done)
	})
	for range 2 {
		others.Go(func() {
			for more := true; more; {
				err := g.View(ctx, func(tx *Tx) error {
					before := slices.Collect(tx.snap.Graph.Edges())
					r := tx.reader
					for range 3 { // the records of this version stay readable
						if err := tx.snap.Verify(ctx, r); err != nil {
							return err
						}
					}
					if after := slices.Collect(tx.snap.Graph.Edges()); !slices.Equal(before, after) {
						return errors.New("the graph of a view has changed")
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					more = false
				default:
				}
			}
		})
	}
	for i := 0; ; i++ {
		insert(t, g, 10+i, 1)
		select {
		case <-done:
			others.Wait()
			must(t, g.Check(ctx), g.Close())
			return
		default:
		}
	}
}

// A load between a compaction's blocks and its commit wins, and the compaction's blocks are
// deleted.
func TestLoadDuringACompaction(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "g"), context.Background()
	g := openTest(t, path)
	insert(t, g, 0, 50)
	old := g.now.Load()
	abandoned := g.generation.Add(1)
	_, err := g.writeBase(ctx, old, abandoned)
	must(t, err)
	_, err = g.Load(ctx, strings.NewReader("1000 1001\n"), LoadOptions{})
	must(t, err, g.Check(ctx))
	_, err = g.writeBase(ctx, old, abandoned) // the abandoned compaction continues to write
	must(t, err, g.Check(ctx), g.Close())
	g = openTest(t, path)
	must(t, g.Check(ctx))
	m := g.now.Load().Meta
	if got := blocks(t, g); len(got) != 1 || got[m.Generation] == 0 || m.Edges != 51 {
		t.Errorf("blocks %v, meta %+v", got, m)
	}
	must(t, g.Close())

	g = openTest(t, "")
	insert(t, g, 0, 5)
	held := make(chan error)
	must(t, g.lock(ctx)) // the compaction now waits for the writer lock, with or without its blocks written
	go func() { held <- g.compact(context.Background()) }()
	for g.generation.Load() == 0 {
		runtime.Gosched()
	}
	g.unlock()
	_, err = g.Load(ctx, strings.NewReader("1000 1001\n"), LoadOptions{})
	must(t, err, <-held, g.Check(ctx), g.Close())
}

// After a commit that may or may not be on the disk, nothing more is written.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openTest(t, "")
	insert(t, g, 0, 1)
	broken := errors.New("broken disk")
	g.store.Fail(broken)
	err := g.Update(ctx, func(tx *Tx) error { return tx.PutEdge(5, 6) })
	if !errors.Is(err, broken) {
		t.Errorf("an update: %v", err)
	}
	if _, err = g.Load(ctx, strings.NewReader("5 6\n"), LoadOptions{}); !errors.Is(err, broken) {
		t.Errorf("a load: %v", err)
	}
	must(t, g.View(ctx, func(tx *Tx) error {
		if n := tx.Stats().Edges; n != 1 {
			return fmt.Errorf("%d edges", n)
		}
		return nil
	}))
	must(t, g.Close())
}

// A database of a newer format is rejected with its number, and so is one without a meta record.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	insert(t, g, 0, 1)
	s := *g.now.Load().Snapshot
	s.Meta.Format = index.Format + 1
	must(t, g.store.Commit(g.now.Load().ts+1, s.WriteMeta), g.Close())
	_, err := Open(path, &Options{Memory: 64 << 20})
	if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), fmt.Sprintf("format %d; this kith reads format %d only", index.Format+1, index.Format)) {
		t.Errorf("a newer format: %v", err)
	}
	st, err := store.Open(path, g.opts.forStore(nil))
	must(t, err)
	ts := st.Newest() + 1
	must(t, st.Commit(ts, func(w index.Writer) error { return w.Delete([]byte{'m', 0, 0}) }), st.Close())
	if _, err = Open(path, &Options{Memory: 64 << 20}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("without a meta record: %v", err)
	}
}

// Check reports differences between memory and disk.
func TestCheckOfDifferences(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, damage := range map[string]func(w index.Writer) error{
		"a lost log record": func(w index.Writer) error { return w.Delete([]byte("l\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00")) },
		"a stray model":     func(w index.Writer) error { return index.PutModel(w, "stray", index.ModelEntry{Serial: 1, At: 1}) },
		"a stray state":     func(w index.Writer) error { return w.Set([]byte("s\x00\x00\x00\x00\x00\x00\x00"), []byte("x")) },
		"no meta record":    func(w index.Writer) error { return w.Delete([]byte{'m', 0, 0}) },
	} {
		g := openTest(t, "")
		insert(t, g, 0, 3)
		now := g.now.Load()
		must(t, g.Check(ctx), g.store.Commit(now.ts+1, damage))
		g.publish(&snapshot{now.Snapshot, now.models, now.ts + 1})
		if err := g.Check(ctx); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, g.Close())
	}
}
