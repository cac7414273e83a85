package index

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"kith/index/internal/block"
	"kith/ppr"
)

func genRecord(t *rapid.T) *record {
	genNode := rapid.Custom(func(t *rapid.T) nodeChange {
		label := rapid.Uint16Range(0, maxLabels-1).Draw(t, "label")
		return nodeChange{id: rapid.Uint32().Draw(t, "id"), node: node{label, rapid.Bool().Draw(t, "deleted")}}
	})
	weight := rapid.OneOf(rapid.Just[float32](0), genWeight)
	genChange := rapid.Custom(func(t *rapid.T) edgeChange {
		return edgeChange{Edge: Edge{
			Ends:     Ends{U: rapid.Uint32().Draw(t, "u"), V: rapid.Uint32().Draw(t, "v")},
			Relation: rapid.SampledFrom([]uint16{0, 0, 1, 300}).Draw(t, "relation"),
			Weight:   weight.Draw(t, "weight"), Time: genTime.Draw(t, "time"),
		}, Old: weight.Draw(t, "old")}
	})
	return &record{
		prev:  rapid.Uint64().Draw(t, "prev"),
		first: rapid.Uint32().Draw(t, "first"),
		keys:  rapid.SliceOf(genKey).Draw(t, "keys"),
		nodes: rapid.SliceOf(genNode).Draw(t, "nodes"),
		edges: rapid.SliceOf(genChange).Draw(t, "edges"),
		values: rapid.SliceOf(rapid.Custom(func(t *rapid.T) valueChange {
			return valueChange{
				id: rapid.Uint32().Draw(t, "id"), property: rapid.Uint16().Draw(t, "property"),
				value: genValue(t, Kind(rapid.IntRange(int(BoolKind), int(ListKind)).Draw(t, "kind"))),
			}
		})).Draw(t, "values"),
	}
}

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := genRecord(t)
		b := want.encode()
		got, err := decodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		if got.prev != want.prev || got.first != want.first || !slices.Equal(got.keys, want.keys) || !slices.Equal(got.nodes, want.nodes) || !slices.Equal(got.edges, want.edges) ||
			!slices.EqualFunc(got.values, want.values, func(a, b valueChange) bool { return a.id == b.id && a.property == b.property && a.value.Equal(b.value) }) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if got.empty() != want.empty() {
			t.Fatalf("empty: %v, want %v", got.empty(), want.empty())
		}
		for n := range b {
			if _, err := decodeRecord(b[:n]); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
			}
		}
		if _, err := decodeRecord(append(b, 0)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("a byte too many: %v", err)
		}
	})
}

func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfDistinct(rapid.Uint32Max(MaxNodes-1), func(u ID) ID { return u }).Draw(t, "nodes")
		slices.Sort(ids)
		want := &storedState{version: rapid.Uint64().Draw(t, "version"), nodes: ids, y: make([]float32, len(ids))}
		for i := range want.y {
			want.y[i] = rapid.Float32().Filter(func(y float32) bool { return !notFinite(y) }).Draw(t, "y")
		}
		b := want.encode()
		got, err := decodeState(b)
		if err != nil || got.version != want.version || !slices.Equal(got.nodes, want.nodes) || !slices.Equal(got.y, want.y) {
			t.Fatalf("%v: got %v, want %v", err, got, want)
		}
		for n := range b {
			if _, err := decodeState(b[:n]); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
			}
		}
	})
	for _, y := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		_, err := decodeState((&storedState{1, []ID{3}, []float32{y}}).encode())
		wantCorrupt(t, "a value that is not finite", err)
	}
}

func TestFeaturesRoundTrip(t *testing.T) {
	t.Parallel()
	want := new(vectorBlock)
	want[0], want[7], want[featureBlock-1] = []float32{1, -2, 3e30}, []float32{0}, []float32{4, 5}
	b := appendFeatures(nil, want)
	got, err := decodeFeatures(b)
	if err != nil || !gocmp.Equal(&got, want) {
		t.Errorf("%v: got %v, want %v", err, got, want)
	}
	for n := range b {
		_, err := decodeFeatures(b[:n])
		wantCorrupt(t, "cut short", err)
	}
	_, err = decodeFeatures(append(b, 0))
	wantCorrupt(t, "a byte too many", err)
	want[3] = []float32{float32(math.NaN())}
	_, err = decodeFeatures(appendFeatures(nil, want))
	wantCorrupt(t, "a feature that is not finite", err)
}

// soundMeta returns the meta record of an empty graph.
func soundMeta() Meta {
	return Meta{Format: Format, Alpha: 0.85, Epsilon: 1e-6, Seed: 1, Labels: []Label{{}}, Relations: []Relation{{}}}
}

func TestMeta(t *testing.T) {
	t.Parallel()
	want := soundMeta()
	want.Version, want.Base, want.LogStart, want.Generation = 9, 7, 5, 3
	want.Nodes, want.Live, want.Edges, want.Loops = 4, 3, 2, 1
	want.Labels = append(want.Labels, Label{"item", 64, 2, nil}, Label{"tag", 0, 1, []uint16{1, 2}})
	want.Relations = []Relation{{Edges: 1}, {Name: "likes", Directed: true, Exclude: true, Edges: 1, Loops: 1}}
	b, err := msgpack.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeMeta(b); err != nil || !gocmp.Equal(*got, want) {
		t.Errorf("%v: %v", err, gocmp.Diff(&want, got))
	}
	if n, ok := want.LabelNumber("item"); n != 1 || !ok {
		t.Errorf("label number %d, %v", n, ok)
	}
	if n, ok := want.LabelNumber("user"); n != 0 || ok {
		t.Errorf("number of no label %d, %v", n, ok)
	}
	for name, damage := range map[string]func(*Meta){
		"alpha":      func(m *Meta) { m.Alpha = 1 },
		"no number":  func(m *Meta) { m.Epsilon = math.NaN() },
		"base":       func(m *Meta) { m.Base = m.Version + 1 },
		"log":        func(m *Meta) { m.LogStart = m.Base + 1 },
		"live nodes": func(m *Meta) { m.Live = m.Nodes + 1 },
		"negative":   func(m *Meta) { m.Live, m.Nodes = -2, -1 },
		"loops":      func(m *Meta) { m.Loops = m.Edges + 1 },
		"no label":   func(m *Meta) { m.Labels = nil },
		"label 0":    func(m *Meta) { m.Labels = m.Labels[1:] },
		"partner":    func(m *Meta) { m.Labels = []Label{{}, {Name: "a", Partners: []uint16{2}}} },
		"partners":   func(m *Meta) { m.Labels = []Label{{}, {Name: "a", Partners: []uint16{1, 1}}} },
		"count":      func(m *Meta) { m.Labels = []Label{{}, {Name: "a", Nodes: m.Live + 1}} },
		"features":   func(m *Meta) { m.Labels = []Label{{Features: -1}} },
		"relations":  func(m *Meta) { m.Relations = nil },
		"edges":      func(m *Meta) { m.Relations = m.Relations[:1] },
		"direction":  func(m *Meta) { m.Directed = true },
	} {
		m := want
		damage(&m)
		b, err := msgpack.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decodeMeta(b)
		wantCorrupt(t, name, err)
	}
	newer, err := msgpack.Marshal(map[string]any{"format": Format + 1, "shape": "unheard of"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeMeta(newer); !errors.Is(err, ErrMismatch) {
		t.Errorf("a newer format: got %v, want ErrMismatch", err)
	}
}

func TestStateKeys(t *testing.T) {
	t.Parallel()
	for _, want := range []StateID{{Form: ppr.Column, Alpha: 0.85}, {Form: ppr.Row, Alpha: 0.3, Source: 1 << 31, Coarse: true}} {
		if got, ok := parseStateKey(stateKey(want)); !ok || got != want {
			t.Errorf("got %v, %v, want %v", got, ok, want)
		}
	}
	for _, key := range []string{"", "s", "s\x02\x00\x00\x00\x00", "s\x00\x00\x00\x00\x00\x00"} {
		if of, ok := parseStateKey([]byte(key)); ok {
			t.Errorf("%q: %v", key, of)
		}
	}
}

// fuzzDecoder verifies that decode returns a value, ErrCorrupt or one of the other errors for any
// bytes, and never panics.
func fuzzDecoder[T any](f *testing.F, seeds [][]byte, decode func([]byte) (T, error), other ...error) {
	for _, b := range seeds {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := decode(b)
		if err == nil || errors.Is(err, ErrCorrupt) {
			return
		}
		for _, o := range other {
			if errors.Is(err, o) {
				return
			}
		}
		t.Fatal(err)
	})
}

func FuzzRecord(f *testing.F) {
	r := record{
		keys:  []Key{Int(7), Str("a"), Int(-7)},
		nodes: []nodeChange{{id: 3, node: node{2, true}}},
		edges: []edgeChange{{Edge: Edge{Ends: Ends{U: 1, V: 2}, Weight: 0.5, Time: 9}, Old: 1}, {Edge: Edge{Ends: Ends{U: 0, V: 0}, Relation: 3, Weight: 1, Time: 0}}},
	}
	fuzzDecoder(f, [][]byte{r.encode(), (&record{}).encode()}, func(b []byte) (*record, error) {
		r, err := decodeRecord(b)
		if err == nil && len(r.keys)+len(r.nodes)+len(r.edges) > len(b) {
			err = fmt.Errorf("%d bytes gave %v", len(b), r)
		}
		return r, err
	})
}

func FuzzState(f *testing.F) {
	s := storedState{7, []ID{0, 3, 900}, []float32{1, 2, 3}}
	fuzzDecoder(f, [][]byte{s.encode(), (&storedState{}).encode()}, decodeState)
}

func FuzzFeatures(f *testing.F) {
	vectors := new(vectorBlock)
	vectors[2] = []float32{1, 2, 3}
	fuzzDecoder(f, [][]byte{appendFeatures(nil, vectors)}, decodeFeatures)
}

// TestUnmarshalDamage verifies that memory use does not accumulate over many damaged documents: an
// invalid length costs each at most a megabyte.
func TestUnmarshalDamage(t *testing.T) {
	b := []byte("\x82\xa6format\x01\xa1x\xc6\xff\xff\xff\xff") // x: bytes, 4 GB of them
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		_, err := decodeMeta(b)
		wantCorrupt(t, "damage", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 500<<20 {
		t.Errorf("%d MB for 100 documents", n>>20)
	}
}

func FuzzMeta(f *testing.F) {
	m := soundMeta()
	b, err := msgpack.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	fuzzDecoder(f, [][]byte{b}, decodeMeta, ErrMismatch)
}

func FuzzNodeRecord(f *testing.F) {
	fuzzDecoder(f, [][]byte{(&node{}).append(nil), (&node{label: 300, deleted: true}).append(nil)}, func(b []byte) (n node, err error) {
		d := &block.Decoder{B: b}
		n = decodeNodeRecord(d)
		return n, d.End()
	})
}

func FuzzModelEntry(f *testing.F) {
	e := ModelEntry{Serial: 3, At: 7, Kept: []uint64{1, 2}, Note: []byte("note")}
	f.Add(e.encode())
	f.Add((&ModelEntry{Serial: 3}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeModelEntry(b)
		again, errAgain := decodeModelEntry(e.encode())
		if err == nil && (errAgain != nil || again.Serial != e.Serial || again.At != e.At || !slices.Equal(again.Kept, e.Kept) || !bytes.Equal(again.Note, e.Note)) {
			t.Fatalf("%+v, encoded and decoded %+v", e, again)
		}
	})
}

// There are at most 65,535 relations with a name.
func TestTooManyRelations(t *testing.T) {
	t.Parallel()
	m := soundMeta()
	m.Relations = make([]Relation, MaxRelations)
	if n, err := m.addRelation(Relation{Name: "last"}); n != MaxRelations || err != nil {
		t.Errorf("the last relation is number %d, %v", n, err)
	}
	if _, err := m.addRelation(Relation{Name: "more"}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one more: %v", err)
	}
}
