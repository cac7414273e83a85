package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
	"kith/index/internal/spill"
)

// damage deletes, alters or reverts some of the entries. A reverted entry has its value from before
// its last change.
func (m *memory) damage(t *rapid.T) {
	keys := slices.Sorted(maps.Keys(m.entries))
	back := slices.Sorted(maps.Keys(m.earlier))
	for range rapid.IntRange(1, 4).Draw(t, "damages") {
		k := rapid.SampledFrom(keys).Draw(t, "key")
		switch how := rapid.SampledFrom([]string{"delete", "alter", "take back"}).Draw(t, "how"); {
		case how == "delete":
			delete(m.entries, k)
		case how == "alter":
			b := slices.Clone(m.entries[k])
			if len(b) > 0 {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
			m.entries[k] = b
		case len(back) > 0:
			k = rapid.SampledFrom(back).Draw(t, "back")
			m.entries[k] = m.earlier[k]
		}
	}
}

// keeps reports whether m still has the entries of o of the given kinds.
func (m *memory) keeps(o *memory, kinds ...byte) bool {
	for k, v := range o.entries {
		if slices.Contains(kinds, k[0]) && !bytes.Equal(v, m.entries[k]) {
			return false
		}
	}
	return true
}

// committed fails t if s has a node, an edge, a weight, a label or a vector that none of the worlds
// had. A label may be lost.
func committed(t *rapid.T, s *Snapshot, worlds []*world) {
	for id := range s.Nodes() {
		k, v := s.Key(id), s.Features(id)
		if !slices.ContainsFunc(worlds, func(w *world) bool { _, ok := w.nodes[k]; return ok }) {
			t.Fatalf("node %v was never committed", k)
		}
		if l := s.Meta.Labels[s.Label(id)].Name; l != "" && !slices.ContainsFunc(worlds, func(w *world) bool { return w.nodes[k].label == l }) {
			t.Fatalf("node %v never had label %q", k, l)
		}
		if v != nil && !slices.ContainsFunc(worlds, func(w *world) bool { return w.nodes[k].features == fmt.Sprint(v) }) {
			t.Fatalf("node %v never had features %v", k, v)
		}
	}
	for _, v := range s.Variables() {
		if !slices.ContainsFunc(worlds, func(w *world) bool { return w.variables[v.Name] == string(v.Value) }) {
			t.Fatalf("variable %q was never %q", v.Name, v.Value)
		}
	}
	for e := range s.Graph.Edges() {
		u, v, relation := s.Key(e.U), s.Key(e.V), s.Meta.Relations[e.Relation].Name
		if !slices.ContainsFunc(worlds, func(w *world) bool { return w.edges[w.pair(relation, u, v)] == Edge{Weight: e.Weight, Time: e.Time} }) {
			t.Fatalf("edge %v -> %v of weight %v at %d was never committed", u, v, e.Weight, e.Time)
		}
	}
}

// TestSalvage verifies that after any damage the salvaged snapshot is sound, contains only
// committed data, and can be written and opened again.
func TestSalvage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t, rapid.Bool().Draw(t, "directed"))
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				h.compact(t)
			case 1:
				h.load(t)
			default:
				h.commit(t)
			}
		}
		store := h.store.clone()
		s, found := Salvage(store)
		if len(found) > 0 {
			t.Fatalf("without damage: %v", found)
		}
		if err := h.now.Same(s); err != nil {
			t.Fatal(err)
		}
		store.damage(t)
		opened, err := Open(store, nil)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrMismatch) {
			t.Fatal(err)
		}
		s, found = Salvage(store)
		// The loss of a whole block of features cannot be detected, nor that of a newest version
		// whose records are all lost.
		if err != nil && len(found) == 0 && store.keeps(h.store, prefixFeature, prefixMeta) { // the log contains what the base lost
			was := *h.now
			was.Meta.Version = s.Meta.Version
			if different := was.Same(s); different != nil {
				t.Fatalf("Open returns %v, Salvage finds nothing; %v", err, different)
			}
		}
		if opened != nil && len(found) == 0 {
			committed(t, opened, h.ever)
		}
		if s == nil {
			return
		}
		checkSound(t, s)
		committed(t, s, h.ever)
		last, err := LastGeneration(store, s.Meta.Generation)
		if err != nil {
			t.Skip("a key that is no key") // package db reports it
		}
		next, err := s.Restart(store, store, last+1)
		must(t, err, next.WriteBase(store))
		again, err := Open(store, nil)
		must(t, err)
		must(t, s.Same(again))
	})
}

// TestSalvageWithoutMeta verifies that a lost meta record is derived, except for the names of
// labels created since the base.
func TestSalvageWithoutMeta(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "altered", "taken back"} {
		h := sampleHistory(t)
		switch k := string(partKey([]byte{prefixMeta}, 0)); how {
		case "gone":
			delete(h.store.entries, k)
		case "altered":
			h.store.entries[k] = []byte("these are other bytes")
		case "taken back":
			h.store.entries[k] = h.store.earlier[k]
		}
		if s, err := Open(h.store, nil); err == nil && s != nil {
			t.Errorf("%s: Open returns version %d", how, s.Meta.Version)
		}
		s, found := Salvage(h.store)
		if s == nil || len(found) == 0 {
			t.Fatalf("%s: %v", how, found)
		}
		if got, want := s.Meta, h.now.Meta; got.Version != want.Version || got.Nodes != want.Nodes || got.Live != want.Live || got.Edges != want.Edges {
			t.Errorf("%s: %+v, want %+v", how, got, want)
		}
		if got, want := slices.Collect(s.Graph.Edges()), slices.Collect(h.now.Graph.Edges()); !slices.Equal(got, want) {
			t.Errorf("%s: edges %v, want %v", how, got, want)
		}
	}
}

// TestSalvageOfAGapInTheLog verifies that a missing log record is reported and does not move any
// key to another id.
func TestSalvageOfAGapInTheLog(t *testing.T) {
	t.Parallel()
	h := sampleHistory(t)
	lost := string(partKey(makeKey[uint64](prefixLog, 3), 0))
	if _, ok := h.store.entries[lost]; !ok {
		t.Fatal("version 3 has no record")
	}
	delete(h.store.entries, lost)
	if _, err := Open(h.store, nil); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("Open returns %v", err)
	}
	s, found := Salvage(h.store)
	want := "log: what the commits after version 2 up to version 3 did is lost"
	if s == nil || !slices.ContainsFunc(found, func(err error) bool { return errors.Is(err, ErrCorrupt) && strings.Contains(err.Error(), want) }) {
		t.Fatalf("found %v", found)
	}
	for e := range s.Graph.Edges() {
		u, v := h.now.Key(e.U), h.now.Key(e.V)
		if s.Key(e.U) != u || s.Key(e.V) != v {
			t.Errorf("edge %v -> %v was %v -> %v", s.Key(e.U), s.Key(e.V), u, v)
		}
	}
	if _, ok := s.ID(Str("of 3")); ok || s.Meta.Live != h.now.Meta.Live-1 || s.Meta.Edges != h.now.Meta.Edges-1 {
		t.Errorf("%d nodes and %d edges are left, of %d and %d", s.Meta.Live, s.Meta.Edges, h.now.Meta.Live, h.now.Meta.Edges)
	}
}

// TestSalvageWithoutEvents verifies that lost events of the base are counted, and that the rest of
// the graph is kept.
func TestSalvageWithoutEvents(t *testing.T) {
	t.Parallel()
	h := newHistory(t, false)
	h.now = loaded(t, h.now, drawLines(rand.New(rand.NewPCG(1, 2)), 30, 1), KeepLast)
	h.now.compactTo(t, h.store, h.now.Meta.Generation)
	must(t, h.now.WriteBase(h.store))
	lost := 0
	for k := range h.store.entries {
		if k[0] == prefixEvent {
			delete(h.store.entries, k)
			lost++
		}
	}
	if lost != 1 {
		t.Fatalf("%d blocks of events", lost)
	}
	if _, err := Open(h.store, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Open returns %v", err)
	}
	s, found := Salvage(h.store)
	if s == nil || len(found) != 1 || !errors.Is(found[0], ErrCorrupt) || !strings.Contains(found[0].Error(), "30 of the 30 newest events of the base are lost") {
		t.Fatalf("found %v", found)
	}
	if s.Meta.Edges != h.now.Meta.Edges || len(s.events.all()) != 0 {
		t.Errorf("%d edges and %d events, want %d and none", s.Meta.Edges, len(s.events.all()), h.now.Meta.Edges)
	}
}

// TestSalvageOfAWrongBlock verifies that a block of edges that does not decode, although its
// checksum is right, costs its own edges and no others.
func TestSalvageOfAWrongBlock(t *testing.T) {
	t.Parallel()
	h := sampleHistory(t)
	k := string(makeKey[uint32](prefixOut, 1, 0))
	if _, ok := h.store.entries[k]; !ok {
		t.Fatal("there is no block of edges")
	}
	h.store.entries[k] = block.WithChecksum([]byte("no block"))
	_, err := Open(h.store, nil)
	wantCorrupt(t, "a wrong block", err)
	s, found := Salvage(h.store)
	if s == nil || len(found) == 0 || !strings.Contains(found[0].Error(), "block x 0") {
		t.Fatalf("found %v", found)
	}
	if s.Meta.Edges != h.now.Meta.Edges {
		t.Errorf("%d edges, want the %d of the log", s.Meta.Edges, h.now.Meta.Edges)
	}
}

// TestSalvageOfRows verifies that lost rows are taken from the rows of the other nodes: a lost
// block costs only the edges between nodes of that block, and nothing in a directed graph.
func TestSalvageOfRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		directions spill.Directions
		lost       string
	}{{spill.Directions{true}, "xy"}, {spill.Directions{false}, "x"}, {spill.Directions{false, true, false}, "xy"}} {
		const n = 3000
		rng := rand.New(rand.NewPCG(1, 1))
		m := newEdgeMap(n, c.directions...)
		for range 20_000 {
			m.set(Edge{
				Ends: Ends{U: rng.Uint32N(n), V: rng.Uint32N(n)}, Relation: uint16(rng.IntN(len(c.directions))),
				Weight: 1 + float32(rng.IntN(3)), Time: int64(rng.IntN(2)),
			})
		}
		s := New(Meta{Directed: c.directions[0], Alpha: 0.5, Epsilon: 0.5})
		keys := make([]Key, n)
		for i := range keys {
			keys[i] = Int(int64(i))
		}
		d, err := newDict(keys)
		must(t, err)
		s = s.replace(&Base{Graph: m.base(), dict: new(storedKeys).dict()}, 1, 0)
		s.dict, s.Meta.Relations = d, m.relations()
		store := newMemory()
		s.compactTo(t, store, 1)
		must(t, s.WriteBase(store))
		for _, kind := range []byte(c.lost) {
			damaged := store.clone()
			k := string(makeKey[uint32](kind, 1, 2))
			var lost block.Rows
			must(t, block.VerifyChecksum(damaged.entries[k]).Rows(&lost))
			delete(damaged.entries, k)
			_, err := Open(damaged, nil)
			wantCorrupt(t, "a missing block", err)
			got, found := Salvage(damaged)
			if got == nil || len(found) == 0 {
				t.Fatalf("found %v", found)
			}
			want := m.clone()
			for p := range m.edges {
				in := func(u ID) bool { return slices.Contains(lost.Node, u) }
				if !m.directed() && in(p.U) && in(p.V) {
					delete(want.edges, p)
				}
			}
			if edges := slices.Collect(got.Graph.Edges()); !slices.Equal(edges, want.list()) {
				t.Errorf("without block %c 2: %d edges, want %d of %d", kind, len(edges), len(want.edges), len(m.edges))
			}
			checkSound(t, got)
		}
	}
}

// TestOpenComparesDirections verifies that rows which contradict each other are found, although all
// checksums are right.
func TestOpenComparesDirections(t *testing.T) {
	t.Parallel()
	h := sampleHistory(t)
	k := string(makeKey[uint32](prefixOut, 1, 0))
	var r block.Rows
	must(t, block.VerifyChecksum(h.store.entries[k]).Rows(&r))
	if len(r.Node) != 2 {
		t.Fatalf("the base has the rows %v", r.Node)
	}
	p := block.RowPacker{Emit: func(_ ID, b []byte) error { return h.store.Set([]byte(k), b) }}
	must(t, p.Add(r.Node[0], r.Node[1], 0, 1, 0), p.Close())
	_, err := Open(h.store, nil)
	wantCorrupt(t, "an edge in one row only", err)
	s, _ := Salvage(h.store)
	if s == nil || s.Meta.Edges != h.now.Meta.Edges {
		t.Fatalf("salvaged %+v, want %d edges", s, h.now.Meta.Edges)
	}
	checkSound(t, s)
}

// sampleHistory returns a history of four commits with a base at the first version. Version n adds
// node 'of n' and an edge of that node.
func sampleHistory(t *testing.T) *history {
	h := newHistory(t, false)
	for n := range 4 {
		b := h.now.Begin()
		hub, _, err := b.AddNode(Int(0))
		must(t, err)
		id, _, err := b.AddNode(Str(fmt.Sprint("of ", n+1)))
		must(t, err)
		_, err = b.SetEdge(Edge{Ends: Ends{U: hub, V: id}, Weight: float32(n + 1)})
		must(t, err, b.Write(h.store, Commit{}))
		if h.now = b.Snapshot(); n > 0 {
			continue
		}
		h.now, err = h.now.Rebase(h.now, h.now.compactTo(t, h.store, 1), 1)
		must(t, err, h.now.WriteBase(h.store))
	}
	return h
}

// TestSalvageOfASoundBase verifies that an incomplete log from before the base does not change an
// undamaged base.
func TestSalvageOfASoundBase(t *testing.T) {
	t.Parallel()
	h := newHistory(t, false)
	for n := range 3 {
		b := h.now.Begin()
		u, _, err := b.AddNode(Int(1))
		must(t, err)
		v, _, err := b.AddNode(Int(2))
		must(t, err)
		_, err = b.SetEdge(Edge{Ends: Ends{U: u, V: v}, Weight: float32(n + 1)})
		must(t, err, b.Write(h.store, Commit{}))
		h.now = b.Snapshot()
	}
	var err error
	h.now, err = h.now.Rebase(h.now, h.now.compactTo(t, h.store, 1), 1)
	must(t, err, h.now.WriteBase(h.store))
	if h.now.Meta.LogStart != 0 {
		t.Fatalf("the log begins after version %d", h.now.Meta.LogStart)
	}
	delete(h.store.entries, string(partKey(makeKey[uint64](prefixLog, 3), 0)))
	s, found := Salvage(h.store)
	if s == nil || len(found) == 0 {
		t.Fatalf("found %v", found)
	}
	if got, want := slices.Collect(s.Graph.Edges()), slices.Collect(h.now.Graph.Edges()); !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
}

// TestSalvageOfAnEarlierMeta verifies that an outdated meta record is detected by an observation or
// a decision that is later than the record.
func TestSalvageOfAnEarlierMeta(t *testing.T) {
	t.Parallel()
	for what, later := range map[string]func(h *history) error{
		"observation": func(h *history) error {
			b := h.now.Begin()
			return errors.Join(b.PutObservation(h.store, "", []byte("seen")), b.Write(h.store, Commit{}))
		},
		"decision": func(h *history) error {
			b := h.now.Begin()
			return errors.Join(PutDecision(h.store, b.NextDecision(), 9, []byte("chosen")), b.Write(h.store, Commit{}))
		},
	} {
		h := sampleHistory(t)
		must(t, later(h))
		k := string(partKey([]byte{prefixMeta}, 0))
		h.store.entries[k] = h.store.earlier[k]
		_, err := Open(h.store, nil)
		wantCorrupt(t, what, err)
		s, found := Salvage(h.store)
		if s == nil || len(found) == 0 {
			t.Fatalf("%s: found %v", what, found)
		}
		if what == "observation" && s.Meta.Version != h.now.Meta.Version+1 || what == "decision" && s.Meta.Decisions != 1 {
			t.Errorf("%s: %+v", what, s.Meta)
		}
	}
}

// TestLabelsOfRelations verifies that Check finds edges whose nodes do not have the labels of their
// relation, and that salvage gives nodes without a label one, and drops the edges of others.
func TestLabelsOfRelations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		directed    bool
		labels      [2]string // of the nodes of an edge of a relation that joins users with posts
		sound, kept bool
	}{
		"right":               {true, [2]string{"user", "post"}, true, true},
		"swapped, undirected": {false, [2]string{"post", "user"}, true, true},
		"lost":                {true, [2]string{"", "post"}, false, true},
		"both lost":           {false, [2]string{"", ""}, false, true},
		"swapped, directed":   {true, [2]string{"post", "user"}, false, false},
		"others":              {false, [2]string{"user", "user"}, false, false},
	} {
		none, store := New(soundMeta()), newMemory()
		must(t, none.WriteBase(store))
		b := none.Begin()
		user, _ := b.LabelNumber("user")
		post, _ := b.LabelNumber("post")
		likes, err := b.Relate(Relation{Name: "likes", Directed: c.directed, SourceLabel: user, TargetLabel: post})
		must(t, err)
		var ends [2]ID
		for i, label := range c.labels {
			ends[i], _, err = b.AddNode(Int(int64(i)))
			must(t, err)
			if label != "" {
				must(t, b.SetLabel(ends[i], label))
			}
		}
		_, err = b.SetEdge(Edge{Ends: Ends{U: ends[0], V: ends[1]}, Relation: likes, Weight: 1})
		must(t, err, b.Write(store, Commit{}))
		breaches, err := b.Snapshot().Check(context.Background())
		must(t, err)
		if sound := len(breaches) == 0; sound != c.sound {
			t.Errorf("%s: check finds %v", name, breaches)
		}
		s, found := Salvage(store)
		if sound := len(found) == 0; sound != c.sound || s.Graph.edges > 0 != c.kept {
			t.Errorf("%s: salvage finds %v, and has %d edges", name, found, s.Graph.edges)
		}
		if breaches, err := s.Check(context.Background()); err != nil || len(breaches) > 0 {
			t.Errorf("%s: after salvage: %v, %v", name, breaches, err)
		}
	}
}
