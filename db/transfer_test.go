package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/internal/archive"
	"kith/model"
)

// exported returns the model file of a model.
func exported(t testing.TB, g *db.DB, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, g.Model(name).Export(context.Background(), &b, 0))
	return b.Bytes()
}

// archived returns an archive with one entry.
func archived(t testing.TB, k archive.Kind, value []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := archive.NewWriter(&b, k, archive.Header{Seq: 1})
	must(t, err, w.Add(archive.Entry{Key: []byte{0}, Value: value}), w.Close())
	return b.Bytes()
}

// An imported model gives the same answers in a database with other node ids, and continues to
// learn in the same way.
func TestExportModel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, policy := range []string{"", "prb", "adamic_adar"} {
		g, other := dbtest.Open(t, inMemory), dbtest.Open(t, inMemory)
		load(t, g, 40)
		update(t, other, func(tx *db.Tx) error { // other ids for the same keys
			for u := 39; u >= 0; u-- {
				if err := tx.PutNode(db.Node{Key: db.Int(int64(u))}); err != nil {
					return err
				}
			}
			return nil
		})
		must(t, g.Model("m").Create(ctx, model.Spec{Policy: policy}))
		teach(t, g, 0, 50)
		update(t, other, func(tx *db.Tx) error {
			for _, e := range edgesOf(t, g) {
				if err := tx.PutEdge(e.Src, e.Dst, db.Weight(e.Weight), db.At(e.Time)); err != nil {
					return err
				}
			}
			return nil
		})
		got, err := other.Model("m").Import(ctx, bytes.NewReader(exported(t, g, "m")))
		if want := (db.Import{Model: "m", Version: 1, Deployed: true, Known: got.Known}); err != nil || got != want {
			t.Fatalf("%q: %+v, %v", policy, got, err)
		}
		for round := range 2 {
			there := byKey(t, other)
			for link, score := range byKey(t, g) { // coarse states of other ids differ within their errors
				if math.Abs(score-there[link]) > 3e-3 {
					t.Errorf("%q, round %d: %s has score %v, imported %v", policy, round, link, score, there[link])
				}
			}
			teach(t, g, 50, 20)
			teach(t, other, 50, 20)
		}
		must(t, other.Check(ctx))
	}
}

func edgesOf(t testing.TB, g *db.DB) (all []db.Edge) {
	view(t, g, func(tx *db.Tx) error {
		for e, err := range tx.Edges() {
			must(t, err)
			all = append(all, e)
		}
		return nil
	})
	return all
}

// byKey returns the scores of some predictions by source and target.
func byKey(t testing.TB, g *db.DB) map[string]float64 {
	all := map[string]float64{}
	for _, u := range []int{3, 7, 11} {
		r, err := g.Predict(context.Background(), db.PredictOptions{For: u, Among: db.Keys(1, 2, 20, 21, 22), Model: "m", NoCache: true, Top: -1, Epsilon: 1e-10})
		must(t, err)
		for _, l := range r.Links {
			all[fmt.Sprint(u, " -> ", l.Target.Literal())] = l.Score
		}
	}
	return all
}

// An imported model forgets nodes that the database lacks and remembers the others.
func TestImportForgets(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, few := dbtest.Open(t, inMemory), dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 50)
	load(t, few, 10)
	got, err := few.Model("m").Import(ctx, bytes.NewReader(exported(t, g, "m")))
	if err != nil || got.Known == 0 || got.Known > 10 || got.Forgotten == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	back := exported(t, few, "m")
	got, err = g.Model("m").Import(ctx, bytes.NewReader(back))
	if err != nil || got.Forgotten != 0 || got.Version != 2 || got.Deployed {
		t.Errorf("back where it was: %+v, %v", got, err)
	}
}

// Damage to any byte of a file is detected.
func TestImportOfDamagedFiles(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 10)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	good := exported(t, g, "m")
	refused := func(what string, b []byte, want ...error) {
		t.Helper()
		_, err := g.Model("n").Import(ctx, bytes.NewReader(b))
		for _, w := range want {
			if errors.Is(err, w) {
				return
			}
		}
		t.Errorf("%s: %v, want one of %v", what, err, want)
	}
	step := size(7, 7, 1)
	for n := 0; n < len(good); n += step {
		damaged := bytes.Clone(good)
		damaged[n] ^= 0x10
		refused(fmt.Sprintf("byte %d of %d", n, len(good)), damaged, db.ErrCorrupt, db.ErrMismatch, db.ErrTooLarge)
	}
	for n := 0; n < len(good); n += step {
		refused(fmt.Sprintf("%d of %d bytes", n, len(good)), good[:n], db.ErrCorrupt, db.ErrMismatch)
	}
	refused("with a tail", append(bytes.Clone(good), 0), db.ErrCorrupt)
	refused("a backup", archived(t, archive.Backup, nil), db.ErrMismatch)
	refused("no document", archived(t, archive.Model, nil), db.ErrCorrupt)
	refused("more than a 16th of the memory", archived(t, archive.Model, make([]byte, 1+4<<20)), db.ErrTooLarge)
	refused("nothing", nil, db.ErrMismatch)
	view(t, g, func(tx *db.Tx) error {
		if n := len(tx.Models()); n != 1 {
			t.Errorf("%d models", n)
		}
		return nil
	})
}

// A damaged file with a correct checksum is rejected or gives a model, and does no harm.
func TestImportOfHostileFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 5)
	a, err := archive.NewReader(bytes.NewReader(exported(t, g, "m")), archive.Model)
	must(t, err)
	var good []byte
	for part, err := range a.All() {
		must(t, err)
		good = append(good, part.Value...)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	taken := 0
	changes := size(300, 1000, 3000)
	for range changes {
		b := bytes.Clone(good)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = byte(rng.IntN(256))
		}
		_, err := g.Model("n").Import(ctx, bytes.NewReader(archived(t, archive.Model, b)))
		switch {
		case err == nil:
			taken++
			if _, err := g.Predict(ctx, db.PredictOptions{For: 3, Model: "n"}); err != nil {
				t.Log(err)
			}
			must(t, g.Model("n").Drop(ctx))
		case !errors.Is(err, db.ErrCorrupt) && !errors.Is(err, db.ErrMismatch) && !errors.Is(err, db.ErrInput):
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d were models", taken, changes)
}

// A model for another kind of graph is rejected, with the reason.
func TestImportOfMisfits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		var err error
		for i := range 6 {
			err = errors.Join(err, tx.PutNode(db.Node{Key: db.Int(int64(i)), Label: "paper", Features: []float32{1, float32(i), 2}}))
			err = errors.Join(err, tx.PutEdge(i, (i+1)%6))
		}
		return errors.Join(err, tx.PutNode(db.Node{Key: db.Str("a"), Label: "topic"}), tx.PutNode(db.Node{Key: db.Str("b"), Label: "topic"}))
	})
	var wide model.Spec
	must(t, wide.Set("blocks", "structural"))
	must(t, g.Model("vectors").Create(ctx, model.Spec{}), g.Model("prb").Create(ctx, model.Spec{Policy: "prb"}), g.Model("blocks").Create(ctx, wide))
	plain := dbtest.Open(t, inMemory)
	load(t, plain, 10)
	for _, c := range []struct {
		file string
		to   *db.DB
		name string
		want string
	}{
		{"vectors", plain, "m", "wants feature vectors of length 3, those of the database have []"},
		{"prb", g, "vectors", "its policy is default, that of the file prb"},
		{"blocks", g, "vectors", "its blocks is "},
	} {
		_, err := c.to.Model(c.name).Import(ctx, bytes.NewReader(exported(t, g, c.file)))
		if !errors.Is(err, db.ErrMismatch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.file, err, c.want)
		}
	}
	_, err := plain.Model("").Import(ctx, bytes.NewReader(exported(t, g, "prb")))
	wantError(t, "without a name", err, db.ErrInput)
	wantError(t, "exporting what is not there", plain.Model("m").Export(ctx, &bytes.Buffer{}, 0), db.ErrNoModel)
}

// A database that is opened read-only exports its models as of the last commit.
func TestExportFromReadOnly(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
	teach(t, g, 0, 30)
	want := exported(t, g, "m")
	must(t, g.Close())
	g = dbtest.Reopen(t, path, &db.Options{ReadOnly: true})
	if got := exported(t, g, "m"); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %d when it was open for writing, or others", len(got), len(want))
	}
	_, err := g.Model("m").Import(ctx, bytes.NewReader(want))
	wantError(t, "an import where nothing is written", err, db.ErrReadOnly)
}

// The log has the observations in order, with the decisions that they reward.
func TestObservations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 3)
	d, err := g.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(5, 6), Model: "m"})
	must(t, err, g.Reward(ctx, d.ID, 1), g.Model("m").Freeze(ctx))
	teach(t, g, 3, 1)
	must(t, g.Model("m").Drop(ctx))
	var got []string
	view(t, g, func(tx *db.Tx) error {
		for o, err := range tx.Observations() {
			must(t, err)
			got = append(got, fmt.Sprint(o.Model, o.ModelVersion, " ", o.Source.Literal(), "-", o.Target.Literal(), "=", o.Reward, " ", o.Decision, o.Learned, len(o.Offered)))
		}
		return nil
	})
	want := []string{"m1 0-11=0 0 true 3", "m1 1-12=1 0 true 3", "m1 2-15=0 0 true 3", fmt.Sprintf("m1 3-%v=1 1 true 2", d.Places[0].Target.Literal()), "m1 3-20=0 0 false 3"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
