package db

import (
	"encoding/binary"
	"iter"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
	"kith/model"
)

// Decoding any bytes as an observation returns one or an error, and memory is proportional to the
// bytes.
func FuzzObservation(f *testing.F) {
	for _, r := range []observationRecord{{}, {Model: "m", Source: 3, Target: 4, Reward: 1, Contexts: index.PackFloats([]float32{1, 2}), Offered: []index.ID{1, 9}}} {
		b, err := msgpack.Marshal(&r)
		must(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decoded[observationRecord](index.Document{Bytes: b})
		if err != nil {
			return
		}
		m, err := model.New(model.Spec{})
		must(t, err)
		if o := r.outcome(m); len(o.Contexts)*4 > len(b) || len(o.Offered) > len(b) {
			t.Fatalf("%d bytes gave %+v", len(b), o)
		}
	})
}

// Decoding any bytes as a decision returns a consistent one or an error.
func FuzzDecision(f *testing.F) {
	d := decision{ID: 1, Source: 2, Candidates: []index.ID{3, 4}, Scores: []float64{1, 2}, Propensities: []float64{0.25, 0.75}, Chosen: 1, End: 9}
	b, err := msgpack.Marshal(&d)
	must(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := openDecision(index.Document{Bytes: b, At: 1}, 10)
		if err == nil && (d.target() > 9 || d.Propensities[d.Chosen] <= 0 || len(d.Candidates) > len(b)) {
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
	r := registry{Version: 2, Before: []int{1}, Versions: []version{{Number: 1, Serial: 3}, {Number: 2}}}
	note, err := msgpack.Marshal(&r)
	must(f, err)
	doc, err := msgpack.Marshal(&modelRecord{Name: "m", Version: 2, Document: []byte("none")})
	must(f, err)
	f.Add(doc, note)
	f.Fuzz(func(t *testing.T, doc, note []byte) {
		_, _ = openModel(emptyReader{}, "m", index.Document{Bytes: doc, Entry: index.ModelEntry{Note: note}}) // does not panic
		var r registry
		if err := msgpack.Unmarshal(note, &r); err != nil || r.consistent(r.Version, r.kept()) != nil {
			return
		}
		if _, ok := r.find(r.Version); !ok || len(r.Versions) > len(note) {
			t.Fatalf("%d bytes gave %+v", len(note), r)
		}
	})
}

// Checksummed returns the binary form of a change for a document.
func Checksummed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(b), index.Checksum(b))
}
