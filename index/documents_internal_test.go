package index

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// listing returns the results of Models as text.
func listing(r Reader) (s string) {
	for name, d := range Models(r) {
		s += fmt.Sprintf("%s=%d,%d,%.4s(%d)", name, d.Entry.Serial, d.At, d.Bytes, len(d.Bytes))
		if d.Err != nil {
			s += "!"
		}
		s += " "
	}
	return s
}

func must(t rapid.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpenDocument verifies that any range of a document is read as it was written, that a reader
// reads only the parts it needs, and that a missing or shorter part is noticed.
func TestOpenDocument(t *testing.T) {
	t.Parallel()
	m := newMemory()
	doc := noise(3, 5*documentPart+100)
	must(t, WriteDocument(m, "a", 1, doc), WriteDocument(m, "a", 2, nil))
	s := &countingSource{Source: memorySource{m}}
	r, err := OpenDocument(s, "a", 1)
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(doc)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, min(len(doc), from+3*documentPart)).Draw(t, "to")
		b, before := make([]byte, to-from), s.reads
		if n, err := r.ReadAt(b, int64(from)); n != len(b) || err != nil || !bytes.Equal(b, doc[from:to]) {
			t.Fatalf("%d bytes, %v, or not the ones written", n, err)
		}
		if n := s.reads - before; n > len(b)/documentPart+2 {
			t.Fatalf("%d parts were read", n)
		}
	})
	if all, err := io.ReadAll(r); err != nil || !bytes.Equal(all, doc) {
		t.Errorf("%d bytes in all (%v)", len(all), err)
	}
	if r, err := OpenDocument(s, "a", 2); err != nil || r.Size() != 0 {
		t.Errorf("an empty document: %v", err)
	}
	_, err = OpenDocument(s, "a", 3)
	wantCorrupt(t, "a document that is not there", err)
	key := partKey(documentKey("a", 1), 2)
	must(t, m.Set(key, m.entries[string(key)][1:]))
	_, err = r.ReadAt(make([]byte, 10), 3*documentPart-1)
	wantCorrupt(t, "a part that lacks a byte", err)
	must(t, m.Delete(key))
	_, err = r.ReadAt(make([]byte, 10), 3*documentPart-5)
	wantCorrupt(t, "a missing part", err)
	if _, err := r.ReadAt(make([]byte, 10), 3*documentPart); err != nil {
		t.Errorf("the part after it: %v", err)
	}
	must(t, m.Set(partKey(documentKey("a", 1), 0), []byte("short")))
	_, err = OpenDocument(s, "a", 1)
	wantCorrupt(t, "a short first part", err)
}

// TestModels verifies that a document is valid from the moment its model names it until the model
// names another.
func TestModels(t *testing.T) {
	t.Parallel()
	m := newMemory()
	long := bytes.Repeat([]byte("long"), maxPart/2)
	must(t, WriteDocument(m, "a", 1, long), WriteDocument(m, "ab", 2, []byte("two")))
	if got := listing(m); got != "" {
		t.Errorf("not named: %s", got)
	}
	must(t, PutModel(m, "a", ModelEntry{Serial: 1, At: 10}), PutModel(m, "ab", ModelEntry{Serial: 2, At: 20}))
	if got, want := listing(m), fmt.Sprintf("a=1,10,long(%d) ab=2,20,two(3) ", len(long)); got != want {
		t.Errorf("named: %s, want %s", got, want)
	}
	must(t, WriteDocument(m, "a", 3, []byte("new")))
	if got, want := listing(m), fmt.Sprintf("a=1,10,long(%d) ab=2,20,two(3) ", len(long)); got != want {
		t.Errorf("another one written: %s, want %s", got, want)
	}
	must(t, PutModel(m, "a", ModelEntry{Serial: 3, At: 11}), DropDocuments(m, m))
	if got, want := listing(m), "a=3,11,new(3) ab=2,20,two(3) "; got != want || len(m.keys(prefixDocument)) != 2 {
		t.Errorf("another one named: %s, want %s; left: %q", got, want, m.keys(prefixDocument))
	}
	must(t, DeleteModel(m, m, "a"), DropDocuments(m, m))
	if got, want := listing(m), "ab=2,20,two(3) "; got != want || len(m.keys(prefixDocument)) != 1 {
		t.Errorf("deleted: %s, want %s; left: %q", got, want, m.keys(prefixDocument))
	}
	e := ModelEntry{Serial: 2, At: 20, Kept: []uint64{4, 5}, Note: []byte("note")}
	must(t, WriteDocument(m, "ab", 4, []byte("four")), WriteDocument(m, "ab", 5, []byte("five")), WriteDocument(m, "ab", 6, []byte("six")))
	must(t, PutModel(m, "ab", e), DropDocuments(m, m))
	for _, d := range Models(m) {
		if d.Err != nil || !reflect.DeepEqual(d.Entry, e) || len(m.keys(prefixDocument)) != 3 {
			t.Errorf("got %+v, want %+v; left: %q", d, e, m.keys(prefixDocument))
		}
	}
	if doc, err := GetDocument(m, "ab", 5); err != nil || string(doc) != "five" {
		t.Errorf("a document that is kept: %q, %v", doc, err)
	}
	_, err := GetDocument(m, "ab", 6)
	wantCorrupt(t, "a document that is not kept", err)
	must(t, PutModel(m, "ab", ModelEntry{Serial: 2, At: 20}))
	m.entries[string(partKey(documentKey("ab", 2), 0))][13]++
	if got, want := listing(m), "ab=2,20,(0)! "; got != want {
		t.Errorf("damaged: %s, want %s", got, want)
	}
	clear(m.entries)
	must(t, PutModel(m, "a", ModelEntry{Serial: 1, At: 10}))
	if got, want := listing(m), "a=1,10,(0)! "; got != want {
		t.Errorf("missing: %s, want %s", got, want)
	}
}

// TestModelEntry verifies that a truncated entry is invalid.
func TestModelEntry(t *testing.T) {
	t.Parallel()
	e := ModelEntry{Serial: 1, At: 2, Kept: []uint64{3, 4}}
	b := e.encode()
	for n := range b {
		if _, err := decodeModelEntry(b[:n]); (err == nil) != (n == 16) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	_, err := decodeModelEntry(append(make([]byte, 16), 0xff, 0xff, 0xff, 0xff, 0))
	wantCorrupt(t, "an entry that says it has more documents than bytes", err)
}

// observe commits a version after s with the given observations.
func observe(t testing.TB, s *Snapshot, w Writer, docs ...string) *Snapshot {
	t.Helper()
	b := s.Begin()
	for _, d := range docs {
		must(t, b.PutObservation(w, "", []byte(d)))
	}
	must(t, b.Write(w, Commit{}))
	return b.Snapshot()
}

func observations(t testing.TB, r Reader, after uint64) string {
	t.Helper()
	var all []string
	for d := range Observations(r, after) {
		must(t, d.Err)
		all = append(all, fmt.Sprintf("%d:%s", d.At, d.Bytes))
	}
	return strings.Join(all, " ")
}

func TestObservations(t *testing.T) {
	t.Parallel()
	m := newMemory()
	s := New(Meta{Alpha: 0.85, Epsilon: 1e-6})
	s = observe(t, s, m, "a")
	s = observe(t, s, m, "b", "c")
	s = observe(t, s, m)
	s = observe(t, s, m, strings.Repeat("long", 1<<18))
	for after, want := range map[uint64]string{0: "1:a 2:b 2:c", 1: "2:b 2:c", 2: "", 3: ""} {
		got, _, _ := strings.Cut(observations(t, m, after), "4:long")
		if strings.TrimSpace(got) != want {
			t.Errorf("after %d: %s, want %s", after, got, want)
		}
	}
	if got := observations(t, m, 4); got != "" || s.Meta.Observed != 3+1<<20 {
		t.Errorf("%d bytes, after the last %s", s.Meta.Observed, got)
	}
	must(t, putSplit(m, []byte("o?"), nil))
	for d := range Observations(m, 4) {
		if d.At == 0 {
			wantCorrupt(t, "a key that is none", d.Err)
		}
	}
}

// TestForget verifies that Forget keeps the newest commits that fit, and all commits after last,
// that leftovers of forgotten observations are ignored, and that a salvage deletes damaged
// observations.
func TestForget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		s := New(Meta{Alpha: 0.85, Epsilon: 1e-6})
		var commits [][]string
		for range rapid.IntRange(0, 40).Draw(rt, "operations") {
			if rapid.IntRange(0, 4).Draw(rt, "forget?") > 0 {
				docs := rapid.SliceOfN(rapid.StringMatching("[a-z]{1,9}"), 0, 3).Draw(rt, "docs")
				commits = append(commits, docs)
				s = observe(t, s, m, docs...)
				continue
			}
			limit, last := rapid.Int64Range(0, 60).Draw(rt, "bytes"), rapid.Uint64Range(0, s.Meta.Version).Draw(rt, "last")
			next, err := s.Forget(m, limit, last)
			must(t, err)
			must(t, next.WriteMeta(m))
			if rapid.Bool().Draw(rt, "drop?") {
				must(t, next.Meta.DropForgotten(m, m, s.Meta.Forgotten))
			}
			rest := int64(0)
			for _, docs := range commits {
				rest += int64(len(strings.Join(docs, "")))
			}
			for i := range commits {
				if uint64(i) >= last || rest <= limit {
					break
				}
				rest -= int64(len(strings.Join(commits[i], "")))
				commits[i] = nil
			}
			s = next
		}
		var want []string
		bytes := 0
		for i, docs := range commits {
			for _, d := range docs {
				want = append(want, fmt.Sprintf("%d:%s", i+1, d))
				bytes += len(d)
			}
		}
		if got := observations(t, m, s.Meta.Forgotten); got != strings.Join(want, " ") || s.Meta.Observed != int64(bytes) {
			rt.Fatalf("%s, %d bytes; want %s, %d", got, s.Meta.Observed, strings.Join(want, " "), bytes)
		}
		meta, err := readMeta(m, []byte{prefixMeta})
		must(t, err)
		if meta != nil && (meta.Forgotten != s.Meta.Forgotten || meta.Observed != s.Meta.Observed) {
			rt.Fatalf("meta %+v, want %+v", meta, s.Meta)
		}
	})
}

// TestDropDecisions verifies that DropDecisions deletes exactly the decisions that have ended, the
// earliest first, for end times in any order, although it does not read records from before its
// lower bound.
func TestDropDecisions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		from, id := int64(math.MinInt64), uint64(0)
		var want []DecisionEnd // ordered by end, then id
		for range rapid.IntRange(0, 60).Draw(rt, "operations") {
			if rapid.Bool().Draw(rt, "put?") {
				id++
				end := DecisionEnd{ID: id, At: rapid.Int64Range(-5, 50).Draw(rt, "end")}
				must(t, PutDecision(m, end.ID, end.At, []byte{1}))
				from = min(from, end.At)
				want = append(want, end)
				slices.SortFunc(want, func(a, b DecisionEnd) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
				continue
			}
			before, limit := rapid.Int64Range(-5, 50).Draw(rt, "before"), rapid.IntRange(0, 5).Draw(rt, "limit")
			next, err := DropDecisions(m, m, from, before, limit)
			must(t, err)
			from = next
			for ; limit > 0 && len(want) > 0 && want[0].At < before; limit-- {
				want = want[1:]
			}
			var got []DecisionEnd
			for end, err := range DecisionEnds(m, math.MinInt64) {
				must(t, err)
				_, ok, err := GetDecision(m, end.ID)
				if must(t, err); !ok {
					rt.Fatalf("decision %d has an end alone", end.ID)
				}
				got = append(got, end)
			}
			if !slices.Equal(got, want) || len(m.entries) != 2*len(want) {
				rt.Fatalf("before %d: %v, want %v", before, got, want)
			}
			if len(got) > 0 && from > got[0].At {
				rt.Fatal(fmt.Sprint("the next look begins at ", from, ", after ", got[0]))
			}
		}
	})
}
