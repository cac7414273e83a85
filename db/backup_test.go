package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/internal/archive"
	"kith/index"
)

// dump returns everything that a database answers about its graph, and some predictions of each
// model.
func dump(t rapid.TB, g *db.DB) (all []string) {
	t.Helper()
	ctx := context.Background()
	err := g.View(ctx, func(tx *db.Tx) error {
		s := tx.Stats()
		all = append(all, fmt.Sprint(s.Version, s.Nodes, s.Edges, s.Loops, s.Directed, s.Alpha, s.Epsilon))
		for n, err := range tx.Nodes() {
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%+v", n))
		}
		for e, err := range tx.Edges() {
			if err != nil {
				return err
			}
			all = append(all, edgeString(e))
		}
		for _, m := range tx.Models() {
			m.Bytes = 0 // memory depends on spare capacity
			m.Deployed = time.Time{}
			all = append(all, fmt.Sprintf("%+v", m))
			versions, err := tx.Model(m.Name).Versions(ctx)
			if err != nil {
				return err
			}
			for _, v := range versions {
				r, err := tx.Predict(ctx, db.PredictOptions{For: 3, Among: db.Neighbors(2), Model: m.Name, Version: v.Number, NoCache: true})
				if err != nil && !errors.Is(err, db.ErrNotFound) {
					return err
				}
				all = append(all, fmt.Sprintf("%s %d %v %v %d %+v", m.Name, v.Number, v.Deployed, v.Trained, v.Rounds, r))
			}
		}
		for n := range tx.Nodes() {
			r, err := tx.Predict(ctx, db.PredictOptions{For: n.Key, Among: db.All(), NoCache: true})
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%+v", *r))
			if len(all) > 500 {
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// equalDumps fails t at the first line that differs.
func equalDumps(t rapid.TB, got, want []string) {
	t.Helper()
	for i, line := range want {
		if i >= len(got) || got[i] != line {
			t.Fatalf("of %d and %d lines, line %d is\n%q\nwant\n%q", len(got), len(want), i, got[min(i, len(got)):min(i+1, len(got))], line)
		}
	}
	if len(got) > len(want) {
		t.Fatalf("%d lines too many", len(got)-len(want))
	}
}

// backup returns a backup of g: a full one, or an incremental one if earlier is not nil.
func backup(t rapid.TB, g *db.DB, earlier []byte) ([]byte, db.Backup) {
	t.Helper()
	var b bytes.Buffer
	var done db.Backup
	var err error
	if earlier == nil {
		done, err = g.WriteTo(context.Background(), &b)
	} else {
		done, err = g.WriteSince(context.Background(), &b, bytes.NewReader(earlier))
	}
	if err != nil {
		t.Fatal(err)
	}
	if done.Bytes != int64(b.Len()) {
		t.Errorf("%+v, and %d bytes", done, b.Len())
	}
	return b.Bytes(), done
}

func restore(path string, backups ...[]byte) error {
	var files []io.Reader
	for _, b := range backups {
		files = append(files, bytes.NewReader(b))
	}
	return db.Restore(context.Background(), path, &db.Options{Memory: 64 << 20}, files...)
}

// A backup made during writes is the database as of some commit: a twin that did the same number of
// steps gives the same answers, and both continue identically.
func TestBackupWhileWriting(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	g := open(t, path, &db.Options{Memory: 64 << 20, NoSync: true})
	twin := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	must(t, step(g, 0), step(twin, 0)) // two commits, and a backup may not fall between them
	stop, ended := make(chan bool), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if err := step(g, i); err != nil {
				ended <- err
				return
			}
		}
	}()
	var chain [][]byte
	done := 1
	for round := range size(1, 2, 3) {
		var earlier []byte
		if round > 0 {
			earlier = chain[round-1]
		}
		b, what := backup(t, g, earlier)
		chain = append(chain, b)
		copied := filepath.Join(t.TempDir(), "copy")
		must(t, restore(copied, chain...))
		c := open(t, copied, &db.Options{Memory: 64 << 20})
		n, err := stepsDone(c)
		must(t, err, c.Check(ctx))
		for ; done < n; done++ {
			must(t, step(twin, done))
		}
		t.Logf("%d steps, %+v", n, what)
		equalDumps(t, dump(t, c), dump(t, twin))
		must(t, c.Close())
	}
	close(stop)
	must(t, <-ended, g.Check(ctx), g.Close(), twin.Close())
}

// A restored copy equals the database, and later changes are in the incremental backups.
func TestBackupChain(t *testing.T) {
	t.Parallel()
	for seed := range size(4, 10, 40) * *times {
		direction := []db.Direction{db.Undirected, db.Directed}[seed%2]
		g := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20, Direction: direction})
		var chain [][]byte
		var earlier []byte
		for part, ops := range rapid.SliceOfN(rapid.SliceOfN(genOp, 0, 10), 1, 4).Example(seed) {
			if part%2 == 1 {
				_, err := g.Load(context.Background(), strings.NewReader(wheel(seed%5+part)), db.LoadOptions{})
				must(t, err)
			}
			update(t, g, func(tx *db.Tx) error {
				for _, o := range ops {
					if err := o.on(tx); err != nil {
						return err
					}
				}
				return nil
			})
			earlier, _ = backup(t, g, earlier)
			chain = append(chain, earlier)
		}
		path := place(t)
		must(t, restore(path, chain...))
		c := dbtest.Reopen(t, path, nil)
		equalDumps(t, dump(t, c), dump(t, g))
		checkReadBackup(t, g, chain)
		must(t, g.Close())
	}
}

// checkReadBackup checks that the beginnings of a chain say which version it is of, and that a
// backup that does not follow the others is refused.
func checkReadBackup(t *testing.T, g *db.DB, chain [][]byte) {
	t.Helper()
	var parts []io.Reader
	for _, b := range chain {
		parts = append(parts, bytes.NewReader(b))
	}
	last, err := db.ReadBackup(t.Context(), parts...)
	view(t, g, func(tx *db.Tx) error {
		if graph := tx.Stats().Version; err != nil || last.Graph != graph {
			t.Errorf("version %d of the graph, %v, want %d", last.Graph, err, graph)
		}
		return nil
	})
	_, err = db.ReadBackup(t.Context(), bytes.NewReader(chain[0]), bytes.NewReader(chain[0]))
	wantError(t, "a full backup after another", err, db.ErrMismatch)
	_, err = db.ReadBackup(t.Context())
	wantError(t, "no backup", err, db.ErrInput)
}

// An incremental backup of few changes is small, and one of no changes holds no records.
func TestBackupOfChangesIsSmall(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	defer func() { must(t, g.Close()) }()
	for i := range 200 {
		update(t, g, func(tx *db.Tx) error {
			return errors.Join(tx.PutEdge(i, i+1), tx.SetFeatures(i, make([]float32, 100)))
		})
	}
	whole, _ := backup(t, g, nil)
	same, what := backup(t, g, whole)
	if what.Changed != 0 || what.Entries < 200 || what.Since != what.Seq {
		t.Errorf("nothing changed, and %+v", what)
	}
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge("x", "y") })
	changes, what := backup(t, g, same)
	if what.Changed != 2 || len(changes) > len(whole)/4 { // the log record and the meta record
		t.Errorf("an edge takes %d of %d bytes, %+v", len(changes), len(whole), what)
	}
	must(t, restore(place(t), whole, same, changes))
}

// Backups that do not belong together are rejected, and nothing is left of the attempt.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	made := func(name string) (whole, changes []byte) {
		g := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
		defer func() { must(t, g.Close()) }()
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(name, "b") })
		whole, _ = backup(t, g, nil)
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(name, "c") })
		changes, _ = backup(t, g, whole)
		return whole, changes
	}
	whole, changes := made("a")
	other, otherChanges := made("other")
	text := []byte("0 1\n1 2\n2 3\n")
	newer := bytes.Replace(whole, []byte("\xa7version\x02"), []byte("\xa7version\x03"), 1)
	for name, c := range map[string]struct {
		backups [][]byte
		want    error
	}{
		"none":                       {nil, db.ErrInput},
		"an edge list":               {[][]byte{text}, db.ErrMismatch},
		"an empty file":              {[][]byte{{}}, db.ErrMismatch},
		"changes alone":              {[][]byte{changes}, db.ErrMismatch},
		"two whole ones":             {[][]byte{whole, other}, db.ErrMismatch},
		"changes twice":              {[][]byte{whole, changes, changes}, db.ErrMismatch},
		"changes of another":         {[][]byte{whole, otherChanges}, db.ErrMismatch},
		"followed by something":      {[][]byte{append(slices.Clone(whole), 'x')}, db.ErrCorrupt},
		"followed by itself":         {[][]byte{append(slices.Clone(whole), whole...)}, db.ErrCorrupt},
		"a header that was altered":  {[][]byte{newer}, db.ErrCorrupt},
		"the earlier one cut short":  {[][]byte{whole[:len(whole)-1], changes}, db.ErrCorrupt},
		"the changes without an end": {[][]byte{whole, changes[:len(changes)-20]}, db.ErrCorrupt},
	} {
		path := place(t)
		err := restore(path, c.backups...)
		wantError(t, name, err, c.want)
		if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
			t.Errorf("%s: left behind %v", name, left)
		}
	}
	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "file"), nil, 0o600))
	wantError(t, "a full directory", restore(full, whole), db.ErrExists)
	wantError(t, "a file", restore(filepath.Join(full, "file"), whole), db.ErrExists)
	for _, nameless := range []string{".", "..", full + "/..", "/"} {
		wantError(t, nameless, restore(nameless, whole), db.ErrInput)
	}
	must(t, restore(t.TempDir(), whole))
}

// A backup with any bit altered, or truncated anywhere, is rejected entirely.
func TestDamagedBackup(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	defer func() { must(t, g.Close()) }()
	for i := range 8 {
		must(t, step(g, i))
	}
	whole, _ := backup(t, g, nil)
	rng, path := rand.New(rand.NewPCG(8, 8)), place(t)
	for range size(10, 30, 200) * *times {
		damaged, what := slices.Clone(whole), ""
		if at := rng.IntN(len(whole)); rng.IntN(2) == 0 {
			damaged, what = damaged[:at], fmt.Sprintf("cut to %d of %d", at, len(whole))
		} else {
			damaged[at] ^= 1 << rng.IntN(8)
			what = fmt.Sprintf("byte %d altered", at)
		}
		err := restore(path, damaged)
		if !errors.Is(err, db.ErrCorrupt) && !errors.Is(err, db.ErrMismatch) || !strings.Contains(err.Error(), "backup 1 of 1: ") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: a database", what)
		}
	}
}

// The error of a failing writer is reported.
func TestBackupToAFullDisk(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	defer func() { must(t, g.Close()) }()
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	whole, _ := backup(t, g, nil)
	for n := range len(whole) {
		if _, err := g.WriteTo(context.Background(), &full{left: n}); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("a disk that takes %d of %d bytes: %v", n, len(whole), err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err := g.WriteTo(ctx, io.Discard)
	wantError(t, "a backup that was ended", err, context.Canceled)
}

// full accepts some bytes and then fails.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// A version number of the store is never reused, even if the changes of that version have been
// compacted away.
func TestBackupSinceADrop(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	g := open(t, path, nil)
	load(t, g, 20)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}), g.Model("m").Drop(ctx))
	whole, at := backup(t, g, nil)
	must(t, g.Close(), db.CompactDir(ctx, path, nil))
	g = dbtest.Reopen(t, path, nil)
	if _, since := backup(t, g, whole); since.Seq < at.Seq {
		t.Errorf("%+v after %+v", since, at)
	}
}

// A backup without a complete version does not restore.
func TestRestoreOfLess(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]index.Entry{"nothing": nil, "no meta record": {{Key: []byte("a"), Value: []byte("1")}}} {
		var b bytes.Buffer
		w, err := archive.NewWriter(&b, archive.Backup, archive.Header{Seq: 9})
		must(t, err)
		for _, e := range records {
			must(t, w.Add(archive.Entry{Key: e.Key, Value: e.Value}))
		}
		must(t, w.Close())
		wantError(t, name, db.Restore(context.Background(), place(t), nil, &b), db.ErrCorrupt)
	}
}
