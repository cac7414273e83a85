package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// history is an in-memory database that follows the steps of package db.
type history struct {
	store *memory
	now   *Snapshot
	want  *world
	given uint32   // highest generation number assigned
	past  []past   // snapshots since the store was last reopened
	ever  []*world // oracles of all committed versions
}

type past struct {
	s *Snapshot
	w *world
}

func newHistory(t rapid.TB, directed bool) *history {
	meta := soundMeta()
	meta.Directed = directed
	h := &history{store: newMemory(), now: New(meta), want: newWorld(directed)}
	if err := h.now.WriteBase(h.store); err != nil {
		t.Fatal(err)
	}
	return h
}

// genFew draws one of a few keys, so that keys recur.
var genFew = rapid.Custom(func(t *rapid.T) Key {
	i := rapid.IntRange(0, 12).Draw(t, "key")
	if i%3 == 0 {
		return Str(fmt.Sprint("k", i))
	}
	return Int(int64(i))
})

// change makes the same change in a batch and in the oracle.
func (h *history) change(t *rapid.T, b *Batch, w *world) {
	k, l := genFew.Draw(t, "a"), genFew.Draw(t, "b")
	id, live := b.ID(k)
	if _, want := w.nodes[k]; live != want {
		t.Fatalf("%v is live: %v, want %v", k, live, want)
	}
	switch rapid.SampledFrom([]string{"node", "edge", "edge", "edge", "cut", "delete", "erase", "label", "features", "value", "value", "variable"}).Draw(t, "change") {
	case "node":
		if _, made, err := b.AddNode(k); err != nil || made == live {
			t.Fatalf("add %v: made %v, %v", k, made, err)
		}
		if !live {
			w.nodes[k] = worldNode{}
		}
	case "edge":
		weight, at := genWeight.Draw(t, "weight"), genTime.Draw(t, "time")
		relation := genRelation.Draw(t, "relation")
		h.setEdge(t, b, relation, k, l, weight, at)
		w.setEdge(relation, k, l, weight, at)
	case "cut":
		name := genRelation.Draw(t, "relation")
		relation, known := b.View().Meta.RelationNumber(name)
		if m, ok := b.ID(l); ok && live && known {
			edge := w.pair(name, k, l)
			if old, err := b.SetEdge(Edge{Ends: Ends{U: id, V: m}, Relation: relation}); err != nil || old != w.edges[edge].Weight {
				t.Fatalf("cut %v: had %v, %v", edge, old, err)
			}
			delete(w.edges, edge)
		}
	case "delete":
		if live {
			if err := b.DeleteNode(id); err != nil {
				t.Fatal(err)
			}
			w.deleteNode(k)
		}
	case "erase":
		if id, known := b.Known(k); known {
			if err := b.Erase(id); err != nil {
				t.Fatal(err)
			}
			if w.deleteNode(k); !b.Key(id).Erased() {
				t.Fatalf("the key of node %d is %v", id, b.Key(id).Literal())
			}
		}
		if id, known := b.Known(k); known {
			t.Fatalf("%v was erased, and is the key of node %d", k, id)
		}
	case "label":
		if live {
			h.setLabel(t, b, id, k, w)
		}
	case "features":
		if live {
			h.setFeatures(t, b, id, k, w)
		}
	case "value":
		if live {
			h.setValue(t, b, id, k, w)
		}
	case "variable":
		setVariable(t, b, w)
	}
}

// setVariable sets or removes a variable.
func setVariable(t *rapid.T, b *Batch, w *world) {
	name := rapid.SampledFrom([]string{"a", "ab", "a\x01", "b"}).Draw(t, "variable")
	value := rapid.StringN(0, 3, 12).Draw(t, "value")
	if err := b.SetVariable(name, []byte(value)); err != nil {
		t.Fatal(err)
	}
	if w.variables[name] = value; value == "" {
		delete(w.variables, name)
	}
	if got := string(b.View().Variable(name)); got != value {
		t.Fatalf("variable %q is %q, want %q", name, got, value)
	}
}

// setValue sets or removes a value. The property "any" takes each type while no node has it.
func (h *history) setValue(t *rapid.T, b *Batch, id ID, k Key, w *world) {
	name, kind := genProperty(t)
	var v Value
	fits, wider := true, map[worldValue]string{}
	if rapid.IntRange(0, 3).Draw(t, "removed") > 0 {
		v = genValue(t, kind)
		fits, wider = w.fitValue(name, kind)
	}
	err := b.SetProperty(id, name, v)
	switch {
	case fits != (err == nil) || err != nil && !errors.Is(err, ErrKind):
		t.Fatalf("property %q of %v: %v", name, k, err)
	case err != nil:
	case v.Kind() == NoValue:
		delete(w.values, worldValue{k, name})
	default:
		maps.Copy(w.values, wider)
		w.values[worldValue{k, name}] = spellingOf(v)
	}
}

func (h *history) setEdge(t *rapid.T, b *Batch, name string, k, l Key, weight float32, at int64) {
	u, _, err := b.AddNode(k)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := b.AddNode(l)
	if err != nil {
		t.Fatal(err)
	}
	relation, known := b.View().Meta.RelationNumber(name)
	if !known {
		if relation, err = b.Relate(Relation{Name: name, Directed: worldRelations()[name], Exclude: name == "likes"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.SetEdge(Edge{Ends: Ends{U: u, V: v}, Relation: relation, Weight: weight, Time: at}); err != nil {
		t.Fatal(err)
	}
	if b.Key(u) != k || b.Key(v) != l {
		t.Fatalf("keys %v %v, want %v %v", b.Key(u), b.Key(v), k, l)
	}
}

func (h *history) setLabel(t *rapid.T, b *Batch, id ID, k Key, w *world) {
	label := rapid.SampledFrom([]string{"", "user", "item"}).Draw(t, "label")
	n := w.nodes[k]
	length := len(b.View().Features(id))
	fits := length == 0 || label == n.label || w.lengths[label] == 0 || w.lengths[label] == length
	err := b.SetLabel(id, label)
	if fits != (err == nil) || err != nil && !errors.Is(err, ErrFeatureLen) {
		t.Fatalf("label %q of %v with %d features: %v", label, k, length, err)
	}
	if err == nil {
		n.label = label
		w.nodes[k] = n
		if length > 0 {
			w.lengths[label] = length
		}
	}
}

func (h *history) setFeatures(t *rapid.T, b *Batch, id ID, k Key, w *world) {
	n := w.nodes[k]
	v := rapid.SliceOfN(rapid.Float32Range(-9, 9), 0, 2).Draw(t, "features")
	fits := len(v) == 0 || w.lengths[n.label] == 0 || w.lengths[n.label] == len(v)
	err := b.SetFeatures(id, v)
	if fits != (err == nil) || err != nil && !errors.Is(err, ErrFeatureLen) {
		t.Fatalf("%d features of %v with label %q: %v", len(v), k, n.label, err)
	}
	if err != nil {
		return
	}
	n.features = ""
	if len(v) > 0 {
		n.features = fmt.Sprint(v)
		w.lengths[n.label] = len(v)
	}
	w.nodes[k] = n
}

var errBack = errors.New("take it back")

// changes makes some changes, some of them in savepoints nested up to depth.
func (h *history) changes(t *rapid.T, b *Batch, w *world, depth int) {
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		if depth == 0 || rapid.IntRange(0, 3).Draw(t, "savepoint") > 0 {
			h.change(t, b, w)
			continue
		}
		was, empty := w.clone(), b.Empty()
		fate := rapid.SampledFrom([]error{nil, errBack}).Draw(t, "fate")
		err := b.Savepoint(func() error {
			h.changes(t, b, w, depth-1)
			return fate
		})
		if err != fate {
			t.Fatalf("savepoint returned %v, want %v", err, fate)
		}
		if err == nil {
			continue
		}
		if *w = *was; b.Empty() != empty {
			t.Fatalf("empty: %v, want %v", b.Empty(), empty)
		}
		w.agreeWithBatch(t, b)
	}
}

// commit commits a batch of changes as the next version.
func (h *history) commit(t *rapid.T) {
	b, w := h.now.Begin(), h.want.clone()
	h.changes(t, b, w, 2)
	w.agreeWithBatch(t, b)
	if rapid.IntRange(0, 9).Draw(t, "fate") == 0 {
		return // rolled back
	}
	if err := b.Write(h.store, Commit{}); err != nil {
		t.Fatal(err)
	}
	h.past = append(h.past, past{h.now, h.want})
	h.now, h.want = b.Snapshot(), w
	h.ever = append(h.ever, w)
}

// agreeWithBatch compares the parts that do not need the new keys in the dictionary.
func (w *world) agreeWithBatch(t *rapid.T, b *Batch) {
	for k := range w.nodes {
		if id, ok := b.ID(k); !ok || b.Key(id) != k {
			t.Fatalf("%v: id %d, %v", k, id, ok)
		}
	}
	w.agreeOnVariables(t, b.View())
	if m := b.View().Meta; m.Live != int64(len(w.nodes)) || m.Edges != int64(len(w.edges)) {
		t.Fatalf("%d nodes, %d edges, want %d, %d", m.Live, m.Edges, len(w.nodes), len(w.edges))
	}
}

// compact makes some version up to the current one the base, as a background compaction does, or
// leaves the blocks of an interrupted compaction behind.
func (h *history) compact(t *rapid.T) {
	versions := append(slices.Clone(h.past), past{h.now, h.want})
	old := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "of")].s
	if _, ok := h.now.log.since(old.Meta.Version); !ok || old.Meta.Generation != h.now.Meta.Generation {
		return
	}
	h.given++
	base := old.compactTo(t, h.store, h.given)
	if rapid.Bool().Draw(t, "in memory") {
		if err := base.Graph.Load(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "fate") == 0 {
		return // died before the commit
	}
	next, err := h.now.Rebase(old, base, h.given)
	if err != nil {
		t.Fatal(err)
	}
	h.rebase(t, next)
}

func (h *history) rebase(t *rapid.T, next *Snapshot) {
	if err := next.WriteBase(h.store); err != nil {
		t.Fatal(err)
	}
	h.past = append(h.past, past{h.now, h.want})
	h.now = next
	if rapid.Bool().Draw(t, "tidy") {
		h.drop(t)
	}
	if rapid.Bool().Draw(t, "scrub") {
		h.scrub(t)
	}
}

// scrub removes what names erased nodes from all records.
func (h *history) scrub(t *rapid.T) {
	ctx, strip := context.Background(), func(doc []byte, _ func(ID) bool) ([]byte, string, error) { return doc, "", nil }
	versions, err := h.now.Naming(ctx, h.store, strip)
	for err == nil && len(versions) > 0 {
		h.now, versions, err = h.now.Scrub(h.store, h.store, versions, 1, strip)
	}
	if err != nil {
		t.Fatal(err)
	}
	if versions, err = h.now.Naming(ctx, h.store, strip); err != nil || len(versions) > 0 {
		t.Fatalf("versions %d still name erased nodes: %v", versions, err)
	}
	n := h.now.Meta.Erased - h.now.numErased()
	if h.now = h.now.Scrubbed(n); h.now.Meta.Erased < 0 {
		t.Fatalf("%d erased nodes are pending", h.now.Meta.Erased)
	}
	if err := h.now.WriteMeta(h.store); err != nil {
		t.Fatal(err)
	}
}

func (h *history) drop(t *rapid.T) {
	last, err := LastGeneration(h.store, 0)
	if err := errors.Join(err,
		DropGenerations(h.store, h.store, h.now.Meta.Generation, last), h.now.Meta.DropForgotten(h.store, h.store, 0),
	); err != nil {
		t.Fatal(err)
	}
	if last, err := LastGeneration(h.store, 0); err != nil || last > h.now.Meta.Generation {
		t.Fatalf("generation %d is left, present is %d; %v", last, h.now.Meta.Generation, err)
	}
	if left, err := LeftGenerations(h.store, h.now.Meta.Generation, h.now.Meta.Generation); err != nil || left {
		t.Fatalf("generations are left beside %d; %v", h.now.Meta.Generation, err)
	}
}

// TestLeftGenerations verifies that the copy of meta is the last record of a generation that is
// deleted, and says that others may be left.
func TestLeftGenerations(t *testing.T) {
	t.Parallel()
	store := newMemory()
	for _, key := range [][]byte{
		makeKey[uint32](prefixOut, 3, 0), makeKey[uint32](prefixDegree, 3, 0), partKey(makeKey[uint32](prefixBase, 3), 0),
		makeKey[uint32](prefixOut, 5, 0), partKey(makeKey[uint32](prefixBase, 5), 0), makeKey[uint32](prefixIn, 6, 0),
	} {
		must(t, store.Set(key, nil))
	}
	for _, c := range []struct {
		last uint32
		want string // kinds of the records that are left
	}{{5, "xgb"}, {6, "y"}, {5, ""}} {
		if left, err := LeftGenerations(store, 5, c.last); err != nil || left != (c.want != "") {
			t.Errorf("up to generation %d, %q is left: %v, %v", c.last, c.want, left, err)
		}
		d := &deletions{memory: store}
		if must(t, DropGenerations(store, d, 5, c.last)); d.kinds != c.want {
			t.Errorf("up to generation %d, %q is deleted, want %q", c.last, d.kinds, c.want)
		}
	}
}

// deletions records the kinds of the records that are deleted.
type deletions struct {
	*memory
	kinds string
}

func (d *deletions) Delete(key []byte) error {
	d.kinds += string(key[:1])
	return d.memory.Delete(key)
}

// loadNodes adds nodes with labels and values to a bulk load and to the oracle.
func (h *history) loadNodes(t *rapid.T, bulk *Bulk, w *world) {
	for range rapid.IntRange(0, 12).Draw(t, "nodes") {
		k, name := genFew.Draw(t, "node"), rapid.SampledFrom([]string{"", "", "user", "item"}).Draw(t, "label")
		label, err := bulk.Label(name)
		if err != nil {
			t.Fatal(err)
		}
		n := w.nodes[k]
		length := 0
		if n.features != "" {
			id, _ := h.now.ID(k)
			length = len(h.now.Features(id))
		}
		if length > 0 && label > 0 && w.lengths[name] != 0 && w.lengths[name] != length {
			if err := bulk.Node(k, label, nil); !errors.Is(err, ErrFeatureLen) {
				t.Fatalf("node %v with label %q and %d features: %v", k, name, length, err)
			}
			continue
		}
		if label > 0 {
			if n.label = name; length > 0 {
				w.lengths[name] = length
			}
		}
		w.nodes[k] = n
		if err := bulk.Node(k, label, h.loadValues(t, bulk, w, k)); err != nil {
			t.Fatal(err)
		}
	}
}

// loadValues returns values that a node gets in a bulk load, and adds them to the oracle.
func (h *history) loadValues(t *rapid.T, bulk *Bulk, w *world, k Key) (values []NodeValue) {
	for range rapid.IntRange(0, 3).Draw(t, "values") {
		name, kind := genProperty(t)
		v := genValue(t, kind)
		fits, wider := w.fitValue(name, kind)
		property, err := bulk.Property(name, kind)
		if fits != (err == nil) || err != nil && !errors.Is(err, ErrKind) {
			t.Fatalf("property %q of type %v: %v", name, kind, err)
		}
		if err == nil {
			maps.Copy(w.values, wider)
			w.values[worldValue{k, name}] = spellingOf(v)
			values = append(values, NodeValue{property, v})
		}
	}
	return values
}

// load adds many edges and nodes in a bulk load.
func (h *history) load(t *rapid.T) {
	how := Repeats(rapid.IntRange(0, int(NoRepeats)).Draw(t, "repeats"))
	bulk, w := h.now.Bulk(BulkOptions{Memory: rapid.Int64Range(0, 1000).Draw(t, "memory"), Scratch: newPaper, Repeats: how}), h.want.clone()
	defer bulk.Close()
	var lines []bulkLine
	for range rapid.IntRange(0, 12).Draw(t, "edges") {
		l := bulkLine{genFew.Draw(t, "a"), genFew.Draw(t, "b"), genWeight.Draw(t, "weight"), genTime.Draw(t, "time"), genRelation.Draw(t, "relation")}
		if err := l.add(bulk); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if err := bulk.Edge(Int(1), Int(2), 0, float32(math.NaN()), 0); !errors.Is(err, ErrWeight) {
		t.Fatalf("weight NaN: %v", err)
	}
	if err := bulk.Edge(Int(99), Str(""), 0, 1, 0); err == nil {
		t.Fatal("the empty key is accepted")
	}
	if err := bulk.Node(Str(""), 0, nil); err == nil {
		t.Fatal("the empty key is accepted")
	}
	h.loadNodes(t, bulk, w)
	h.given++
	want, wantErr := w.load(lines, how)
	next, tally, err := bulk.writeTo(context.Background(), h.store, h.given)
	if !errors.Is(err, wantErr) || wantErr == nil && (err != nil || tally != want) {
		t.Fatalf("%v: %+v, %v, want %+v, %v", how, tally, err, want, wantErr)
	}
	if err != nil {
		return
	}
	if rapid.IntRange(0, 4).Draw(t, "fate") == 0 {
		return // died before the commit
	}
	h.rebase(t, next)
	h.want = w
	h.ever = append(h.ever, w)
}

// reopen opens the store and compares the result with the current version. The rows are read now or
// on demand.
func (h *history) reopen(t *rapid.T) {
	on := rapid.SampledFrom([]*Stored{nil, {Cache: 0}, {Cache: 1 << 20}}).Draw(t, "rows")
	if on != nil {
		on = &Stored{memorySource{h.store.clone()}, on.Cache} // a clone, as a base stays readable after it was replaced
	}
	s, err := Open(h.store, on)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "load") {
		if err := s.Load(context.Background()); err != nil || !s.Graph.Loaded() {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Err(), h.now.Same(s), h.now.Verify(context.Background(), h.store)); err != nil {
		t.Fatal(err)
	}
	h.want.agree(t, s)
	got, _ := s.log.since(s.Meta.LogStart)
	want, _ := h.now.log.since(s.Meta.LogStart)
	if !slices.Equal(got, want) {
		t.Fatalf("log after %d: %v, want %v", s.Meta.LogStart, got, want)
	}
	if h.given, err = LastGeneration(h.store, s.Meta.Generation); err != nil {
		t.Fatal(err)
	}
	h.now, h.past = s, nil
	h.drop(t)
}

// TestHistory verifies that after any history the snapshot agrees with the oracle, older snapshots
// are unchanged, and opening the store returns an equal snapshot.
func TestHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t, rapid.Bool().Draw(t, "directed"))
		t.Repeat(map[string]func(*rapid.T){
			"commit":  h.commit,
			"commit2": h.commit,
			"compact": h.compact,
			"load":    h.load,
			"reopen":  h.reopen,
			"":        func(t *rapid.T) { h.want.agree(t, h.now) },
		})
		for _, p := range h.past {
			p.w.agree(t, p.s)
		}
		h.reopen(t)
	})
}

func TestOpenOfNothing(t *testing.T) {
	t.Parallel()
	if s, err := Open(newMemory(), nil); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
}

// TestBulkIsOneByOne verifies that a bulk load and adding the edges one at a time give the same
// graph except for the ids: a bulk load assigns them in key order, a batch in the order of arrival.
func TestBulkIsOneByOne(t *testing.T) {
	t.Parallel()
	lines := []bulkLine{
		{Str("b"), Str("a"), 1, 0, ""}, {Int(3), Int(3), 2, 5, ""}, {Int(-7), Str("b"), 1, 0, ""},
		{Str("a"), Str("b"), 3, 1, ""}, {Int(3), Int(3), 4, 6, ""},
	}
	for _, directed := range []bool{false, true} {
		meta := soundMeta()
		meta.Directed = directed
		bulk, batch, w := New(meta).Bulk(BulkOptions{}), New(meta).Begin(), newWorld(directed)
		for _, l := range lines {
			if err := l.add(bulk); err != nil {
				t.Fatal(err)
			}
			u, _, _ := batch.AddNode(l.src)
			v, _, _ := batch.AddNode(l.dst)
			if _, err := batch.SetEdge(Edge{Ends: Ends{U: u, V: v}, Weight: l.weight, Time: l.time}); err != nil {
				t.Fatal(err)
			}
			w.setEdge("", l.src, l.dst, l.weight, l.time)
		}
		if err := batch.Write(newMemory(), Commit{}); err != nil {
			t.Fatal(err)
		}
		s, tally, err := bulk.result()
		if err != nil || tally.Repeated != int64(len(lines)-len(w.edges)) {
			t.Fatalf("%d repeated, %v", tally.Repeated, err)
		}
		w.agree(t, s)
		w.agree(t, batch.Snapshot())
		want := []Key{Int(-7), Int(3), Str("a"), Str("b")}
		if got := s.dict.keys(); !slices.Equal(got, want) {
			t.Errorf("ids in the order of %v, want %v", got, want)
		}
	}
}

// TestBulkLabels verifies that a bulk load sets the labels of new, existing and re-created nodes.
// An edge with a node that cannot have its label is an error and changes nothing.
func TestBulkLabels(t *testing.T) {
	t.Parallel()
	batch, w := New(soundMeta()).Begin(), newWorld(false)
	for _, n := range []struct {
		key, label string
		features   []float32
	}{{"u1", "", nil}, {"i1", "item", []float32{1, 2}}, {"wide", "other", []float32{1, 2, 3}}, {"gone", "other", nil}, {"i2", "other", nil}} {
		id, _, err := batch.AddNode(Str(n.key))
		if err == nil {
			err = errors.Join(batch.SetLabel(id, n.label), batch.SetFeatures(id, n.features))
		}
		if n.key == "gone" {
			err = batch.DeleteNode(id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	store := newMemory()
	must(t, batch.Write(store, Commit{}))
	bulk := batch.Snapshot().Bulk(BulkOptions{})
	if err := bulk.SetLabels("user", "item"); err != nil {
		t.Fatal(err)
	}
	for _, e := range [][2]string{{"u1", "i1"}, {"u2", "gone"}, {"u2", "i3"}, {"u2", "i2"}} {
		if err := bulk.Edge(Str(e[0]), Str(e[1]), 0, 1, 0); err != nil {
			t.Fatal(err)
		}
		w.setEdge("", Str(e[0]), Str(e[1]), 1, 0)
	}
	if err := bulk.Edge(Str("u9"), Str("wide"), 0, 1, 0); !errors.Is(err, ErrFeatureLen) {
		t.Errorf("3 features under a label of 2: %v", err)
	}
	s, _, err := bulk.writeTo(context.Background(), store, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.nodes = map[Key]worldNode{
		Str("u1"): {label: "user"}, Str("u2"): {label: "user"}, Str("i1"): {"item", "[1 2]"}, Str("i2"): {label: "item"},
		Str("i3"): {label: "item"}, Str("gone"): {label: "item"}, Str("wide"): {"other", "[1 2 3]"},
	}
	w.agree(t, s)
	if err := s.Bulk(BulkOptions{}).SetLabels("", "\x00"); err == nil {
		t.Error("a label that is no text is accepted")
	}
}
