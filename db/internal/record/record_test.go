package record_test

import (
	"iter"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// Decoding any bytes as an observation returns one or an error, and memory is proportional to the
// bytes.
func FuzzObservation(f *testing.F) {
	for _, r := range []record.Observation{{}, {Model: "m", Source: 3, Target: 4, Reward: 1, Contexts: index.PackFloats([]float32{1, 2}), Offered: []index.ID{1, 9}}} {
		b, err := msgpack.Marshal(&r)
		must(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := record.Decode[record.Observation](index.Document{Bytes: b})
		if err != nil {
			return
		}
		m, err := model.New(model.Spec{})
		must(t, err)
		if o := r.Outcome(m); len(o.Contexts)*4 > len(b) || len(o.Offered) > len(b) {
			t.Fatalf("%d bytes gave %+v", len(b), o)
		}
	})
}

// Decoding any bytes as a decision returns a consistent one or an error.
func FuzzDecision(f *testing.F) {
	d := record.Decision{ID: 1, Source: 2, Candidates: []index.ID{3, 4}, Scores: []float64{1, 2}, Propensities: []float64{0.25, 0.75}, Places: []record.Place{{Chosen: 1, Propensity: 0.75}}, End: 9}
	b, err := msgpack.Marshal(&d)
	must(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := record.OpenDecision(index.Document{Bytes: b, At: 1}, 10)
		if err == nil && (d.Target(0) > 9 || d.Places[0].Propensity <= 0 || len(d.Candidates) > len(b)) {
			t.Fatalf("%d bytes gave %+v", len(b), d)
		}
	})
}

// emptyReader is a store without records.
type emptyReader struct{}

func (emptyReader) Get([]byte) ([]byte, bool, error) { return nil, false, nil }

func (emptyReader) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(func(index.Entry, error) bool) {}
}

// Decoding any bytes as a model's document or registry returns a model or an error.
func FuzzModelDocument(f *testing.F) {
	r := record.Registry{Version: 2, Before: []int{1}, Versions: []record.Version{{Number: 1, Serial: 3}, {Number: 2}}}
	note, err := msgpack.Marshal(&r)
	must(f, err)
	doc, err := msgpack.Marshal(&record.Document{Name: "m", Version: 2, Document: []byte("none")})
	must(f, err)
	f.Add(doc, note)
	f.Fuzz(func(t *testing.T, doc, note []byte) {
		_, _ = record.OpenModel(emptyReader{}, nil, "m", index.Document{Bytes: doc, Entry: index.ModelEntry{Note: note}}) // does not panic
		var r record.Registry
		if err := msgpack.Unmarshal(note, &r); err != nil || r.Consistent(r.Version, r.Kept()) != nil {
			return
		}
		if _, ok := r.Find(r.Version); !ok || len(r.Versions) > len(note) {
			t.Fatalf("%d bytes gave %+v", len(note), r)
		}
	})
}

// An inconsistent registry is detected.
func TestRegistryIsSound(t *testing.T) {
	t.Parallel()
	good := record.Registry{Version: 2, Versions: []record.Version{{Number: 1, Serial: 7}, {Number: 2}, {Number: 5, Serial: 9}}}
	if err := good.Consistent(2, []uint64{7, 9}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		r      record.Registry
		number int
		kept   []uint64
	}{
		"another version's document": {good, 1, []uint64{7, 9}},
		"other documents":            {good, 2, []uint64{7}},
		"no versions":                {record.Registry{Version: 2}, 2, nil},
		"not ascending":              {record.Registry{Version: 2, Versions: []record.Version{{Number: 2}, {Number: 2}}}, 2, nil},
		"version 0":                  {record.Registry{Versions: []record.Version{{Number: 0}}}, 0, nil},
	} {
		if c.r.Consistent(c.number, c.kept) == nil {
			t.Errorf("%s: nothing was noticed", name)
		}
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
