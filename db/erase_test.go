package db_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// putPerson writes a node with everything that the database can keep of one: edges, a label,
// features, properties, outcomes with ids, and decisions. The texts that name the person begin with
// its key.
func putPerson(t testing.TB, g *db.DB, key string) {
	t.Helper()
	ctx := context.Background()
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.PutNode(db.Node{Key: db.Str(key), Label: "user", Features: []float32{1, 2}, Properties: map[string]any{
				"name": key + " Miller", "mail": []string{key + "@example.com", "x"}, "age": 30,
			}}),
			tx.PutEdge(key, 1), tx.PutEdge(2, key), tx.PutEdge(key, 3, db.At(time.Unix(1_700_000_000, 0))))
	})
	update(t, g, func(tx *db.Tx) error {
		for i := range 5 {
			o := db.ObserveOptions{Source: key, Target: 4 + i, Reward: float64(i % 2), Model: "m", ID: fmt.Sprint(key, " click ", i)}
			if i == 3 {
				o.Source, o.Target = o.Target, o.Source
			}
			if err := tx.Observe(ctx, o); err != nil {
				return err
			}
		}
		d, err := tx.Choose(ctx, db.ChooseOptions{For: key, Among: db.Keys(5, 6, 7), Model: "m"})
		if err != nil {
			return err
		}
		_, other := tx.Choose(ctx, db.ChooseOptions{For: 1, Among: db.Keys(key, 6, 7), Model: "m"})
		return errors.Join(other, tx.Reward(ctx, d.ID, 1))
	})
}

// newKey returns a key that does not occur elsewhere and that no compression shortens.
func newKey() string { return rand.Text() }

// namedIn returns the files of a directory that hold a text, and fails t for an empty directory.
func namedIn(t testing.TB, dir, text string) (files []string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			files = append(files, d.Name())
		}
		return err
	})
	if must(t, err); n == 0 {
		t.Fatalf("%s is empty", dir)
	}
	return files
}

// wantErased fails t unless a database says that a number of erased nodes are still to be removed
// from its files, and is sound.
func wantErased(t testing.TB, what string, g *db.DB, want int64) {
	t.Helper()
	must(t, g.Check(context.Background()))
	if s, err := g.Stats(); err != nil || s.Erased != want {
		t.Errorf("%s: %d erased nodes are pending, want %d: %v", what, s.Erased, want, err)
	}
}

// After an erase and a compaction of either kind, no file and no backup has the key, nor anything
// that was known of the node. Everything else stays, and the models answer as before.
func TestEraseLeavesNoBytes(t *testing.T) {
	t.Parallel()
	for _, keep := range []int64{0, 64 << 20} {
		for _, closed := range []bool{false, true} {
			for _, base := range []bool{false, true} {
				t.Run(fmt.Sprint(keep, closed, base), func(t *testing.T) {
					t.Parallel()
					testEraseLeavesNoBytes(t, &db.Options{Memory: 64 << 20, ChangeBytes: keep, NoRefresh: true}, closed, base)
				})
			}
		}
	}
}

// testEraseLeavesNoBytes erases nodes that are in the base, or in the log alone.
func testEraseLeavesNoBytes(t *testing.T, o *db.Options, closed, base bool) {
	ctx, path := context.Background(), place(t)
	ann, bob, kept := newKey(), newKey(), newKey()
	g := open(t, path, o)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}))
	for _, key := range []string{ann, bob, kept} {
		putPerson(t, g, key)
	}
	update(t, g, func(tx *db.Tx) error { return tx.DeleteNode(bob) })
	if base {
		must(t, g.Compact(ctx), g.Close())
		g = open(t, path, o)
	}
	if files := namedIn(t, path, ann); len(files) == 0 {
		t.Fatal("the test does not find the key before it is erased")
	}
	update(t, g, func(tx *db.Tx) error { return errors.Join(tx.Erase(ann), tx.Erase(bob)) })
	wantErased(t, "before the compaction", g, 2)
	want, err := g.Predict(ctx, db.PredictOptions{For: 1, Model: "m", NoCache: true})
	must(t, err)
	if closed {
		must(t, g.Close(), db.CompactDir(ctx, path, o))
		g = open(t, path, o)
	} else {
		must(t, g.Compact(ctx))
	}
	wantErased(t, "after the compaction", g, 0)
	for range 2 {
		b, _ := backup(t, g, nil)
		for _, key := range []string{ann, bob} {
			if files := namedIn(t, path, key); len(files) > 0 {
				t.Errorf("the files %q hold the key", files)
			}
			if bytes.Contains(b, []byte(key)) {
				t.Error("the backup holds the key")
			}
			copied := restoredFrom(t, b)
			if files := namedIn(t, copied, key); len(files) > 0 {
				t.Errorf("the files %q of a restored backup hold the key", files)
			}
		}
		if files := namedIn(t, path, kept); len(files) == 0 {
			t.Error("no file holds a key that was not erased")
		}
		got, err := g.Predict(ctx, db.PredictOptions{For: 1, Model: "m", NoCache: true})
		must(t, err)
		if asJSON(t, got.Links) != asJSON(t, want.Links) {
			t.Errorf("the links are\n%s, were\n%s", asJSON(t, got.Links), asJSON(t, want.Links))
		}
		wantErased(t, "reopened", g, 0)
		must(t, g.Close())
		g = open(t, path, o)
	}
	wantNoTrace(t, g, ann)
	wantNoTrace(t, g, bob)
	must(t, g.Close())
}

// wantNoTrace fails t if anything that a program can read of a database has a text.
func wantNoTrace(t testing.TB, g *db.DB, text string) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		var all []any
		for n, err := range tx.Nodes() {
			must(t, err)
			all = append(all, n)
		}
		for o, err := range tx.Observations() {
			must(t, err)
			all = append(all, o)
		}
		for d, err := range tx.Decisions() {
			must(t, err)
			all = append(all, d)
		}
		if s := tx.Stats(); s.Changes.Limit > 0 {
			for c, err := range tx.Changes(s.Changes.After) {
				must(t, err)
				b, err := c.MarshalBinary()
				must(t, err)
				if bytes.Contains(b, []byte(text)) {
					t.Errorf("the change of version %d has %q", c.Version, text)
				}
				all = append(all, c)
			}
		}
		for k, err := range tx.NodesBeginning("'") {
			must(t, err)
			all = append(all, k)
		}
		if b := asJSON(t, all); strings.Contains(b, text) {
			t.Errorf("%q is still in\n%.300s", text, b[max(strings.Index(b, text)-150, 0):])
		}
		known, err := tx.Observed(text + " click 1")
		if known || tx.Has(db.Str(text)) {
			t.Errorf("an outcome of %q is known: %v, or its node: %v", text, known, tx.Has(db.Str(text)))
		}
		return err
	})
}

// A transaction that erases sees no node; a view that began before sees it. What fails is undone.
// The same key makes a node without a memory, as often as it is erased.
func TestErase(t *testing.T) {
	t.Parallel()
	ctx, undone := context.Background(), errors.New("undone")
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}))
	putPerson(t, g, "ann")
	has := func(tx *db.Tx, want bool) {
		t.Helper()
		if got := tx.Has(db.Str("ann")); got != want {
			t.Errorf("has ann: %v, want %v", got, want)
		}
	}
	err := g.Update(ctx, func(tx *db.Tx) error {
		wantError(t, "a savepoint", tx.Savepoint(func() error {
			must(t, tx.Erase("ann"), tx.PutNode(db.Node{Key: db.Str("ann")}), tx.Erase("ann"), tx.PutEdge("ann", 1))
			has(tx, true)
			return undone
		}), undone)
		has(tx, true)
		if n, err := tx.Node("ann"); err != nil || n.Edges != 3 || n.Label != "user" {
			t.Errorf("after the savepoint: %+v, %v", n, err)
		}
		must(t, tx.Erase("ann"))
		has(tx, false)
		wantError(t, "an erased node", tx.Erase("ann"), db.ErrNotFound)
		wantError(t, "an unknown node", tx.Erase("nobody"), db.ErrNotFound)
		wantError(t, "no key", tx.Erase(1.5), db.ErrInput)
		return undone
	})
	wantError(t, "an update that fails", err, undone)
	view(t, g, func(before *db.Tx) error {
		wantError(t, "a view", before.Erase("ann"), db.ErrReadOnly)
		for range 3 {
			update(t, g, func(tx *db.Tx) error {
				must(t, tx.Erase("ann"), tx.AddNode(db.Node{Key: db.Str("ann")}), tx.PutEdge("new", "ann"), tx.Erase("new"))
				has(tx, true)
				return tx.PutEdge("ann", "bob")
			})
			must(t, g.Check(ctx))
		}
		has(before, true)
		if n, err := before.Node("ann"); err != nil || n.Edges != 3 || n.Properties["name"] != "ann Miller" {
			t.Errorf("the view sees %+v, %v", n, err)
		}
		return nil
	})
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node("ann")
		if n.Edges != 1 || n.Label != "" || n.Features != nil || n.Properties != nil {
			t.Errorf("the new node is %+v", n)
		}
		if known, err := tx.Observed("ann click 1"); known || err != nil {
			t.Errorf("an outcome of the erased node is known: %v, %v", known, err)
		}
		return err
	})
	must(t, g.Observe(ctx, db.ObserveOptions{Source: "ann", Target: 5, Reward: 1, Model: "m", ID: "ann click 1"}))
	if ids, rounds := observed(t, g); rounds != 7 || ids[len(ids)-1] != "ann click 1" || strings.Join(ids, "") != "ann click 1" {
		t.Errorf("ids %q after %d rounds", ids, rounds)
	}
	wantErased(t, "after six erases", g, 6)
	must(t, g.Compact(ctx))
	wantErased(t, "compacted", g, 0)
	view(t, g, func(tx *db.Tx) error {
		known, err := tx.Observed("ann click 1")
		if !known {
			t.Error("the outcome of the new node is not known")
		}
		return err
	})
}

// A compaction beside a view that began before it leaves the erased nodes to the next one.
func TestEraseBesideAView(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	ann := newKey()
	g := open(t, path, &db.Options{Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(ann, 1) })
	view(t, g, func(before *db.Tx) error {
		update(t, g, func(tx *db.Tx) error { return tx.Erase(ann) })
		must(t, g.Compact(ctx))
		wantErased(t, "beside a view", g, 1)
		if !before.Has(db.Str(ann)) {
			t.Error("the view lost the node")
		}
		return nil
	})
	update(t, g, func(tx *db.Tx) error { return tx.Erase(1) })
	must(t, g.Compact(ctx))
	wantErased(t, "after it", g, 0)
	if files := namedIn(t, path, ann); len(files) > 0 {
		t.Errorf("the files %q hold the key", files)
	}
	must(t, g.Close())
}

// A compaction that is interrupted anywhere is sound, says that the erased node is pending as long
// as a file names it, and is finished by the next one.
func TestEraseInterrupted(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx, path, o := context.Background(), place(t), &db.Options{Memory: 64 << 20, ChangeBytes: 64 << 20, NoRefresh: true}
	g := open(t, path, o)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}))
	ended := 0
	for n := 1; ended < 2; n += 1 + n/4 {
		ann := newKey()
		putPerson(t, g, ann)
		update(t, g, func(tx *db.Tx) error { return tx.Erase(ann) })
		interrupted := dbtest.NewCountdown(n)
		var ends error
		if n%2 == 0 {
			ends = g.Compact(interrupted)
		} else {
			must(t, g.Close())
			ends = db.CompactDir(interrupted, path, o)
			g = open(t, path, o)
		}
		if ends == nil {
			ended++
		} else {
			wantError(t, fmt.Sprint("interrupted at ", n), ends, context.Canceled)
		}
		must(t, g.Check(ctx))
		s, err := g.Stats()
		must(t, err)
		wantNoTrace(t, g, ann)
		if files := namedIn(t, path, ann); s.Erased == 0 && len(files) > 0 || ends == nil && s.Erased > 0 {
			t.Fatalf("interrupted at %d (%v): %d nodes are pending, and the files %q hold the key", n, ends, s.Erased, files)
		}
	}
	must(t, g.Close())
}

// A node that is erased during a training does not come back with it. The training that comes after
// an erase has forgotten the node.
func TestEraseDuringTraining(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Camps(t)
	ann := newKey()
	putLinks := func(tx *db.Tx) error {
		return errors.Join(tx.PutEdge(ann, "a1"), tx.PutEdge(ann, "a2"), tx.PutEdge(ann, "a3"))
	}
	update(t, g, putLinks)
	erased := false
	plan := model.EdgePlan{Samples: 50, Epochs: 1}
	plan.Progress = model.NewMeter(time.Now, func(model.Progress) {
		if !erased {
			erased = true
			update(t, g, func(tx *db.Tx) error { return tx.Erase(ann) })
		}
	})
	_, err := g.Model("default").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: plan})
	if must(t, err); !erased {
		t.Fatal("the training told no progress")
	}
	wantForgotten := func() {
		t.Helper()
		var b bytes.Buffer
		must(t, g.Model("default").Export(ctx, &b, 0))
		if bytes.Contains(b.Bytes(), []byte(ann)) {
			t.Error("the exported model has the key")
		}
		_, err := g.Model("copy").Import(ctx, &b)
		must(t, err, g.Model("copy").Drop(ctx), g.Check(ctx))
		wantNoTrace(t, g, ann)
	}
	wantForgotten()
	plan.Progress = nil
	_, err = g.Model("default").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: plan})
	must(t, err)
	wantForgotten()
	update(t, g, putLinks) // a new node
	wantErased(t, "after the trainings", g, 1)
}

// An erase travels to followers: to one that has seen the node, and to one that comes later, when
// the changes were scrubbed. Neither has the key after its own compaction.
func TestEraseInFollowers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Reopen(t, place(t), feedOptions(newClock()))
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}))
	load(t, g, 20)
	early, late := follower(t, g), follower(t, g)
	ann := newKey()
	putPerson(t, g, ann)
	for i, path := range []string{early, late} {
		h := open(t, path, followAt(newClock()))
		if i == 0 {
			must(t, h.Apply(ctx, changes(t, g, version(t, h))...))
			if files := namedIn(t, path, ann); len(files) == 0 {
				t.Error("the follower that has seen the node does not have its key")
			}
			update(t, g, func(tx *db.Tx) error {
				return errors.Join(tx.Erase(ann), tx.AddNode(db.Node{Key: db.Str(ann)}), tx.Erase(ann))
			})
			last := changes(t, g, version(t, g)-1)[0]
			n := 0
			for _, node := range last.Nodes {
				if node.Erased && node.Deleted && node.Node.Erased() {
					n++
				}
			}
			if n != 2 {
				t.Errorf("the change of the erase has the nodes %+v", last.Nodes)
			}
		}
		if i == 1 {
			must(t, g.Compact(ctx))
			wantErased(t, "compacted", g, 0)
		}
		must(t, h.Apply(ctx, changes(t, g, version(t, h))...))
		alike(t, path, g, h)
		wantErased(t, path, h, 2)
		must(t, h.Compact(ctx))
		wantErased(t, path, h, 0)
		if files := namedIn(t, path, ann); len(files) > 0 {
			t.Errorf("the files %q of the follower hold the key", files)
		}
		wantNoTrace(t, h, ann)
		s, err := h.Stats()
		must(t, err)
		if got, want := asJSON(t, changes(t, h, s.Changes.After)), asJSON(t, changes(t, g, s.Changes.After)); got != want {
			t.Errorf("the follower yields\n%s, want\n%s", got, want)
		}
		must(t, h.Close())
	}
	must(t, g.Check(ctx))
}
