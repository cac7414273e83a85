package db_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/db"
)

// oracle is a database made of maps.
type oracle struct {
	directed   bool
	nodes      map[db.Key]string // label and features
	edges      map[triple]float32
	properties map[db.Key]map[string]any
}

// triple names an edge. The lower key of an undirected edge is the first one.
type triple struct {
	relation string
	a, b     db.Key
}

// relations are the relations of an oracle's database besides the one without a name.
var relations = []db.Relation{{Name: "likes"}, {Name: "follows", Directed: true}, {Name: "blocks", Directed: true, Exclude: true}}

// isDirected reports whether the edges of a relation are directed.
func (o *oracle) isDirected(relation string) bool {
	i := slices.IndexFunc(relations, func(r db.Relation) bool { return r.Name == relation })
	if i < 0 {
		return o.directed
	}
	return relations[i].Directed
}

func (o *oracle) triple(relation string, a, b db.Key) triple {
	if !o.isDirected(relation) && a.Compare(b) > 0 {
		a, b = b, a
	}
	return triple{relation, a, b}
}

// op is one change, applied in the same way to any database and to the oracle.
type op struct {
	kind     string
	relation string
	a, b     db.Key
	weight   float32
	features []float32
}

var genOp = rapid.Custom(func(t *rapid.T) op {
	key := rapid.Custom(func(t *rapid.T) db.Key {
		if i := rapid.IntRange(0, 9).Draw(t, "key"); i%2 == 0 {
			return db.Int(int64(i))
		} else {
			return db.Str(fmt.Sprint(i))
		}
	})
	return op{
		kind:     rapid.SampledFrom([]string{"edge", "edge", "edge", "cut", "node", "features", "property", "delete"}).Draw(t, "kind"),
		relation: rapid.SampledFrom([]string{"", "", "likes", "follows", "blocks"}).Draw(t, "relation"),
		a:        key.Draw(t, "a"), b: key.Draw(t, "b"),
		weight:   rapid.SampledFrom([]float32{1, 1, 2, 0.25}).Draw(t, "weight"),
		features: []float32{float32(rapid.IntRange(0, 3).Draw(t, "x")), 1},
	}
})

// on applies the change in a transaction. It is not an error if the target of the change does not
// exist.
func (o op) on(tx *db.Tx) error {
	var err error
	switch o.kind {
	case "edge":
		err = tx.PutEdge(o.a, o.b, db.Via(o.relation), db.Weight(o.weight))
	case "cut":
		err = tx.DeleteEdge(o.a, o.b, db.Via(o.relation))
	case "node":
		err = tx.PutNode(db.Node{Key: o.a, Label: "l"})
	case "features":
		err = tx.SetFeatures(o.a, o.features)
	case "property":
		err = tx.SetProperties(o.a, o.properties())
	case "delete":
		err = tx.DeleteNode(o.a)
	}
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// properties returns the values that the change sets or removes.
func (o op) properties() map[string]any {
	p := map[string]any{"x": float64(o.features[0]), "name": o.b.String()}
	if o.weight == 2 {
		p["x"] = nil
	}
	return p
}

// in applies the change to the oracle.
func (o op) in(w *oracle) {
	name := func(label, features string) string { return label + " " + features }
	_, there := w.nodes[o.a]
	var label, features string
	_, _ = fmt.Sscanf(w.nodes[o.a], "%1s %s", &label, &features)
	switch o.kind {
	case "edge":
		for _, k := range [2]db.Key{o.a, o.b} {
			if _, ok := w.nodes[k]; !ok {
				w.nodes[k] = name("-", "[]")
			}
		}
		w.edges[w.triple(o.relation, o.a, o.b)] = o.weight
	case "cut":
		delete(w.edges, w.triple(o.relation, o.a, o.b))
	case "node":
		w.nodes[o.a] = name("l", cmp.Or(features, "[]"))
	case "features":
		if there {
			w.nodes[o.a] = name(label, fmt.Sprintf("[%v,%v]", o.features[0], o.features[1]))
		}
	case "property":
		if there {
			if w.properties[o.a] == nil {
				w.properties[o.a] = map[string]any{}
			}
			for name, v := range o.properties() {
				if w.properties[o.a][name] = v; v == nil {
					delete(w.properties[o.a], name)
				}
			}
		}
	case "delete":
		delete(w.nodes, o.a)
		delete(w.properties, o.a)
		maps.DeleteFunc(w.edges, func(e triple, _ float32) bool { return e.a == o.a || e.b == o.a })
	}
}

// agree fails t unless g and the oracle have the same content, by every way of reading.
func (o *oracle) agree(t *rapid.T, g *db.DB) {
	nodes, edges, rows := map[db.Key]string{}, map[triple]float32{}, 0
	err := g.View(context.Background(), func(tx *db.Tx) error {
		for n, err := range tx.Nodes() {
			if err != nil {
				return err
			}
			features := "[]"
			if n.Features != nil {
				features = fmt.Sprintf("[%v,%v]", n.Features[0], n.Features[1])
			}
			nodes[n.Key] = cmp.Or(n.Label, "-") + " " + features
			if !maps.Equal(n.Properties, o.properties[n.Key]) {
				return fmt.Errorf("node %v has %v, want %v", n.Key, n.Properties, o.properties[n.Key])
			}
			degree := 0.0
			for e, err := range tx.Neighbors(n.Key) {
				if err != nil {
					return err
				}
				degree += float64(e.Weight)
				rows++
				back, err := tx.Edge(e.Src, e.Dst, db.Via(e.Relation))
				if err != nil || back != e || o.edges[o.triple(e.Relation, e.Src, e.Dst)] != e.Weight {
					return fmt.Errorf("edge %v, then %v: %v", e, back, err)
				}
			}
			if degree != n.Degree {
				return fmt.Errorf("node %v: degree %v", n.Key, n.Degree)
			}
		}
		for e, err := range tx.Edges() {
			if err != nil {
				return err
			}
			edges[o.triple(e.Relation, e.Src, e.Dst)] = e.Weight
		}
		return o.agreeOnRelations(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	entries := len(o.edges)
	for e := range o.edges {
		if !o.isDirected(e.relation) && e.a != e.b {
			entries++
		}
	}
	if !maps.Equal(nodes, o.nodes) || !maps.Equal(edges, o.edges) || rows != entries {
		t.Fatalf("there are %v %v (%d row entries), want %v %v", nodes, edges, rows, o.nodes, o.edges)
	}
}

// agreeOnRelations compares the counts of relations, and the edges of each relation.
func (o *oracle) agreeOnRelations(tx *db.Tx) error {
	all, err := tx.Relations()
	if err != nil {
		return err
	}
	counts := map[string]int64{}
	for e := range o.edges {
		counts[e.relation]++
	}
	for _, r := range all {
		if r.Edges != counts[r.Name] || r.Directed != o.isDirected(r.Name) {
			return fmt.Errorf("relation %+v, want %d edges", r, counts[r.Name])
		}
		delete(counts, r.Name)
	}
	if len(counts) > 0 {
		return fmt.Errorf("relations %v, but there are edges %v", all, counts)
	}
	for n := range tx.Nodes() {
		for _, r := range all {
			for e, err := range tx.Neighbors(n.Key, db.Via(r.Name)) {
				if err != nil || e.Relation != r.Name || o.edges[o.triple(r.Name, e.Src, e.Dst)] != e.Weight {
					return fmt.Errorf("edge %v via %q: %v", e, r.Name, err)
				}
			}
		}
	}
	return nil
}

// variant is one of several databases to which the same changes are applied in different ways.
type variant struct {
	name    string
	options db.Options
	path    string
	batch   int // number of changes in an update; 0 means all
	reopens bool
	g       *db.DB
}

func (v *variant) apply(t *rapid.T, ops []op) {
	size := v.batch
	if size == 0 {
		size = max(len(ops), 1)
	}
	for some := range slices.Chunk(ops, size) {
		err := v.g.Update(context.Background(), func(tx *db.Tx) error {
			for _, o := range some {
				if err := o.on(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if v.reopens {
		v.close(t)
		v.open(t)
	}
}

func (v *variant) open(t *rapid.T) {
	var err error
	if v.g, err = db.Open(v.path, &v.options); err != nil {
		t.Fatal(err)
	}
}

func (v *variant) close(t *rapid.T) {
	if err := errors.Join(v.g.Check(context.Background()), v.g.Close()); err != nil {
		t.Fatal(err)
	}
}

// answers returns the predictions for every node as text.
func answers(t rapid.TB, g *db.DB, p db.PredictOptions) (all []string) {
	ctx := context.Background()
	err := g.View(ctx, func(tx *db.Tx) error {
		for n := range tx.Nodes() {
			p.For = n.Key
			r, err := tx.Predict(ctx, p)
			if err != nil {
				return err
			}
			r.GraphVersion = 0 // the number of commits may differ for the same graph
			all = append(all, fmt.Sprintf("%+v", *r))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// addRelations adds the relations of an oracle's database.
func addRelations(tx *db.Tx) error {
	for _, r := range relations {
		if err := tx.AddRelation(r); err != nil {
			return err
		}
	}
	return nil
}

// followed returns a follower of a variant, made from a backup of it.
func followed(t *rapid.T, v *variant, path string) *db.DB {
	var b bytes.Buffer
	_, err := v.g.WriteTo(context.Background(), &b)
	if err = errors.Join(err, restore(path, b.Bytes())); err != nil {
		t.Fatal(err)
	}
	h, err := db.Open(path, &db.Options{Memory: 64 << 20, NoSync: true, Follower: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// follows applies the changes of g that a follower lacks.
func follows(t *rapid.T, h, g *db.DB) {
	ctx := context.Background()
	err := g.View(ctx, func(tx *db.Tx) error {
		s, err := h.Stats()
		if err != nil {
			return err
		}
		for c, err := range tx.Changes(s.Version) {
			if err = errors.Join(err, h.Apply(ctx, c)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// agreeWithCopies compares the oracle with what a kill leaves of a variant, with that after a
// repair, and with a restored backup.
func (o *oracle) agreeWithCopies(t *rapid.T, v *variant, path string) {
	ctx := context.Background()
	options := db.Options{Memory: 64 << 20, NoSync: true}
	compare := func(path string) {
		g, err := db.Open(path, &options)
		if err != nil {
			t.Fatal(err)
		}
		o.agree(t, g)
		if err := errors.Join(g.Check(ctx), g.Close()); err != nil {
			t.Fatal(err)
		}
	}
	killed := path + "-killed"
	if err := errors.Join(os.CopyFS(killed, os.DirFS(v.path)), os.Remove(filepath.Join(killed, "LOCK"))); err != nil {
		t.Fatal(err)
	}
	compare(killed)
	if _, err := db.Repair(ctx, killed, &options, db.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	compare(killed)
	var b bytes.Buffer
	_, err := v.g.WriteTo(ctx, &b)
	if err = errors.Join(err, restore(path+"-restored", b.Bytes())); err != nil {
		t.Fatal(err)
	}
	compare(path + "-restored")
}

// A database equals maps. A database on the disk equals one in memory, one batch equals many, and
// reopened equals kept open, in rows and in predictions. A follower, a restored backup, and what a
// kill leaves, repaired or not, equal it too.
func TestDatabaseIsAMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		want := &oracle{rapid.Bool().Draw(t, "directed"), map[db.Key]string{}, map[triple]float32{}, map[db.Key]map[string]any{}}
		direction := db.Undirected
		if want.directed {
			direction = db.Directed
		}
		all := []*variant{
			{name: "memory", options: db.Options{InMemory: true, Memory: 64 << 20}, batch: 1},
			{name: "memory, large updates", options: db.Options{InMemory: true, Memory: 64 << 20}},
		}
		if rapid.IntRange(0, 7).Draw(t, "disk") == 0 { // opening takes longer than everything else
			paged := &variant{name: "disk, paged, reopened", options: db.Options{NoSync: true}, reopens: true}
			db.Paged(&paged.options)
			all = append(all, &variant{name: "disk, reopened", options: db.Options{NoSync: true, ChangeBytes: 1 << 20}, reopens: true}, paged)
		}
		for i, v := range all {
			v.options.Direction, v.options.Memory = direction, 64<<20
			if !v.options.InMemory {
				v.path = fmt.Sprintf("%s/%d-%d", dir, n, i)
			}
			v.open(t)
			defer func() { _ = v.g.Close() }()
			if err := v.g.Update(context.Background(), addRelations); err != nil {
				t.Fatal(err)
			}
		}
		var h *db.DB // follows all[2]
		if len(all) > 2 {
			h = followed(t, all[2], fmt.Sprintf("%s/%d-follower", dir, n))
			defer func() { _ = h.Close() }()
		}
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			ops := rapid.SliceOfN(genOp, 1, 10).Draw(t, "ops")
			for _, o := range ops {
				o.in(want)
			}
			for _, v := range all {
				v.apply(t, ops)
				want.agree(t, v.g)
			}
			if h != nil {
				follows(t, h, all[2].g)
				want.agree(t, h)
			}
		}
		if h != nil {
			want.agreeWithCopies(t, all[2], fmt.Sprintf("%s/%d-copy", dir, n))
		}
		for _, relation := range []string{"", "likes", "follows"} {
			p := db.PredictOptions{Relation: relation, Inverse: relation != "" && want.directed, Among: db.All(), NoCache: true}
			first := answers(t, all[0].g, p)
			for _, v := range all[1:] {
				if got := answers(t, v.g, p); !slices.Equal(got, first) {
					t.Fatalf("%s predicts %q\n%v\n%s:\n%v", v.name, relation, got, all[0].name, first)
				}
			}
		}
		for _, v := range all {
			v.close(t)
		}
	})
}
