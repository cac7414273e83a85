package index

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
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

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestModels verifies that a document is valid from the moment its model names it until the model names another.
func TestModels(t *testing.T) {
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
	e := ModelEntry{Serial: 1, At: 2, Kept: []uint64{3, 4}}
	b := e.encode()
	for n := range b {
		if _, ok := decodeModelEntry(b[:n]); ok != (n == 16) {
			t.Errorf("%d of %d bytes: %v", n, len(b), ok)
		}
	}
	if _, ok := decodeModelEntry(append(make([]byte, 16), 0xff, 0xff, 0xff, 0xff, 0)); ok {
		t.Error("an entry that says it has more documents than bytes")
	}
}
