package index

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kith/index/internal/pages"
)

// sample returns a snapshot with every kind of data, made in two commits, and its store.
func sample(t testing.TB, directed bool) (*Snapshot, *memory) {
	t.Helper()
	meta := soundMeta()
	meta.Directed = directed
	s, store := New(meta), newMemory()
	if err := s.WriteBase(store); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b := s.Begin()
		for i := range int64(6) {
			u, _, _ := b.AddNode(Int(i))
			v, _, _ := b.AddNode(Str("k" + string(rune('a'+i))))
			if _, err := b.SetEdge(Edge{Ends: Ends{U: u, V: v}, Weight: float32(i+1) / 2, Time: i}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.SetEdge(Edge{Ends: Ends{U: u, V: 0}, Weight: 1}); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.SetLabel(v, "letter"), b.SetFeatures(v, []float32{float32(i), 1})); err != nil {
				t.Fatal(err)
			}
		}
		id, _ := b.ID(Int(3))
		if err := errors.Join(b.DeleteNode(id), b.Write(store, Commit{})); err != nil {
			t.Fatal(err)
		}
		s = b.Snapshot()
	}
	return s, store
}

// TestCheck verifies that Check finds each kind of damage in memory.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*Snapshot){
		"": func(*Snapshot) {},
		"an edge is missing": func(s *Snapshot) {
			r := s.Graph.in.rows.At(0)
			r.Delete(slices.Index(r.To, 2))
			r.Weight, r.Time = nil, nil
			r.degree = r.Sum()
		},
		"degree of":     func(s *Snapshot) { s.Graph.out.rows.At(0).degree++ },
		"entry 1":       func(s *Snapshot) { to := s.Graph.out.rows.At(0).To; to[0], to[1] = to[1], to[0] },
		"weight -1":     func(s *Snapshot) { s.Graph.out.rows.At(4).Weight[0] = -1 },
		"is deleted":    func(s *Snapshot) { s.nodes.set(new(pages.Owner), 2, node{deleted: true}) },
		"counters say":  func(s *Snapshot) { s.Meta.Edges++ },
		"8 keys for 12": func(s *Snapshot) { s.dict, _ = newDict(s.dict.keys()[:8]) },
		"dictionary":    func(s *Snapshot) { s.dict.index = keyIndex{} },
		"features":      func(s *Snapshot) { s.Meta.Labels[1].Features++ },
	} {
		for _, directed := range []bool{true, false} {
			s, _ := sample(t, directed)
			damage(s)
			breaches, _ := s.Check(context.Background())
			err := errors.Join(breaches...)
			switch {
			case name == "" && err != nil:
				t.Errorf("a sound graph: %v", err)
			case name != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name)):
				t.Errorf("directed %v: found %v, want %q", directed, err, name)
			}
		}
	}
}

func TestCheckStopsCounting(t *testing.T) {
	t.Parallel()
	c := &checker{}
	for range 3 * maxFindings {
		c.report("again")
	}
	if len(c.found) != maxFindings {
		t.Errorf("%d findings, want %d", len(c.found), maxFindings)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s, store := sample(t, false)
	open := func() *Snapshot {
		o, err := Open(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if err := s.Verify(context.Background(), store); err != nil {
		t.Error(err)
	}
	for name, differ := range map[string]func(*Snapshot){
		"version": func(o *Snapshot) { o.Meta.Version++ },
		"ids":     func(o *Snapshot) { e := o.Graph.Edit(); e.Grow(99); o.Graph = e.Graph() },
		"weight": func(o *Snapshot) {
			e := o.Graph.Edit()
			e.Set(Edge{Ends: Ends{U: 0, V: 1}, Weight: 7})
			o.Graph = e.Graph()
		},
		"time": func(o *Snapshot) {
			e := o.Graph.Edit()
			e.Set(Edge{Ends: Ends{U: 0, V: 1}, Weight: 0.5, Time: 7})
			o.Graph = e.Graph()
		},
		"edge":   func(o *Snapshot) { e := o.Graph.Edit(); e.Set(Edge{Ends: Ends{U: 0, V: 1}}); o.Graph = e.Graph() },
		"label":  func(o *Snapshot) { o.nodes.set(new(pages.Owner), 1, node{}) },
		"vector": func(o *Snapshot) { o.features.set(new(pages.Owner), 1, nil) },
		"key": func(o *Snapshot) {
			keys := o.dict.keys()
			keys[0] = Str("other")
			o.dict, _ = newDict(keys)
		},
	} {
		o := open()
		differ(o)
		wantCorrupt(t, name, o.Verify(context.Background(), store))
	}
}

// TestOpenOfDamage truncates, changes or deletes each single record of a store. Open must return an
// error or a sound graph: not every loss can be detected, but Open must not invent data.
func TestOpenOfDamage(t *testing.T) {
	t.Parallel()
	_, store := sample(t, false)
	s, err := Open(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.Rebase(s, s.compactTo(t, store, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	b := next.Begin()
	if _, _, err := b.AddNode(Str("late")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(next.WriteBase(store), DropGenerations(store, store, 1, 1), b.Write(store, Commit{})); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(store, nil); err != nil {
		t.Fatal(err)
	}
	for key, value := range store.entries {
		for i := range value {
			m := store.clone()
			m.entries[key] = slices.Clone(value)
			m.entries[key][i] ^= 0x10
			_, err := Open(m, nil)
			wantCorrupt(t, "changed: "+key, err)
		}
		m := store.clone()
		m.entries[key] = value[:len(value)/2]
		_, err := Open(m, nil)
		wantCorrupt(t, "cut: "+key, err)
		m = store.clone()
		delete(m.entries, key)
		if s, err := Open(m, nil); err == nil && s != nil {
			checkSound(t, s)
		} else if err != nil {
			wantCorrupt(t, "missing: "+key, err)
		}
		for _, stray := range []string{key[:1] + "?", key + "x"} {
			m := store.clone()
			m.entries[stray] = value
			_, err := Open(m, nil)
			if err != nil {
				wantCorrupt(t, "stray: "+stray, err)
			}
		}
	}
}

// TestVerifyOfDamage verifies that Verify detects any single record of the graph that is truncated,
// changed, missing or added.
func TestVerifyOfDamage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, directed := range []bool{true, false} {
		s, store := sample(t, directed)
		next, err := s.Rebase(s, s.compactTo(t, store, 1), 1)
		if err != nil {
			t.Fatal(err)
		}
		b := next.Begin()
		u, _, _ := b.AddNode(Str("late"))
		if _, err := b.SetEdge(Edge{Ends: Ends{U: u, V: 2}, Weight: 1}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(
			b.SetLabel(4, "other"), next.WriteBase(store), DropGenerations(store, store, 1, 1), b.Write(store, Commit{}),
		); err != nil {
			t.Fatal(err)
		}
		now := b.Snapshot()
		if err := now.Verify(ctx, store); err != nil {
			t.Fatal(err)
		}
		for key, value := range store.entries {
			for what, damaged := range map[string][]byte{"changed": bytes.Clone(value), "cut": value[:len(value)/2], "missing": nil} {
				m := store.clone()
				if m.entries[key] = damaged; damaged == nil {
					delete(m.entries, key)
				}
				if what == "changed" {
					damaged[len(damaged)-1] ^= 0x10
				}
				wantCorrupt(t, what+": "+key, now.Verify(ctx, m))
			}
		}
	}
}

// TestOpenOfWhatDoesNotFit verifies that inconsistent records with correct checksums are ErrCorrupt
// and cause neither a panic nor a large allocation.
func TestOpenOfWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	vectors := new(vectorBlock)
	vectors[1] = []float32{1, 2}
	logged := func(r record) func(*memory) {
		r.prev, r.first = 1, 12
		return func(m *memory) { _ = putSplit(m, makeKey[uint64](prefixLog, 2), r.encode()) }
	}
	for name, damage := range map[string]func(*memory){
		"log: a key twice":        logged(record{keys: []Key{Int(0)}}),
		"log: an unknown node":    logged(record{nodes: []nodeChange{{id: 1 << 31}}}),
		"log: an unknown label":   logged(record{nodes: []nodeChange{{id: 1, node: node{label: 77}}}}),
		"log: an unknown end":     logged(record{edges: []edgeChange{{Edge: Edge{Ends: Ends{U: 0, V: 1 << 31}, Weight: 1, Time: 0}}}}),
		"log: another old weight": logged(record{edges: []edgeChange{{Edge: Edge{Ends: Ends{U: 0, V: 1}, Weight: 1, Time: 0}, Old: 9}}}),
		"features far away":       func(m *memory) { _ = putSplit(m, makeKey[uint64](prefixFeature, 1<<27), appendFeatures(nil, vectors)) },
		"features out of range":   func(m *memory) { _ = putSplit(m, makeKey[uint64](prefixFeature, 1<<31), appendFeatures(nil, vectors)) },
	} {
		s, m := sample(t, true)
		damage(m)
		_, err := Open(m, nil)
		wantCorrupt(t, name, err)
		wantCorrupt(t, "verify: "+name, s.Verify(context.Background(), m))
	}
}

func TestBatchRefuses(t *testing.T) {
	t.Parallel()
	s, _ := sample(t, false)
	b := s.Begin()
	if _, _, err := b.AddNode(Str("")); err == nil {
		t.Error("the empty key was taken")
	}
	if _, err := b.SetEdge(Edge{Ends: Ends{U: 0, V: 1}, Weight: -1}); !errors.Is(err, ErrWeight) {
		t.Errorf("weight -1: %v", err)
	}
	if err := b.SetLabel(0, "a\x00b"); err == nil {
		t.Error("a label with a zero byte was taken")
	}
	err := b.SetFeatures(1, []float32{1, 2, 3})
	if !errors.Is(err, ErrFeatureLen) || !strings.Contains(err.Error(), `3 features, label "letter" has 2`) {
		t.Errorf("three features: %v", err)
	}
	for i := 2; i < maxLabels; i++ {
		b.View().Meta.Labels = append(b.View().Meta.Labels, Label{})
	}
	if err := b.SetLabel(0, "one more"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a label too many: %v", err)
	}
	if !b.Empty() {
		t.Error("what was refused has changed something")
	}
}

// TestBatchOfNothing verifies that a batch without changes makes no version.
func TestBatchOfNothing(t *testing.T) {
	t.Parallel()
	s, _ := sample(t, false)
	b := s.Begin()
	for e := range s.Graph.Edges() {
		if old, err := b.SetEdge(Edge{Ends: Ends{U: e.V, V: e.U}, Weight: e.Weight, Time: e.Time}); err != nil || old != e.Weight {
			t.Errorf("%v again: had %v, %v", e, old, err)
		}
	}
	if _, err := b.SetEdge(Edge{Ends: Ends{U: 1, V: 1}}); err != nil {
		t.Error(err)
	}
	if _, made, err := b.AddNode(Int(1)); made || err != nil {
		t.Errorf("node 1 again: %v, %v", made, err)
	}
	if err := b.SetLabel(1, "letter"); err != nil {
		t.Error(err)
	}
	if !b.Empty() {
		t.Error("the batch is not empty")
	}
}
